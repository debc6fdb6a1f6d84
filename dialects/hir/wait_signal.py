"""`hir.wait_signal`: orders the current stream after what a peer has put."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .symmetric import is_peer, is_shared


class WaitSignalOp(Hir.Operation, name="wait_signal"):
    """What follows on the current stream starts after the peer's next hir.put with a signal.

    Of each peer, the n-th wait on a buffer is for the n-th such put into it, or into views of it.
    `peer` is a place in the team; -1: nothing is waited for.

    Example:
      "hir.wait_signal"(%shared, %peer) : (memref<16xf32>, index) -> ()
    """

    buffer: ext.Operand[Any]
    peer: ext.Operand[ir.IndexType]

    @staticmethod
    def verify_invariants(op: "WaitSignalOp") -> bool:
        return is_shared(op, op.buffer, "the buffer") and is_peer(op, op.peer, op.buffer)
