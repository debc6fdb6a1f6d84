"""hir.record and hir.wait_event: points of streams."""

from __future__ import annotations

from ....dialects.hir import RecordOp, WaitEventOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState


@lowers("hir.record")
def lower_record(op: RecordOp, state: ProgramState) -> list[ir.Value]:
    """Returns an event of the support library's, which gets it back at the end of the block."""
    emit = state.emit
    stream = op.stream if op.stream is not None else state.stream
    event = emit.value_of_call("hirc_event_record", [stream, emit.location()], emit.types.ptr)
    state.frame.events.append(event)
    state.events.add(event)
    return [event]


@lowers("hir.wait_event")
def lower_wait_event(op: WaitEventOp, state: ProgramState) -> list[ir.Value]:
    """The stream waits; the host goes on."""
    emit = state.emit
    stream = op.stream if op.stream is not None else state.stream
    emit.checked_call("cudaStreamWaitEvent", [stream, op.event, emit.i32(0)])
    return []
