"""hir.for: a host loop."""

from __future__ import annotations

from ....dialects.hir import ForOp
from ....dialects.mlir import arith, ir, scf
from ...constants import constant_value
from ...pass_base import fail
from ..index_arithmetic import materialized
from .checks import refuse_if
from .registry import lowers
from .state import ProgramState
from .walk import lower_block, move_operations


@lowers("hir.for")
def lower_for(op: ForOp, state: ProgramState) -> list[ir.Value]:
    """Returns a scf.for of the same bounds."""
    if "streams" in op.attributes:
        fail(op, "a hir.for with 'streams' is left: run hir-expand-stream-loops first")
    step = constant_value(op.step)
    if step is None:
        wrong = arith.cmpi(arith.CmpIPredicate.sle, op.step, materialized(0))
        refuse_if(state, wrong, "hir.for: the step is {}; it must be at least 1", op.step)
    elif step < 1:
        fail(op, f"hir.for: the step is {step}; it must be at least 1")
    loop = scf.ForOp(op.start, op.stop, op.step)
    with ir.InsertionPoint(loop.body):
        end = scf.YieldOp([])
    source = op.body.blocks[0]
    source.arguments[0].replace_all_uses_with(loop.induction_variable)
    move_operations(source, end)
    with state.block():
        lower_block(state, loop.body, end)
    return []
