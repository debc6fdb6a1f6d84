"""`hir.current_stream`: the stream operations go to."""

from ..mlir import ext
from .dialect import Hir
from .value_types import StreamType


class CurrentStreamOp(Hir.Operation, name="current_stream"):
    """The stream that operations go to here; at the beginning of a program, the caller's.

    Example:
      %here = "hir.current_stream"() : () -> !hir.stream_t
    """

    stream: ext.Result[StreamType]
