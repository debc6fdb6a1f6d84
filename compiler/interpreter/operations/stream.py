"""The operations on streams and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from ..frame import Frame
from ..registry import interprets
from ..streams import Event, Stream

_POOL = 8


@interprets("hir.stream")
def stream(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    streams = frame.interpreter.streams
    if not len(op.operands):
        return [streams.named(ir.StringAttr(op.attributes["name"]).value)]
    pool = ir.IntegerAttr(op.attributes["pool"]).value if "pool" in op.attributes else _POOL
    return [streams.numbered(frame.number(op.operands[0]), pool)]


@interprets("hir.current_stream")
def current_stream(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [frame.stream]


@interprets("hir.set_stream")
def set_stream(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    frame.stream = frame.value(op.operands[0])
    return []


@interprets("hir.wait_stream")
def wait_stream(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    waiter, signaller = (frame.value(operand) for operand in op.operands)
    assert isinstance(waiter, Stream)
    assert isinstance(signaller, Stream)
    waiter.wait_for(signaller)
    return []


@interprets("hir.record")
def record(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [_stream(op, frame, 0).record()]


@interprets("hir.wait_event")
def wait_event(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    event = frame.value(op.operands[0])
    assert isinstance(event, Event)
    event.hold_up(_stream(op, frame, 1))
    return []


@interprets("hir.synchronize")
def synchronize(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    awaited = frame.value(op.operands[0]) if len(op.operands) else frame.stream
    assert isinstance(awaited, (Stream, Event))
    awaited.synchronize()
    return []


def _stream(op: ir.Operation, frame: Frame, place: int) -> Stream:
    """Returns the operand there, or the current stream without one."""
    found = frame.value(op.operands[place]) if len(op.operands) > place else frame.stream
    assert isinstance(found, Stream)
    return found
