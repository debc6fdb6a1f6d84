"""`hir.rank`: which of a team a device is."""

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import CommunicatorType


class RankOp(Hir.Operation, name="rank"):
    """The place of the device that runs the program in the team, counted from 0.

    It is -1 on a device that is not of the team.

    Example:
      %place = "hir.rank"(%team) : (!hir.communicator_t) -> index
    """

    communicator: ext.Operand[CommunicatorType]
    place: ext.Result[ir.IndexType]
