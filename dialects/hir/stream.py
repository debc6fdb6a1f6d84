"""`hir.stream`: a stream by name, or by number from a pool."""

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import StreamType


class StreamOp(Hir.Operation, name="stream"):
    """The stream called `name`, or number `index` modulo `pool` (8 without it).

    Example:
      %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
      %mine = "hir.stream"(%i) {pool = 4 : i64} : (index) -> !hir.stream_t
    """

    index: ext.Operand[ir.IndexType] | None
    stream: ext.Result[StreamType]
