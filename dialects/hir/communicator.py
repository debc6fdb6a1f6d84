"""`hir.communicator`: a team of devices."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .refusal import is_text
from .team import is_team
from .value_types import CommunicatorType


class CommunicatorOp(Hir.Operation, name="communicator"):
    """The devices `team` (their numbers), over `backend` ("nccl" without it).

    Example:
      %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
    """

    team: Any
    communicator: ext.Result[CommunicatorType]

    @staticmethod
    def verify_invariants(op: "CommunicatorOp") -> bool:
        return is_team(op, "team") and is_text(op, "backend", "what communicates")
