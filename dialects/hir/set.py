"""`hir.set`: a copy."""

from typing import Any

from ..mlir import ext
from .dialect import Hir


class SetOp(Hir.Operation, name="set"):
    """Copies `source`, converting the element type and broadcasting it to the destination's sizes.

    A scalar source fills the destination.

    Example:
      %half = "hir.set"(%x) : (memref<8xf32>) -> memref<8xf16>
      "hir.set"(%zero, %y) : (f32, memref<8xf32>) -> ()
    """

    source: ext.Operand[Any]
    destination: ext.Operand[Any] | None
    buffer: ext.Result[Any] | None
