"""hir.for and hir.stop_loop: a host loop, and what ends it."""

from __future__ import annotations

from functools import reduce

from ....dialects.hir import ForOp, StopLoopOp
from ....dialects.mlir import arith, ir, scf
from ...constants import constant_value
from ...pass_base import fail
from ...rewriting import constant
from ..index_arithmetic import materialized
from .checks import refuse_if
from .registry import lowers
from .state import ProgramState
from .walk import lower_block, move_operations


@lowers("hir.for")
def lower_for(op: ForOp, state: ProgramState) -> list[ir.Value]:
    """Returns a scf.for of the same bounds, or a scf.while where a condition may end it."""
    if "streams" in op.attributes:
        fail(op, "a hir.for with 'streams' is left: run hir-expand-stream-loops first")
    step = constant_value(op.step)
    if step is None:
        wrong = arith.cmpi(arith.CmpIPredicate.sle, op.step, materialized(0))
        refuse_if(state, wrong, "hir.for: the step is {}; it must be at least 1", op.step)
    elif step < 1:
        fail(op, f"hir.for: the step is {step}; it must be at least 1")
    if any(isinstance(inner, StopLoopOp) for inner in op.body.blocks[0]):
        _lower_with_stops(op, state)
        return []
    loop = scf.ForOp(op.start, op.stop, op.step)
    with ir.InsertionPoint(loop.body):
        end = scf.YieldOp([])
    source = op.body.blocks[0]
    source.arguments[0].replace_all_uses_with(loop.induction_variable)
    move_operations(source, end)
    with state.block():
        lower_block(state, loop.body, end)
    return []


def _lower_with_stops(op: ForOp, state: ProgramState) -> None:
    """Carries the index, and whether the iteration before was the last."""
    index, truth = ir.IndexType.get(), ir.IntegerType.get_signless(1)
    loop = scf.WhileOp([index], [op.start, constant(truth, 0)])
    before = loop.before.blocks.append(index, truth)
    with ir.InsertionPoint(before):
        place, is_over = before.arguments
        is_within = arith.cmpi(arith.CmpIPredicate.slt, place, op.stop)
        goes_on = arith.select(is_over, constant(truth, 0), is_within)
        scf.ConditionOp(goes_on, [place])
    after = loop.after.blocks.append(index)
    with ir.InsertionPoint(after):
        end = scf.YieldOp([])
    source = op.body.blocks[0]
    source.arguments[0].replace_all_uses_with(after.arguments[0])
    move_operations(source, end)
    with state.block() as frame:
        lower_block(state, after, end)
        with ir.InsertionPoint(end):
            scf.YieldOp([arith.addi(after.arguments[0], op.step), reduce(arith.ori, frame.stops)])
    end.operation.erase()


@lowers("hir.stop_loop")
def lower_stop_loop(op: StopLoopOp, state: ProgramState) -> list[ir.Value]:
    """Keeps the condition for the end of the iteration."""
    state.frame.stops.append(op.condition)
    return []
