"""cf.assert in a program: ends it with status 1, as every check that a program makes does."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...size_assertions import compared
from .checks import refuse_if, refuse_with_text
from .registry import lowers
from .state import ProgramState


@lowers("cf.assert")
def lower_assert(op: ir.OpView, state: ProgramState) -> list[ir.Value]:
    """A test and a cold call of the support library."""
    (condition,) = op.operation.operands
    truth = ir.IntegerType.get_signless(1)
    wrong = arith.xori(condition, arith.constant(truth, ir.IntegerAttr.get(truth, -1)))
    shown = compared(op.operation)
    if shown is None:
        refuse_with_text(state, wrong, ir.StringAttr(op.operation.attributes["msg"]).value)
    else:
        refuse_if(state, wrong, shown[0], *shown[1])
    return []
