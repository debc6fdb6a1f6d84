"""`hir.synchronize`: the host waits."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .refusal import refuse
from .value_types import EventType, StreamType


class SynchronizeOp(Hir.Operation, name="synchronize"):
    """The host waits for a stream or an event; without an operand, for the current stream.

    Example:
      "hir.synchronize"(%side) : (!hir.stream_t) -> ()
    """

    awaited: ext.Operand[Any] | None

    @staticmethod
    def verify_invariants(op: "SynchronizeOp") -> bool:
        if op.awaited is None or isinstance(op.awaited.type, StreamType | EventType):
            return True
        return refuse(
            op,
            f"hir.synchronize waits for a stream or an event, not for {op.awaited.type}; for a "
            "request, hir.wait and then hir.synchronize",
        )
