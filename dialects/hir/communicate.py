"""`hir.communicate`: begins a collective communication."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import CommunicatorType, RequestType


class CommunicateOp(Hir.Operation, name="communicate"):
    """Begins a communication of `kind` (one of COMMUNICATION in kinds.py) within a team.

    `root` (a device of the team) and `reduction` (one of COMMUNICATED_REDUCTION) are there where the
    kind has them.

    Example:
      %request = "hir.communicate"(%x, %y, %team) {kind = "allreduce", reduction = "sum"}
        : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
    """

    kind: ir.StringAttr
    input: ext.Operand[Any]
    output: ext.Operand[Any]
    communicator: ext.Operand[CommunicatorType]
    request: ext.Result[RequestType]
