"""`hir.wait_stream`: orders one stream after another."""

from ..mlir import ext
from .dialect import Hir
from .value_types import StreamType


class WaitStreamOp(Hir.Operation, name="wait_stream"):
    """What is put into `waiter` from now on starts after all that is in `signaller` now.

    The host goes on.

    Example:
      "hir.wait_stream"(%side, %here) : (!hir.stream_t, !hir.stream_t) -> ()
    """

    waiter: ext.Operand[StreamType]
    signaller: ext.Operand[StreamType]
