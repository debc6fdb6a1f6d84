"""hir.wait_stream: orders one stream after another."""

from __future__ import annotations

from ....dialects.hir import WaitStreamOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState


@lowers("hir.wait_stream")
def lower_wait_stream(op: WaitStreamOp, state: ProgramState) -> list[ir.Value]:
    """A call; none where a stream would wait for itself."""
    emit = state.emit
    if op.waiter != op.signaller:
        emit.call("hirc_stream_wait", [op.waiter, op.signaller, emit.location()])
    return []
