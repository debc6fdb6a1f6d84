"""`hir.linear`: a product with a transposed weight, and a bias."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class LinearOp(Hir.Operation, name="linear"):
    """(..., k) times the transpose of (n, k), plus a bias of (n) where there is one.

    Example:
      %y = "hir.linear"(%x, %w, %bias) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
        : (memref<8x4xf32>, memref<2x4xf32>, memref<2xf32>) -> memref<8x2xf32>
    """

    x: ext.Operand[Any]
    weight: ext.Operand[Any]
    bias: ext.Operand[Any] | None
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None
