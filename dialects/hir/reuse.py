"""`hir.reuse`: a fresh buffer in another's memory."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class ReuseOp(Hir.Operation, name="reuse"):
    """A fresh buffer in the memory of `storage`, whose own life ends here.

    The memory is now the result's, and is freed with it. Attributes as of hir.allocate, without
    `memory` and `output`. The result's bytes are at most those of the storage.

    Example:
      %z = "hir.reuse"(%y, %n) : (memref<?xf32>, index) -> memref<?xi32>
    """

    storage: ext.Operand[Any]
    sizes: Sequence[ext.Operand[ir.IndexType]]
    buffer: ext.Result[Any]
