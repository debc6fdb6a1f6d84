"""`hir.set_stream`: changes the current stream."""

from ..mlir import ext
from .dialect import Hir
from .value_types import StreamType


class SetStreamOp(Hir.Operation, name="set_stream"):
    """What follows in this block goes to `stream`.

    At the end of a loop's body or a branch, what was current before it is current again.

    Example:
      "hir.set_stream"(%side) : (!hir.stream_t) -> ()
    """

    stream: ext.Operand[StreamType]
