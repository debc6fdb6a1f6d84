"""`hir.synchronize`: the host waits."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class SynchronizeOp(Hir.Operation, name="synchronize"):
    """The host waits for a stream or an event; without an operand, for the current stream.

    Example:
      "hir.synchronize"(%side) : (!hir.stream_t) -> ()
    """

    awaited: ext.Operand[Any] | None
