"""What the kernels of attention are given to compute."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import e, inf, log2

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import constant, index_constant
from ...walking import made_by
from ..elements import element_bytes
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ZERO, Size, product
from ..work import Layout, Operand, Work
from .configuration import AttentionConfiguration, Heads
from .reading import Attention, number_of
from .visibility import Condition, read_conditions

_LOG2E = log2(e)


@dataclass(frozen=True)
class Plan:
    """Attention, as it is to be computed.

    `along` are the loops along the tiles' rows, outermost first: none of one row, and several of
    few rows, of known sizes. There are `row_count` tiles of rows, and `parts` of the keys.
    """

    attention: Attention
    work: Work
    configuration: AttentionConfiguration
    along: tuple[int, ...]
    grid: tuple[int, ...]
    row_count: Size
    parts: Size

    @property
    def wide(self) -> bool:
        """Whether queries, keys and values are read 16 bytes at a time, and outputs written 4."""
        return self.configuration.layout is Layout.ROWS

    @property
    def rows(self) -> Size:
        """How many rows there are."""
        return product([self.work.extents[loop] for loop in self.along])

    @property
    def row_tiles(self) -> Size:
        """How many tiles of rows there are, of all batches."""
        return product([self.row_count, *(self.work.extents[loop] for loop in self.grid)])

    def places_of(self, row: ir.Value) -> dict[int, ir.Value]:
        """Emits where a row is along each loop that rows have."""
        places: dict[int, ir.Value] = {}
        for loop in reversed(self.along[1:]):
            size = index_constant(self.work.extents[loop].known)
            places[loop], row = arith.remui(row, size), arith.divui(row, size)
        return places | dict.fromkeys(self.along[:1], row)

    @property
    def keys(self) -> Size:
        """How many keys there are."""
        return self.work.extents[self.attention.keys]

    def head(self, loop: int) -> int:
        """The size of a loop along a head."""
        return self.work.extents[loop].known

    @property
    def heads(self) -> Heads:
        """Sizes of a head."""
        attention = self.attention
        depth, columns = self.head(attention.depth), self.head(attention.columns)
        return Heads(None, None, None, depth, columns, element_bytes(attention.element))

    @property
    def output(self) -> Operand:
        """What the results are written to."""
        return self.work.outputs[0]

    @cached_property
    def conditions(self) -> list[Condition]:
        """Which keys a row sees."""
        return read_conditions(self.attention)[0]

    @cached_property
    def scale(self) -> tuple[ir.Value, float]:
        """The value that is given the score, and by what x is to be multiplied for powers of two.

        Where x is the score times a constant, or -inf, that constant is part of the factor.
        """
        attention, (_, unmasked) = self.attention, read_conditions(self.attention)
        for name in ("arith.mulf", "arith.divf"):
            product = made_by(unmasked, name)
            if product is None:
                continue
            left, right = product.operands
            if left != attention.score and name == "arith.mulf":
                left, right = right, left
            number = number_of(right)
            if left == attention.score and number is not None and 0 < number < inf:
                return unmasked, _LOG2E * (number if name == "arith.mulf" else 1 / number)
        return attention.score, _LOG2E

    def inverse(self, total: ir.Value, parameters: Parameters) -> ir.Value:
        """Returns what a row's sums are multiplied by."""
        point = Point(Region(self.work, parameters), frozenset(), _nothing, _nothing)
        point.known[self.attention.total] = total
        one = constant(total.type, 1.0)
        inverse = arith.divf(one, point.value(self.attention.divisor))
        if self.keys.is_known:
            return inverse
        # A sum of nothing is 0.
        keys, none = parameters.size(self.keys), index_constant(0)
        is_empty = arith.cmpi(arith.CmpIPredicate.eq, keys, none)
        return arith.select(is_empty, constant(one.type, 0.0), inverse)

    def result(self, sum_: ir.Value, parameters: Parameters) -> ir.Value:
        """Returns what is written of a sum that has been divided."""
        point = Point(Region(self.work, parameters), frozenset(), _nothing, _nothing)
        point.known[self.attention.sum] = sum_
        return point.value(self.attention.output)


def outer_loops(operand: Operand, grid: Sequence[int]) -> list[int]:
    """The loops around the rows along which an operand differs."""
    return [loop for loop in reversed(grid) if operand.strides[loop] != ZERO]


def _nothing(number: int) -> ir.Value:
    raise AssertionError(f"nothing is read at the end: {number}")
