"""`hir.select`: one index of an axis, as a view."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class SelectOp(Hir.Operation, name="select"):
    """The view of `buffer` at `index` along `axis`, which the result does not have.

    Example:
      %row = "hir.select"(%x, %i) {axis = 0 : i64}
        : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
    """

    axis: ir.IntegerAttr
    buffer: ext.Operand[Any]
    index: ext.Operand[ir.IndexType]
    view: ext.Result[Any]
