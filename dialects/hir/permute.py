"""`hir.permute`: dims in another order, as a view."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .verify import buffer, check_same_or_more_open, integers_of, operands_of, verified
from .views import permute_type


class PermuteOp(Hir.Operation, name="permute"):
    """Dim `i` of the result is dim `order[i]` of `buffer`.

    Example:
      %t = "hir.permute"(%x) {order = array<i64: 1, 0>}
        : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
    """

    order: Any
    buffer: ext.Operand[Any]
    view: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "PermuteOp") -> bool:
        return verified(op, _check)


def _check(op: PermuteOp) -> None:
    (source,) = operands_of(op, 1, 1)
    found = buffer(source, "the operand")
    check_same_or_more_open(op, permute_type(found, integers_of(op, "order")))
