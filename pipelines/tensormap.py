"""The 128-byte TMA descriptor that travels from the host to a kernel."""

from __future__ import annotations

from ..dialects.mlir import ir

# CUtensorMap's alignment in bytes, on the host and on the device (CUDA driver API).
ALIGNMENT = 64

# The attribute of an nvgpu.tma.create.descriptor whose copies round f32 to tf32.
ROUNDS = "hir.tf32"

# The attribute with how far apart the elements are that its copies take, of each dim.
STEPS = "hir.steps"

# The name tells descriptors apart from a program's own structs.
_STRUCT = '!llvm.struct<"tensormap", (array<16 x i64>)>'


def struct_type(context: ir.Context) -> ir.Type:
    """Returns the LLVM type of a descriptor passed by value."""
    return ir.Type.parse(_STRUCT, context)


def is_descriptor(kind: ir.Type) -> bool:
    """Returns whether the type is nvgpu's TMA descriptor."""
    return str(kind).startswith("!nvgpu.tensormap.descriptor<")
