"""`hir.wait`: orders the current stream after a communication."""

from ..mlir import ext
from .dialect import Hir
from .value_types import RequestType


class WaitOp(Hir.Operation, name="wait"):
    """What follows on the current stream starts after the communication.

    Example:
      "hir.wait"(%request) : (!hir.request_t) -> ()
    """

    request: ext.Operand[RequestType]
