"""`hir.reshape`: the same elements with other sizes, as a view."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class ReshapeOp(Hir.Operation, name="reshape"):
    """The elements in row-major order of the logical dims, with the result's sizes; `sizes` are those the
    type leaves open.

    It never copies: strides that do not allow it are an error, at compile time where they are known.
    `hir.set` makes a packed copy.

    Example:
      %flat = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<32xf32>
    """

    buffer: ext.Operand[Any]
    sizes: Sequence[ext.Operand[ir.IndexType]]
    view: ext.Result[Any]
