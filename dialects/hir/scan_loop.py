"""`hir.scan_loop`: a running reduction within the region of a linalg.generic."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .loop_operation import FLOAT_SCANS, INTEGER_KINDS, are_loops, gives, has_kind
from .refusal import refuse, whole_number
from .verify import check_unit, verified


class ScanLoopOp(Hir.Operation, name="scan_loop"):
    """In iteration i of `loop`, the value's instances in iterations 0 to i combined.

    `exclusive` (unit, optional) leaves out iteration i, and gives the neutral element in the
    first; `reverse` (unit, optional) goes from the last iteration to the first. The kind
    `logaddexp`, log(exp(a) + exp(b)), is one of scans alone.

    Example (cumulative sum of each row):
      %so_far = "hir.scan_loop"(%x) {kind = "addf", loop = 1 : i64} : (f32) -> f32
    """

    kind: ir.StringAttr
    loop: Any
    value: ext.Operand[Any]
    result_value: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ScanLoopOp") -> bool:
        loop = whole_number(op, "loop")
        if loop is None:
            return refuse(op, "hir.scan_loop 'loop' is the number of a loop")
        if not verified(op, _check_units):
            return False
        value = op.operation.operands[0]
        among = (*FLOAT_SCANS, *INTEGER_KINDS)
        return has_kind(op, value, among) and are_loops(op, [loop]) and gives(op, [value.type])


def _check_units(op: ScanLoopOp) -> None:
    check_unit(op, "exclusive")
    check_unit(op, "reverse")
