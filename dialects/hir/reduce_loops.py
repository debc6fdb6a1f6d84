"""`hir.reduce_loops`: a reduction within the region of a linalg.generic."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .loop_operation import gives, has_kind, has_loops


class ReduceLoopsOp(Hir.Operation, name="reduce_loops"):
    """Combines a value's instances in all iterations of `loops` into one, the same in all of them.

    `kind` is the arith operation that combines two. Without iterations it is the kind's neutral
    element. The order is any, but the same in every run.

    Example (softmax of each row):
      ^bb0(%x: f32, %y: f32):
        %most = "hir.reduce_loops"(%x) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
        %less = arith.subf %x, %most : f32
        %e = math.exp %less : f32
        %sum = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
        %part = arith.divf %e, %sum : f32
        linalg.yield %part : f32
    """

    kind: ir.StringAttr
    loops: Any
    value: ext.Operand[Any]
    result_value: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ReduceLoopsOp") -> bool:
        value = op.operation.operands[0]
        return has_kind(op, value) and has_loops(op) and gives(op, [value.type])
