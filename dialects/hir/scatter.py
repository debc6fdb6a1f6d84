"""`hir.scatter`: an element that is written to a computed place, in a linalg.generic's region."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .loop_operation import GENERIC, gives, has_kind
from .refusal import refuse


class ScatterOp(Hir.Operation, name="scatter"):
    """Writes `value` into an output, at `places`, whatever the output's map; all else stays.

    `begun` is the output's block argument, and what the operation gives is yielded for it. With
    `kind`, an operation of arith, the value is combined with what is there; the order in which
    several are is any. Without it, of several values for one place any is there in the end. A place
    out of range is the program's fault: it asserts that none is.

    Example (y[index[i]] += x[i], of an output whose map is (i) -> (0)):
      ^bb0(%i: index, %x: f32, %y: f32):
        %r = "hir.scatter"(%y, %x, %i) {kind = "addf"} : (f32, f32, index) -> f32
        linalg.yield %r : f32
    """

    begun: ext.Operand[Any]
    value: ext.Operand[Any]
    places: Sequence[ext.Operand[ir.IndexType]]
    result_value: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ScatterOp") -> bool:
        begun, value, *places = op.operation.operands
        if not gives(op, [value.type]):
            return False
        if "kind" in op.attributes and not has_kind(op, value):
            return False
        parent = op.operation.parent
        if parent is None or parent.name != GENERIC:
            return refuse(op, f"hir.scatter stands in the region of a {GENERIC}")
        outputs = list(ir.DenseI32ArrayAttr(parent.attributes["operandSegmentSizes"]))[1]
        arguments = list(parent.regions[0].blocks[0].arguments)[-outputs:]
        numbers = [number for number, each in enumerate(arguments) if each == begun]
        end = list(parent.regions[0].blocks[0])[-1].operation
        if not numbers or end.operands[numbers[0]] != op.operation.results[0]:
            return refuse(
                op,
                "hir.scatter takes the argument of an output, and what it gives is yielded there",
            )
        target = ir.ShapedType(parent.operands[len(parent.operands) - outputs + numbers[0]].type)
        if begun.type != value.type or len(places) != target.rank:
            return refuse(
                op,
                f"hir.scatter into {target} takes {target.element_type} and "
                f"{_places(target.rank)}, not {value.type} and {len(places)}",
            )
        return True


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
