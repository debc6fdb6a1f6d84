"""`hir.communicator`: a team of devices."""

from ..mlir import ext
from .dialect import Hir
from .refusal import is_text
from .team import are_teams
from .value_types import CommunicatorType


class CommunicatorOp(Hir.Operation, name="communicator"):
    """The devices `team` (their numbers), over `backend` ("nccl" without it).

    With `teams` in its place, teams of one size that share no device, a device communicates within
    the one that it is of: the rows of a mesh are one communicator, and so are its columns.

    Example:
      %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
    """

    communicator: ext.Result[CommunicatorType]

    @staticmethod
    def verify_invariants(op: "CommunicatorOp") -> bool:
        return are_teams(op) and is_text(op, "backend", "what communicates")
