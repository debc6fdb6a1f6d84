"""hir.if: a host branch."""

from __future__ import annotations

from ....dialects.hir import IfOp
from ....dialects.mlir import ir, scf
from .registry import lowers
from .state import ProgramState
from .walk import lower_block, move_operations


@lowers("hir.if")
def lower_if(op: IfOp, state: ProgramState) -> None:
    """A scf.if that yields the outputs of its branches."""
    kinds = [
        inner.operation.operands[0].type
        for inner in op.then.blocks[0]
        if inner.operation.name == "hir.output"
    ]
    test = scf.IfOp(op.condition, kinds, has_else=True)
    assert test.else_block is not None
    for source, target in ((op.then, test.then_block), (op.otherwise, test.else_block)):
        with ir.InsertionPoint(target):
            end = scf.YieldOp([])
        if len(source.blocks):
            move_operations(source.blocks[0], end)
        with state.block() as frame:
            lower_block(state, target, end)
            with ir.InsertionPoint(end):
                scf.YieldOp(frame.outputs)
        end.operation.erase()
    state.results[op.results_value] = list(test.results)
