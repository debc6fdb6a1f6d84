"""`hir.find_loops`: the extreme value and its place, in the region of a linalg.generic."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .loop_operation import gives, has_kind, has_loops

EXTREMES = ("maximumf", "minimumf", "maxnumf", "minnumf", "maxsi", "maxui", "minsi", "minui")


class FindLoopsOp(Hir.Operation, name="find_loops"):
    """The extreme of a value over all iterations of `loops`, and the place of its first occurrence.

    The place counts the iterations of `loops` in the order they are listed, the last one fastest.
    With maximumf and minimumf a nan is the extreme. Without iterations the value is the kind's
    neutral element and the place 0.

    Example (argmax of each row):
      %most, %place = "hir.find_loops"(%x) {kind = "maximumf", loops = array<i64: 1>}
        : (f32) -> (f32, i64)
    """

    kind: ir.StringAttr
    loops: Any
    value: ext.Operand[Any]
    extreme: ext.Result[Any]
    place: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "FindLoopsOp") -> bool:
        value = op.operation.operands[0]
        place = ir.IntegerType.get_signless(64, op.operation.context)
        return has_kind(op, value, EXTREMES) and has_loops(op) and gives(op, [value.type, place])
