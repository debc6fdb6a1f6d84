"""`hir.alias`: a buffer that is another's memory."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class AliasOp(Hir.Operation, name="alias"):
    """Says that `buffer` lies in the memory of `target`: what produces it writes there.

    Both have the same element type and sizes. Chains resolve; a program's input cannot be the buffer; a
    cycle is an error.

    Example:
      %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
      "hir.alias"(%y, %x) : (memref<8xf32>, memref<8xf32>) -> ()
    """

    buffer: ext.Operand[Any]
    target: ext.Operand[Any]
