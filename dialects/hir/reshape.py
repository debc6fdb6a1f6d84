"""`hir.reshape`: the same elements with other sizes, as a view."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .verify import (
    buffer,
    check_open_sizes,
    check_same_or_more_open,
    operands_of,
    result_of,
    verified,
)
from .views import reshape_type


class ReshapeOp(Hir.Operation, name="reshape"):
    """The elements in row-major order of the logical dims, with the result's sizes.

    `sizes` are those that the result's type leaves open. It never copies: strides that do not allow
    it are an error, at compile time where they are known. `hir.set` makes a packed copy.

    Example:
      %flat = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<32xf32>
    """

    buffer: ext.Operand[Any]
    sizes: Sequence[ext.Operand[ir.IndexType]]
    view: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ReshapeOp") -> bool:
        return verified(op, _check)


def _check(op: ReshapeOp) -> None:
    found, *sizes = operands_of(op, 1, None)
    view = buffer(result_of(op), "the result")
    check_open_sizes(len(sizes), view.shape)
    check_same_or_more_open(op, reshape_type(buffer(found, "the operand"), view.shape))
