"""`hir.unary`: an elementwise function of one operand."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class UnaryOp(Hir.Operation, name="unary"):
    """`kind` is one of UNARY in kinds.py; `cast` converts to the element type of the result.

    Example:
      %y = "hir.unary"(%x) {kind = "gelu"} : (memref<8xf32>) -> memref<8xf32>
    """

    kind: ir.StringAttr
    x: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None
