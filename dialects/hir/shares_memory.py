"""`hir.shares_memory`: whether the devices of a team reach each other's memory."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import refuse
from .value_types import CommunicatorType


class SharesMemoryOp(Hir.Operation, name="shares_memory"):
    """Whether the devices of a team can share symmetric memory, as hir.put and hir.get need it.

    They can on one host whose devices reach each other's memory. All of a team get one answer.

    Example:
      %shares = "hir.shares_memory"(%team) : (!hir.communicator_t) -> i1
    """

    communicator: ext.Operand[CommunicatorType]
    shares: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "SharesMemoryOp") -> bool:
        if op.shares.type != ir.IntegerType.get_signless(1, op.context):
            return refuse(op, f"it gives an i1, not {op.shares.type}")
        return True
