"""The operand of a reduction and the loops over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.hir.layout import DYNAMIC
from ....dialects.mlir import arith, ir
from ..index_arithmetic import Index, IndexArithmetic, materialized
from ..operand_axes import reduced_axes
from .generic import Body, emit_generic, map_of
from .operand import Operand, read_operand
from .sizes import check_equal, size_of


@dataclass(frozen=True)
class Reduced:
    """One loop a dim of the operand `x`; those of `axes` reduce.

    `places` has the loop of each dim of the result; a dim of size 1 that is kept has none.
    """

    x: Operand
    axes: Sequence[int]
    places: Sequence[int | None]

    @property
    def rank(self) -> int:
        return len(self.x.shape)

    def emit(self, outputs: Sequence[ir.Value], body: Body) -> None:
        """A generic from the operand into buffers of the result's sizes."""
        map_ = map_of(self.rank, self.places)
        inputs = [(self.x.stored, map_of(self.rank, range(self.rank)))]
        emit_generic(self.rank, self.axes, inputs, [(buffer, map_) for buffer in outputs], body)

    def sizes(self) -> list[Index]:
        """The sizes of the axes."""
        return [
            size_of((self.x, axis)) if self.x.shape[axis] == DYNAMIC else self.x.shape[axis]
            for axis in self.axes
        ]

    def count(self) -> Index:
        """How many elements are reduced to one."""
        return IndexArithmetic().product(self.sizes())


def read_reduced(op: ir.Operation, result: Operand) -> Reduced:
    """The operand of a hir.reduce; its sizes are checked against the result's."""
    x = read_operand(op, 0)
    axes = sorted(reduced_axes(op))
    rank = len(x.shape)
    if "keep_dims" in op.attributes:
        places = [None if dim in axes else dim for dim in range(rank)]
    else:
        places = [dim for dim in range(rank) if dim not in axes]
    for axis, place in enumerate(places):
        check_equal(op, (result, axis), 1 if place is None else (x, place))
    return Reduced(x, axes, places)


def is_none(count: Index) -> ir.Value:
    """Whether a number of elements is 0."""
    return arith.cmpi(arith.CmpIPredicate.eq, materialized(count), materialized(0))
