"""`hir.for`: a host loop."""

from ..mlir import ext, ir
from .dialect import Hir


class ForOp(Hir.Operation, name="for", traits=[ir.NoTerminatorTrait]):
    """Runs its block for start, start + step, ... below stop; `step` is positive.

    With `streams = n` (optional) every iteration runs on its own stream of a pool of n, after what was
    in the stream before the loop; what follows the loop comes after all of them.

    Example:
      "hir.for"(%zero, %n, %one) ({
      ^bb0(%i: index):
        "hir.binary"(%x, %i, %x) {kind = "add"} : (memref<8xf32>, index, memref<8xf32>) -> ()
      }) : (index, index, index) -> ()
    """

    start: ext.Operand[ir.IndexType]
    stop: ext.Operand[ir.IndexType]
    step: ext.Operand[ir.IndexType]
    body: ext.Region
