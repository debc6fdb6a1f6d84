"""`hir.stream`: a stream by name, or by number from a pool."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import is_positive, is_text, refuse
from .value_types import StreamType


class StreamOp(Hir.Operation, name="stream"):
    """The stream called `name`, or number `index` modulo `pool` (8 without it).

    Example:
      %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
      %mine = "hir.stream"(%i) {pool = 4 : i64} : (index) -> !hir.stream_t
    """

    index: ext.Operand[ir.IndexType] | None
    stream: ext.Result[StreamType]

    @staticmethod
    def verify_invariants(op: "StreamOp") -> bool:
        named, numbered = "name" in op.attributes, op.index is not None
        if named == numbered:
            return refuse(
                op,
                "hir.stream takes a 'name' or an index, "
                + ("not both" if named else "and has neither"),
            )
        if named and "pool" in op.attributes:
            return refuse(
                op, "'pool' is for streams by index; the stream of a name is one: leave it out"
            )
        return is_text(op, "name", "the stream's name") and is_positive(
            op, "pool", "the number of streams in the pool"
        )
