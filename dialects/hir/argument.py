"""`hir.argument`: one argument of a call or launch."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class ArgumentOp(Hir.Operation, name="argument"):
    """One argument of the enclosing hir.call, hir.host_call or hir.launch.

    With `destination = i`, of hir.call alone, it is the buffer for the callee's output `i`.

    Example:
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    """

    value: ext.Operand[Any]
