"""`hir.reduce`: a reduction over axes."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class ReduceOp(Hir.Operation, name="reduce"):
    """`kind` is one of REDUCE in kinds.py. `axes` are reduced, all where it is empty; `keep_dims` (unit,
    optional) keeps them with size 1.

    Example:
      %sums = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1>} : (memref<8x4xf32>) -> memref<8xf32>
    """

    kind: ir.StringAttr
    axes: Any
    x: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None
