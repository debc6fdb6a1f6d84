"""The operand of a reduction and the loops over it."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import DYNAMIC
from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...generics import Body, emit_generic, find_over, map_of, reduce_over
from ...rewriting import constant
from ..index_arithmetic import Index, IndexArithmetic, materialized
from ..operand_axes import reduced_axes
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

    def emit(self, output: ir.Value, body: Body) -> ir.Operation:
        """Emits a generic from the operand into a buffer or tensor of the result's sizes."""
        inputs = [(self.x.stored, map_of(self.rank, range(self.rank)))]
        outputs = [(output, map_of(self.rank, self.places))]
        return emit_generic(self.rank, self.axes, inputs, outputs, body)

    def combine(self, kind: str, value: ir.Value) -> ir.Value:
        """In the generic: all values of the axes combined."""
        return reduce_over(self.axes, kind, value) if self.axes else value

    def find(self, kind: str, value: ir.Value) -> ir.Value:
        """In the generic: the place of the extreme value, in row-major order within the axes."""
        if not self.axes:
            return constant(ir.IntegerType.get_signless(64), 0)
        return find_over(self.axes, kind, value)[1]

    def sizes(self) -> list[Index]:
        """Returns the sizes of the axes."""
        return [
            size_of((self.x, axis)) if self.x.shape[axis] == DYNAMIC else self.x.shape[axis]
            for axis in self.axes
        ]

    def count(self) -> Index:
        """Returns how many elements are reduced to one."""
        return IndexArithmetic().product(self.sizes())


def read_reduced(op: ir.Operation, result: Operand) -> Reduced:
    """Returns the operand of a hir.reduce; its sizes are checked against the result's."""
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
    """Returns whether a number of elements is 0."""
    return arith.cmpi(arith.CmpIPredicate.eq, materialized(count), materialized(0))
