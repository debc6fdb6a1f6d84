"""`hir.allocate`: a fresh buffer."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir


class AllocateOp(Hir.Operation, name="allocate"):
    """A fresh buffer of the result's type; `sizes` are the logical sizes the types leave open.

    Attributes, each optional: `order` (logical dims from outermost to innermost in memory) or `domain`
    (steps from logical dims to memory, see docs/host-ir.md), `logical` (the logical sizes where they
    are not the result's), `memory` ("device", "pinned", "managed" or "symmetric"), `zero_init` (unit),
    `output` (the number of the output it is: the caller's buffer where one was handed in).

    Example:
      %y = "hir.allocate"(%n) {order = array<i64: 1, 0>, zero_init}
        : (index) -> memref<?x32xf32, strided<[1, ?]>>
    """

    sizes: Sequence[ext.Operand[ir.IndexType]]
    buffer: ext.Result[Any]
