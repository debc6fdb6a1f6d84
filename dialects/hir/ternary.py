"""`hir.ternary`: an elementwise function of three operands."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .kinds import TERNARY
from .verify import verified
from .verify_elementwise import check_elementwise


class TernaryOp(Hir.Operation, name="ternary"):
    """`kind` is one of TERNARY in kinds.py. Operands broadcast.

    Example:
      %y = "hir.ternary"(%mask, %a, %b) {kind = "where"}
        : (memref<8xi1>, memref<8xf32>, memref<8xf32>) -> memref<8xf32>
    """

    kind: ir.StringAttr
    x: ext.Operand[Any]
    y: ext.Operand[Any]
    z: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "TernaryOp") -> bool:
        return verified(op, lambda op: check_elementwise(op, TERNARY, ["x", "y", "z"]))
