"""Which fills the CUDA runtime can do: it sets bytes, not elements."""

from __future__ import annotations

from ..dialects.mlir import gpu, ir
from .host.types import element_bytes, is_contiguous


def fill_byte(op: gpu.MemsetOp) -> int | None:
    """Returns the byte a gpu.memset repeats, or None where its value or layout is no
    byte pattern.
    """
    kind = ir.MemRefType(op.dst.type)
    source = op.value.owner
    if not is_contiguous(kind) or not isinstance(source, (ir.Operation, ir.OpView)):
        return None
    if source.operation.name != "arith.constant":
        return None
    bits = _bits(source.operation.attributes["value"])
    if bits is None:
        return None
    data = bits.to_bytes(element_bytes(kind.element_type), "little")
    return data[0] if len(set(data)) == 1 else None


def _bits(value: ir.Attribute) -> int | None:
    if isinstance(value, ir.IntegerAttr):
        width = 64 if isinstance(value.type, ir.IndexType) else ir.IntegerType(value.type).width
        return value.value & ((1 << width) - 1)
    if isinstance(value, ir.FloatAttr):
        # Only zero is worth knowing: +0.0 is all zero bits in every float type.
        return 0 if str(value.value) == "0.0" else None
    if isinstance(value, ir.BoolAttr):
        return int(value.value)
    return None
