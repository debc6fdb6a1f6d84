"""`hir.deallocate`: frees a buffer."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class DeallocateOp(Hir.Operation, name="deallocate"):
    """Frees a buffer's memory in the order of the current stream.

    Example:
      "hir.deallocate"(%y) : (memref<?xf32>) -> ()
    """

    buffer: ext.Operand[Any]
