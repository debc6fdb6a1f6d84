"""Lowers the operations of a block, in order."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...pass_base import fail
from .registry import find_lowering
from .state import ProgramState

_COMPUTING = ("set", "unary", "binary", "ternary", "reduce", "matmul", "linear")
_FIRST = {
    **{
        f"hir.{name}": "hir-convert-compute-to-linalg and hir-schedule-kernels"
        for name in _COMPUTING
    },
    "hir.alias": "hir-resolve-aliases",
    "hir.reshard": "hir-insert-communication",
}


def lower_block(state: ProgramState, block: ir.Block, end: ir.Operation | ir.OpView) -> None:
    """Lowers all before `end`, the block's terminator. Events recorded in it end with it."""
    for op in list(block):
        if op.operation != end.operation:
            _lower(op, state)
    with state.before(end):
        for event in state.frame.events:
            state.emit.call("hirc_event_release", [event, state.emit.location()])


def move_operations(source: ir.Block, end: ir.Operation | ir.OpView) -> None:
    """Moves the operations of a block to before `end`."""
    for op in list(source):
        op.operation.move_before(end.operation)


def _lower(op: ir.OpView, state: ProgramState) -> None:
    name = op.operation.name
    lowering = find_lowering(name)
    if lowering is None:
        _refuse_what_is_left(op.operation)
        for region in op.operation.regions:
            for block in region:
                with state.block():
                    lower_block(state, block, list(block)[-1])
        return
    with state.before(op):
        values = lowering(op, state)
    if values is None:
        state.kept.append(op.operation)
        return
    for result, value in zip(op.operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.operation.erase()


def _refuse_what_is_left(op: ir.Operation) -> None:
    if op.name.startswith("linalg."):
        fail(op, f"'{op.name}' is no kernel yet: run hir-schedule-kernels first")
    if op.name in _FIRST:
        fail(op, f"'{op.name}' is left in the program: run {_FIRST[op.name]} first")
    if op.name.startswith("hir."):
        fail(op, f"'{op.name}' cannot be compiled")
