"""`hir.binary`: an elementwise function of two operands."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


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
