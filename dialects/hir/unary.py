"""`hir.unary`: an elementwise function of one operand."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .kinds import UNARY
from .verify import verified
from .verify_elementwise import check_elementwise


class UnaryOp(Hir.Operation, name="unary"):
    """`kind` is one of UNARY in kinds.py; `cast` converts to the element type of the result.

    Example:
      %y = "hir.unary"(%x) {kind = "gelu"} : (memref<8xf32>) -> memref<8xf32>
    """

    kind: ir.StringAttr
    x: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "UnaryOp") -> bool:
        return verified(op, lambda op: check_elementwise(op, UNARY, ["x"]))
