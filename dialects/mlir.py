"""The one import of MLIR's Python bindings, so that another provider can replace this one.

The provider is the `torch-mlir` wheel: every upstream dialect and pass, no NVPTX code generator.
"""

from torch_mlir import ir, passmanager, rewrite
from torch_mlir._mlir_libs import _mlir as bindings
from torch_mlir.dialects import (
    arith,
    builtin,
    cf,
    ext,
    func,
    gpu,
    irdl,
    llvm,
    math,
    memref,
    nvgpu,
    nvvm,
    scf,
    vector,
)

# The LLVM whose text the provider prints (see compiler/gate).
PRODUCER_LLVM = 24

__all__ = [
    "PRODUCER_LLVM",
    "arith",
    "bindings",
    "builtin",
    "cf",
    "context",
    "ext",
    "func",
    "gpu",
    "ir",
    "irdl",
    "llvm",
    "math",
    "memref",
    "nvgpu",
    "nvvm",
    "passmanager",
    "rewrite",
    "scf",
    "vector",
]


def context() -> ir.Context:
    """A fresh context.

    Multithreading is off: Python verifiers crash on MLIR's own threads. Every diagnostic goes to
    the handlers attached to the context, errors too.
    """
    fresh = ir.Context()
    fresh.enable_multithreading(False)
    fresh.emit_error_diagnostics = True
    return fresh
