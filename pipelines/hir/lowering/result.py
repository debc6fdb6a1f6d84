"""hir.result: one value of what a call or a branch gave."""

from __future__ import annotations

from ....dialects.hir import ResultOp
from ....dialects.mlir import ir
from .conform import conform
from .registry import lowers
from .state import ProgramState


@lowers("hir.result")
def lower_result(op: ResultOp, state: ProgramState) -> list[ir.Value]:
    """Returns the value itself, with what its type says checked."""
    number = op.index.value
    value = state.results[op.results_value][number]
    return [conform(state, value, op.result_value.type, _called(op, state, number))]


def _called(op: ResultOp, state: ProgramState, number: int) -> str:
    """Returns how messages name the value."""
    source = op.results_value.owner
    if isinstance(source, ir.Block) or source.name != "hir.call":
        return f"value {number}"
    callee = ir.FlatSymbolRefAttr(source.attributes["callee"]).value
    return f"output '{state.signatures[callee].output_names[number]}' of @{callee}"
