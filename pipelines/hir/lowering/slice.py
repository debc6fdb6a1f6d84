"""hir.slice: bounds along an axis."""

from __future__ import annotations

from ....dialects.hir import SliceOp
from ....dialects.mlir import ir
from ..index_arithmetic import IndexArithmetic, index_of
from .buffers import Extents, extents_of, view_of
from .checks import refuse_unless_within
from .registry import lowers
from .state import ProgramState


@lowers("hir.slice")
def lower_slice(op: SliceOp, state: ProgramState) -> list[ir.Value]:
    """The view begins at the start and has every step-th element up to the stop."""
    axis, start, stop = op.axis.value, index_of(op.start), index_of(op.stop)
    step = ir.IntegerAttr(op.attributes["step"]).value if "step" in op.attributes else 1
    extents, arithmetic = extents_of(op.buffer), IndexArithmetic()
    size = extents.sizes[axis]
    message = f"hir.slice: stop {{}} is not between 0 and {{}}, the size of axis {axis}"
    refuse_unless_within(state, stop, size, message)
    message = f"hir.slice: start {{}} is not between 0 and the stop, {{}}, on axis {axis}"
    refuse_unless_within(state, start, stop, message)
    sizes, strides = list(extents.sizes), list(extents.strides)
    sizes[axis] = arithmetic.ceil_divide(arithmetic.subtract(stop, start), step)
    strides[axis] = arithmetic.multiply(strides[axis], step)
    offset = arithmetic.add(extents.offset, arithmetic.multiply(start, extents.strides[axis]))
    view = Extents(sizes, strides, offset)
    return [view_of(op.buffer, ir.MemRefType(op.view.type), view)]
