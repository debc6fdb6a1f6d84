"""`hir.binary`: an elementwise function of two operands."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .kinds import BINARY
from .verify import verified
from .verify_elementwise import check_elementwise


class BinaryOp(Hir.Operation, name="binary"):
    """`kind` is one of BINARY in kinds.py; comparisons give i1. Operands broadcast.

    Example:
      %y = "hir.binary"(%x, %bias) {kind = "add"}
        : (memref<?x64xf32>, memref<64xf32>) -> memref<?x64xf32>
    """

    kind: ir.StringAttr
    x: ext.Operand[Any]
    y: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None

    @staticmethod
    def verify_invariants(op: "BinaryOp") -> bool:
        return verified(op, lambda op: check_elementwise(op, BINARY, ["x", "y"]))
