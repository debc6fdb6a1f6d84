"""`hir.expand`: repeated dims, as a view."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class ExpandOp(Hir.Operation, name="expand"):
    """Repeats dims of size 1 and adds leading ones, with stride 0; `sizes` are those the result's type
    leaves open.

    Example:
      %rows = "hir.expand"(%bias, %n)
        : (memref<64xf32>, index) -> memref<?x64xf32, strided<[0, 1]>>
    """

    buffer: ext.Operand[Any]
    sizes: Sequence[ext.Operand[ir.IndexType]]
    view: ext.Result[Any]
