"""The strides of a product's operands, as their types say."""

from __future__ import annotations

from ...dialects.hir.layout import packed_strides, strides_and_offset
from ...dialects.mlir import ir
from .product import Indexed


def strides_of(operand: Indexed) -> list[int]:
    """The strides as the type says them; a tensor's are those of a packed buffer."""
    kind = operand.value.type
    if isinstance(kind, ir.MemRefType):
        return strides_and_offset(kind)[0]
    return packed_strides(operand.type.shape)
