"""`hir.select`: one index of an axis, as a view."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import constant_value
from .verify import buffer, check_same_or_more_open, integer_of, operands_of, verified
from .views import select_type


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

    @staticmethod
    def verify_invariants(op: "SelectOp") -> bool:
        return verified(op, _check)


def _check(op: SelectOp) -> None:
    source, index = operands_of(op, 2, 2)
    found = buffer(source, "the operand")
    inferred = select_type(found, integer_of(op, "axis"), constant_value(index))
    check_same_or_more_open(op, inferred)
