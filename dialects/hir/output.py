"""`hir.output`: an output of a program or of a branch."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class OutputOp(Hir.Operation, name="output"):
    """One output of the enclosing hir.program or branch of hir.if, in order; last in its block.

    Example:
      "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
    """

    value: ext.Operand[Any]
