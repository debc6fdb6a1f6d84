"""`hir.deallocate`: frees a buffer."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .verify import buffer, operands_of, verified


class DeallocateOp(Hir.Operation, name="deallocate"):
    """Frees a buffer's memory in the order of the current stream.

    Example:
      "hir.deallocate"(%y) : (memref<?xf32>) -> ()
    """

    buffer: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: "DeallocateOp") -> bool:
        return verified(op, _check)


def _check(op: DeallocateOp) -> None:
    (freed,) = operands_of(op, 1, 1)
    buffer(freed, "the operand")
