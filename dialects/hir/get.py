"""`hir.get`: begins to copy from the memory of a peer."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .symmetric import is_moved, is_peer, is_shared
from .value_types import RequestType


class GetOp(Hir.Operation, name="get"):
    """Begins to copy the peer's part of `source`, a view of symmetric memory, into `target`.

    `peer` is a place in the team, which the run may compute; -1: nothing is done. That the peer has
    written there before is known after a hir.barrier or a hir.wait_signal.

    Example:
      %request = "hir.get"(%part, %y, %peer)
        : (memref<8xf32, strided<[1], offset: ?>>, memref<8xf32>, index) -> !hir.request_t
    """

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    peer: ext.Operand[ir.IndexType]
    request: ext.Result[RequestType]

    @staticmethod
    def verify_invariants(op: "GetOp") -> bool:
        return (
            is_shared(op, op.source, "the source")
            and is_peer(op, op.peer, op.source)
            and is_moved(op, op.source, op.target)
        )
