"""`hir.expand`: repeated dims, as a view."""

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
from .views import expand_type


class ExpandOp(Hir.Operation, name="expand"):
    """Repeats dims of size 1 and adds leading ones, with stride 0.

    `sizes` are those that the result's type leaves open.

    Example:
      %rows = "hir.expand"(%bias, %n)
        : (memref<64xf32>, index) -> memref<?x64xf32, strided<[0, 1]>>
    """

    buffer: ext.Operand[Any]
    sizes: Sequence[ext.Operand[ir.IndexType]]
    view: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ExpandOp") -> bool:
        return verified(op, _check)


def _check(op: ExpandOp) -> None:
    found, *sizes = operands_of(op, 1, None)
    view = buffer(result_of(op), "the result")
    check_open_sizes(len(sizes), view.shape)
    check_same_or_more_open(op, expand_type(buffer(found, "the operand"), view.shape))
