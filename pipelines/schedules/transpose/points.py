"""The region of an operation, evaluated at the elements of a tile."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ...walking import is_used
from ..elements import address, load
from ..region import Point, Region
from ..space import part_index
from ..work import Operand
from .block_tile import BlockTile, Spot, TileShape, plus

# Elements of a vector of each operand by its number, or one that all of the vector's have.
Loaded = dict[int, list[ir.Value]]


class TilePoints:
    """What the outputs take at vectors along the row.

    `direct` are the operands that are read where they are needed: neither across nor fixed.
    """

    def __init__(self, shape: TileShape, tile: BlockTile) -> None:
        self._shape = shape
        self._tile = tile
        self._parameters = tile.parameters
        self._region = Region(shape.work, tile.parameters)
        self._in_row = frozenset(shape.row.parts)
        self._in_others = frozenset(
            part for loop in (shape.column, *shape.batch) for part in loop.parts
        )
        self._operands = {operand.number: operand for operand in shape.work.operands}
        self._fixed: Point | None = None
        self.direct = [
            operand
            for operand in shape.work.inputs
            if is_used(shape.work.block.arguments[operand.number]) and operand not in shape.across
        ]

    def prepare(self, spot: Spot) -> None:
        """Computes what no loop changes. To be called once, before nested blocks."""
        self._fixed = self._point(frozenset(), spot, None, {}, 0)
        checked = [value for check in self._region.checks for value in check.operands]
        for value in [*self._region.yielded, *checked]:
            self._fixed.prepare(value, self._in_row | self._in_others)

    def results(self, vector: Spot, values: Loaded, count: int) -> list[list[ir.Value]]:
        """The `count` elements of each output from a spot on; checks the region's assertions."""
        outside = self._point(self._in_others, vector, self._fixed, values, 0)
        results: list[list[ir.Value]] = []
        for element in range(count):
            point = self._point(self._in_row, vector, outside, values, element)
            for check in self._region.checks:
                point.check(check)
            results.append([point.value(value) for value in self._region.yielded])
        return [list(elements) for elements in zip(*results, strict=True)]

    def _point(
        self,
        varying: frozenset[int],
        vector: Spot,
        outer: Point | None,
        values: Loaded,
        element: int,
    ) -> Point:
        def pick(number: int) -> ir.Value:
            found = values.get(number)
            if found is None:
                return self._load_fixed(self._operands[number])
            return found[element] if len(found) > 1 else found[0]

        return Point(self._region, varying, pick, self._index_at(vector, element), outer)

    def _load_fixed(self, operand: Operand) -> ir.Value:
        """An element that no loop moves."""
        where = self._parameters.pointer(operand.buffer)
        index = self._parameters.size(operand.offset)
        return load(address(where, operand.element, index), operand.element, 1, 1)[0]

    def _index_at(self, vector: Spot, element: int) -> Callable[[int], ir.Value]:
        """Gives the index of one of the operation's own loops."""
        shape, tile = self._shape, self._tile

        def index(number: int) -> ir.Value:
            kind, parameters = ir.IndexType.get(), self._parameters
            if number in shape.row.parts:
                at = arith.index_cast(kind, plus(vector.row, element))
                row = arith.addi(tile.row, at)
                return part_index(shape.work, shape.row, row, number, parameters)
            if number in shape.column.parts:
                at = arith.addi(tile.column, arith.index_castui(kind, vector.column))
                return part_index(shape.work, shape.column, at, number, parameters)
            for loop, at in zip(shape.batch, tile.batch, strict=True):
                if number in loop.parts:
                    return part_index(shape.work, loop, at, number, parameters)
            return index_constant(0)

        return index
