"""`hir.slice`: bounds along an axis, as a view."""

from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .layout import DYNAMIC
from .refusal import constant_value
from .verify import (
    OperationError,
    buffer,
    check_same_or_more_open,
    integer_of,
    operands_of,
    result_of,
    verified,
)
from .views import check_axis, slice_size, slice_type


class SliceOp(Hir.Operation, name="slice"):
    """Elements start, start + step, ... below stop along `axis`.

    `step` is an attribute, 1 where it is left out. 0 <= start <= stop <= size, checked at run time
    where it is not known before. So is the result's size where it is static.

    Example:
      %part = "hir.slice"(%x, %from, %to) {axis = 0 : i64, step = 2 : i64}
        : (memref<8xf32>, index, index) -> memref<?xf32, strided<[2], offset: ?>>
    """

    axis: ir.IntegerAttr
    buffer: ext.Operand[Any]
    start: ext.Operand[ir.IndexType]
    stop: ext.Operand[ir.IndexType]
    view: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "SliceOp") -> bool:
        return verified(op, _check)


def _check(op: SliceOp) -> None:
    source, first, last = operands_of(op, 3, 3)
    found = buffer(source, "the operand")
    view = buffer(result_of(op), "the result")
    axis = integer_of(op, "axis")
    step = integer_of(op, "step") if "step" in op.attributes else 1
    start = constant_value(first)
    check_axis(found, axis)
    extent = found.shape[axis]
    size = slice_size(extent, start, constant_value(last), step)
    if size == DYNAMIC and view.rank == found.rank:
        # Bounds that are not known may still be a known distance apart.
        size = view.shape[axis]
        most = slice_size(extent, 0, extent, step) if extent != DYNAMIC else DYNAMIC
        if DYNAMIC not in (size, most) and size > most:
            raise OperationError(
                f"axis {axis} of {found} has {most} elements {step} apart at most, not {size}"
            )
    check_same_or_more_open(op, slice_type(found, axis, size, step, start))
