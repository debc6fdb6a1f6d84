"""`hir.record`: an event at this point of a stream."""

from ..mlir import ext
from .dialect import Hir
from .value_types import EventType, StreamType


class RecordOp(Hir.Operation, name="record"):
    """An event that is reached when all that is in the stream now is done.

    Example:
      %done = "hir.record"(%side) : (!hir.stream_t) -> !hir.event_t
    """

    stream: ext.Operand[StreamType] | None
    event: ext.Result[EventType]
