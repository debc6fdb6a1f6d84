"""hir.select: one index of an axis."""

from __future__ import annotations

from ....dialects.hir import SelectOp
from ....dialects.mlir import ir
from ..index_arithmetic import IndexArithmetic, index_of
from .buffers import Extents, extents_of, view_of
from .checks import refuse_unless_below
from .registry import lowers
from .state import ProgramState


@lowers("hir.select")
def lower_select(op: SelectOp, state: ProgramState) -> list[ir.Value]:
    """The view begins at the index; the axis is gone."""
    axis, index = op.axis.value, index_of(op.index)
    extents, arithmetic = extents_of(op.buffer), IndexArithmetic()
    message = f"hir.select: index {{}} is out of range for axis {axis} of size {{}}"
    refuse_unless_below(state, index, extents.sizes[axis], message)
    start = arithmetic.multiply(index, extents.strides[axis])
    view = Extents(
        [*extents.sizes[:axis], *extents.sizes[axis + 1 :]],
        [*extents.strides[:axis], *extents.strides[axis + 1 :]],
        arithmetic.add(extents.offset, start),
    )
    return [view_of(op.buffer, ir.MemRefType(op.view.type), view)]
