"""hir.expand: repeated dims."""

from __future__ import annotations

from ....dialects.hir import ExpandOp
from ....dialects.mlir import arith, ir
from ..index_arithmetic import Index, IndexArithmetic, is_same, materialized
from .buffers import Extents, extents_of, view_of
from .checks import refuse_if, refuse_negative_sizes
from .conform import sizes_of
from .registry import lowers
from .state import ProgramState


@lowers("hir.expand")
def lower_expand(op: ExpandOp, state: ProgramState) -> list[ir.Value]:
    """Strides of 0 where a dim is new, or has one element and is to have others."""
    kind, extents = ir.MemRefType(op.view.type), extents_of(op.buffer)
    sizes = sizes_of(op, list(op.sizes), kind)
    refuse_negative_sizes(state, sizes, "hir.expand")
    added = len(sizes) - len(extents.sizes)
    strides: list[Index] = [0] * added
    for axis, (old, stride) in enumerate(zip(extents.sizes, extents.strides, strict=True)):
        strides.append(_stride(state, axis, old, sizes[added + axis], stride))
    return [view_of(op.buffer, kind, Extents(sizes, strides, extents.offset))]


def _stride(state: ProgramState, axis: int, old: Index, new: Index, stride: Index) -> Index:
    if is_same(old, new):
        return stride
    if old == 1:
        return 0
    same = arith.cmpi(arith.CmpIPredicate.eq, materialized(old), materialized(new))
    several = arith.cmpi(arith.CmpIPredicate.ne, materialized(old), materialized(1))
    true = arith.constant(ir.IntegerType.get_signless(1), 1)
    refuse_if(
        state,
        arith.andi(several, arith.xori(same, true)),
        f"hir.expand: size {{}} of axis {axis} cannot be repeated to {{}}: only a size of 1 "
        "repeats",
        old,
        new,
    )
    return IndexArithmetic().choose(same, stride, 0)
