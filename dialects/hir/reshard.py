"""`hir.reshard`: changes how a buffer is spread over devices."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class ReshardOp(Hir.Operation, name="reshard"):
    """The buffer `x`, spread over `from_team` as `from` says, spread over `to_team` as `to` says.

    A spread is "whole" (every device has all of it), "partial:KIND" (the sum, or another
    COMMUNICATED_REDUCTION, of the devices' parts is the value) or "axis:N" (that axis is divided).

    Example:
      %all = "hir.reshard"(%part) {from = "axis:0", to = "whole",
        from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4xf32>) -> memref<8xf32>
    """

    from_team: Any
    to_team: Any
    x: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None
