"""`hir.for`: a host loop."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import constant_value, has_one_block, is_positive, refuse


class ForOp(Hir.Operation, name="for", traits=[ir.NoTerminatorTrait]):
    """Runs its block for start, start + step, ... below stop; `step` is positive.

    With `streams = n` (optional) every iteration runs on its own stream of a pool of n, after what
    was in the stream before the loop; what follows the loop comes after all of them.

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

    @staticmethod
    def verify_invariants(op: "ForOp") -> bool:
        if not has_one_block(op, op.body, "the body of hir.for", arguments=1):
            return False
        argument = op.body.blocks[0].arguments[0].type
        if not isinstance(argument, ir.IndexType):
            return refuse(op, f"the block of hir.for has the index as argument, not {argument}")
        step = constant_value(op.step)
        if step is not None and step <= 0:
            return refuse(op, f"the step of hir.for is positive, not {step}")
        return is_positive(op, "streams", "the number of streams in the pool")
