"""`hir.slice`: bounds along an axis, as a view."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class SliceOp(Hir.Operation, name="slice"):
    """Elements start, start + step, ... below stop along `axis`; `step` is an attribute, 1 without it.

    0 <= start <= stop <= size, checked at run time where it is not known before.

    Example:
      %part = "hir.slice"(%x, %from, %to) {axis = 0 : i64, step = 2 : i64}
        : (memref<8xf32>, index, index) -> memref<?xf32, strided<[2], offset: ?>>
    """

    axis: ir.IntegerAttr
    buffer: ext.Operand[Any]
    start: ext.Operand[ir.IndexType]
    stop: ext.Operand[ir.IndexType]
    view: ext.Result[Any]
