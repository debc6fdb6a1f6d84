"""`hir.matrix_element`: an element of a small constant matrix, in a linalg.generic's region."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .loop_operation import GENERIC, gives
from .refusal import refuse


class MatrixElementOp(Hir.Operation, name="matrix_element"):
    """Gives the element of `matrix`, two-dimensional and dense, in `row` and `column`.

    Kernels know the numbers: what is multiplied by 0 is left out, and nothing is loaded. So what is
    infinite or nan times 0 counts as 0.

    Example (y[a] = sum over i of matrix[a, i] x[i], of loops a and i):
      ^bb0(%x: f32, %y: f32):
        %a = linalg.index 0 : index
        %i = linalg.index 1 : index
        %m = "hir.matrix_element"(%a, %i) {matrix = dense<[[1.0, 1.0], [1.0, -1.0]]> :
                                           tensor<2x2xf32>} : (index, index) -> f32
        %p = arith.mulf %m, %x : f32
        %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
        linalg.yield %s : f32
    """

    matrix: Any
    row: ext.Operand[ir.IndexType]
    column: ext.Operand[ir.IndexType]
    result_value: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "MatrixElementOp") -> bool:
        parent = op.operation.parent
        if parent is None or parent.name != GENERIC:
            return refuse(op, f"hir.matrix_element stands in the region of a {GENERIC}")
        found = op.attributes.get("matrix", None)
        if not isinstance(found, ir.DenseFPElementsAttr) or ir.ShapedType(found.type).rank != 2:
            return refuse(
                op, f"hir.matrix_element 'matrix' is a dense matrix of floats, not {found}"
            )
        if any(not isinstance(each.type, ir.IndexType) for each in op.operands):
            return refuse(op, "hir.matrix_element takes the row and the column, of type index")
        return gives(op, [ir.ShapedType(found.type).element_type])
