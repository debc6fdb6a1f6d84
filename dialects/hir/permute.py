"""`hir.permute`: dims in another order, as a view."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class PermuteOp(Hir.Operation, name="permute"):
    """Dim `i` of the result is dim `order[i]` of `buffer`.

    Example:
      %t = "hir.permute"(%x) {order = array<i64: 1, 0>}
        : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
    """

    order: Any
    buffer: ext.Operand[Any]
    view: ext.Result[Any]
