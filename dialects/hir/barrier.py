"""`hir.barrier`: orders the streams of a team."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .symmetric import is_shared


class BarrierOp(Hir.Operation, name="barrier"):
    """What follows on the current stream starts after what comes before on those of the team.

    That is the team which shares the buffer's memory; its puts and gets before count too. All of
    the team come to the same barriers.

    Example:
      "hir.barrier"(%shared) : (memref<16xf32>) -> ()
    """

    buffer: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: "BarrierOp") -> bool:
        return is_shared(op, op.buffer, "the buffer")
