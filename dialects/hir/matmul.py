"""`hir.matmul`: a matrix product."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .shapes import matmul_shape
from .verify import buffer, check_output, find_output, verified
from .verify_products import check_steps, product_elements


class MatmulOp(Hir.Operation, name="matmul"):
    """(..., m, k) times (..., k, n); the leading dims broadcast.

    f16, bf16 and f8 accumulate in f32. The result has the operands' element type, or a wider one:
    f32 of smaller floats (f16 and bf16 too of f8), i32 or i64 of smaller integers.

    `overlap_steps` (optional): in so many steps it overlaps with the communication of its rows,
    which a reshard or hir.communicate next to it does.

    Example:
      %c = "hir.matmul"(%a, %b) : (memref<8x4xf32>, memref<4x2xf32>) -> memref<8x2xf32>
    """

    x: ext.Operand[Any]
    y: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "MatmulOp") -> bool:
        return verified(op, _check)


def _check(op: MatmulOp) -> None:
    (x, y), output = find_output(op, 2)
    types = [buffer(x, "x"), buffer(y, "y")]
    elements = product_elements(types)
    check_output(op, output, matmul_shape(*(each.shape for each in types)), elements)
    check_steps(op)
