"""Which programs can be replayed as device graphs: by what their functions do."""

from __future__ import annotations

from enum import Enum

from ....dialects.mlir import ir
from ...walking import made_by, operations_where

# Functions of the support library that record what they do, or touch nothing but their results.
_CALLS = frozenset(
    {
        "hirc_allocate",
        # What takes part in communications calls more, which is not here.
        "hirc_communicator_of",
        "hirc_convolution",
        "hirc_copy_bytes",
        "hirc_fill_bytes",
        "hirc_free",
        "hirc_has_cublaslt",
        "hirc_has_cudnn",
        "hirc_launch",
        "hirc_launch_cluster",
        "hirc_matmul",
        "hirc_memcpy_strided",
        "hirc_refuse",
        "hirc_reshape_strides",
        "hirc_stream_acquire",
        "hirc_stream_named",
        "hirc_stream_of_pool",
        "hirc_stream_wait",
        "hirc_tensor_map_encode",
        "hirc_zero_strided",
    }
)
_ACCESSES = ("llvm.load", "llvm.store")
_LAUNCHES = (
    "gpu.launch_func",
    "hirc_convolution",
    "hirc_launch",
    "hirc_launch_cluster",
    "hirc_matmul",
)
# Operations that compute, and those whose lowering calls the functions above.
_DIALECTS = frozenset({"arith", "math", "scf", "cf", "index", "builtin"})
_OPERATIONS = frozenset(
    {
        "func.func",
        "func.return",
        "gpu.launch_func",
        "gpu.memcpy",
        "gpu.memset",
        "affine.apply",
        "affine.max",
        "affine.min",
        "memref.cast",
        "memref.collapse_shape",
        "memref.dim",
        "memref.expand_shape",
        "memref.extract_aligned_pointer_as_index",
        "memref.extract_strided_metadata",
        "memref.get_global",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.transpose",
        "nvgpu.tma.create.descriptor",
        "llvm.alloca",
        "llvm.load",
        "llvm.store",
        "llvm.getelementptr",
        "llvm.extractvalue",
        "llvm.insertvalue",
        "llvm.icmp",
        "llvm.select",
        "llvm.inttoptr",
        "llvm.ptrtoint",
        "llvm.mlir.addressof",
        "llvm.mlir.constant",
        "llvm.mlir.poison",
        "llvm.mlir.undef",
        "llvm.mlir.zero",
    }
)


class Replays(Enum):
    """How a program's calls can be replayed as a device graph."""

    NEVER = 0
    # What its host code computes in the call is compared with what was recorded.
    COMPARED = 1
    # As well; and it computes that of the body's arguments alone, so that a call with those of the
    # last one need not.
    FOLLOWING = 2


def replays_of(module: ir.Operation, body: ir.Operation, launches: int) -> Replays:
    """Returns how a body, and what it calls, can be a device graph of at least so many launches.

    `launches` of 0 is for none. Loops and branches may be there: a replay computes them anew.
    """
    if launches == 0:
        return Replays.NEVER
    symbols = ir.SymbolTable(module)
    found, follows = 0, True
    known: set[str] = set()
    waiting = [body]
    while waiting:
        for op in operations_where(waiting.pop(), lambda _: True):
            name = op.name
            if name == "func.call":
                callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
                function = symbols[callee].operation
                if not list(function.regions[0].blocks):
                    return Replays.NEVER
                # Of a function that is called again its launches count again.
                if callee in known:
                    found += _launches_of(function)
                else:
                    known.add(callee)
                    waiting.append(function)
                continue
            if name == "llvm.call":
                if "callee" not in op.attributes:
                    return Replays.NEVER
                name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
                if name not in _CALLS:
                    return Replays.NEVER
            elif name.startswith("gpu.") and not list(op.results):
                return Replays.NEVER  # the host waits for it
            elif name not in _OPERATIONS and name.partition(".")[0] not in _DIALECTS:
                return Replays.NEVER
            elif name in _ACCESSES:
                follows = follows and _is_in_frame(op.operands[name == "llvm.store"])
            found += name in _LAUNCHES
    if found < launches:
        return Replays.NEVER
    return Replays.FOLLOWING if follows else Replays.COMPARED


def _is_in_frame(address: ir.Value) -> bool:
    while (element := made_by(address, "llvm.getelementptr")) is not None:
        address = element.operands[0]
    return made_by(address, "llvm.alloca") is not None


def _launches_of(function: ir.Operation) -> int:
    return len(operations_where(function, lambda op: op.name in _LAUNCHES))
