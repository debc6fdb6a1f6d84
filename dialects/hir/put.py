"""`hir.put`: begins to copy into the memory of a peer."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import is_unit
from .symmetric import is_moved, is_peer, is_shared
from .value_types import RequestType


class PutOp(Hir.Operation, name="put"):
    """Begins to copy `source` into the peer's part of `target`, a view of symmetric memory.

    `peer` is a place in the team, which the run may compute; -1: nothing is done. With `signal` the
    peer is told when the elements are there, and waits for that by hir.wait_signal; else a
    hir.barrier tells it. The request is done when they are there.

    Example:
      %request = "hir.put"(%x, %part, %peer) {signal}
        : (memref<8xf32>, memref<8xf32, strided<[1], offset: ?>>, index) -> !hir.request_t
    """

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    peer: ext.Operand[ir.IndexType]
    request: ext.Result[RequestType]

    @staticmethod
    def verify_invariants(op: "PutOp") -> bool:
        return (
            is_shared(op, op.target, "the target")
            and is_peer(op, op.peer, op.target)
            and is_moved(op, op.source, op.target)
            and is_unit(op, "signal")
        )
