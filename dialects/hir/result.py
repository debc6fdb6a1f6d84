"""`hir.result`: one value of what a call or branch gives."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import refuse
from .result_types import types_of_results
from .value_types import ResultsType
from .values import mismatch

_GIVERS = ("hir.call", "hir.host_call", "hir.if")


class ResultOp(Hir.Operation, name="result"):
    """Value number `index` of the results of a hir.call, hir.host_call or hir.if.

    Example:
      %y = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
    """

    results_value: ext.Operand[ResultsType]
    index: ir.IntegerAttr
    result_value: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ResultOp") -> bool:
        source = op.results_value.owner
        if not isinstance(source, ir.Operation | ir.OpView) or source.operation.name not in _GIVERS:
            return refuse(
                op, "hir.result takes a value out of a hir.call, hir.host_call or hir.if alone"
            )
        name = source.operation.name
        types = types_of_results(source)
        if types is None:
            return True  # What gives the results is wrong itself; its verifier says so.
        number = op.index.value
        if not 0 <= number < len(types):
            there = f"0 to {len(types) - 1}" if types else "none"
            return refuse(
                op, f"{name} gives {len(types)} values ({there}), not one number {number}"
            )
        wanted, given = types[number], op.result_value.type
        reason = (
            mismatch(given, wanted)
            if name == "hir.call" or given == wanted
            else f"expected {wanted}, not {given}"
        )
        if reason is not None:
            return refuse(op, f"value {number} of {name}: {reason}")
        return True
