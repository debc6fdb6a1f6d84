"""`hir.wait_event`: orders a stream after an event."""

from ..mlir import ext
from .dialect import Hir
from .value_types import EventType, StreamType


class WaitEventOp(Hir.Operation, name="wait_event"):
    """What is put into the stream (by default the current one) from now on starts after the event.

    Example:
      "hir.wait_event"(%done, %here) : (!hir.event_t, !hir.stream_t) -> ()
    """

    event: ext.Operand[EventType]
    stream: ext.Operand[StreamType] | None
