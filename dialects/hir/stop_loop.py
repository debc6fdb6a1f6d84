"""`hir.stop_loop`: the end of a host loop."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import refuse

# scf.for is the loop of a function on tensors, which becomes a hir.for.
_LOOPS = ("hir.for", "scf.for")


class StopLoopOp(Hir.Operation, name="stop_loop"):
    """Makes the iteration that runs the last one of its loop, where the condition is true.

    The rest of the iteration still runs.

    Example:
      "hir.for"(%zero, %n, %one) ({
      ^bb0(%i: index):
        "hir.binary"(%x, %x, %x) {kind = "add"} : (memref<f32>, memref<f32>, memref<f32>) -> ()
        %value = memref.load %x[] : memref<f32>
        %large = arith.cmpf ogt, %value, %limit : f32
        "hir.stop_loop"(%large) : (i1) -> ()
      }) : (index, index, index) -> ()
    """

    condition: ext.Operand[ir.IntegerType]

    @staticmethod
    def verify_invariants(op: "StopLoopOp") -> bool:
        if op.condition.type.width != 1:
            return refuse(
                op,
                f"the condition of hir.stop_loop is i1, not {op.condition.type}: compare it first",
            )
        loop = op.operation.parent
        if loop is None or loop.name not in _LOOPS:
            return refuse(
                op,
                "hir.stop_loop is directly in the block of a hir.for: take the condition out of "
                "the branch",
            )
        if "streams" in loop.attributes:
            return refuse(
                op,
                "the iterations of a hir.for with 'streams' do not wait for one another, and none "
                "is the last: leave out 'streams'",
            )
        return True
