"""`hir.matmul`: a matrix product."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class MatmulOp(Hir.Operation, name="matmul"):
    """(..., m, k) times (..., k, n); the leading dims broadcast. Accumulates f16, bf16 and f8 in f32.

    Example:
      %c = "hir.matmul"(%a, %b) : (memref<8x4xf32>, memref<4x2xf32>) -> memref<8x2xf32>
    """

    x: ext.Operand[Any]
    y: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None
