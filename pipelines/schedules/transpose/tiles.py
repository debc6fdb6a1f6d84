"""Tiles whose threads read vectors along the column and write vectors along the row."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...i32 import as_index, i32, i32_constant
from ...rewriting import index_constant
from ..parameters import Parameters
from ..size import Size
from ..space import Loop
from ..work import Operand
from .block_tile import BlockTile, Spot, TileShape, plus, times


@dataclass(frozen=True)
class Tiles(TileShape):
    """Tiles that a thread takes squares of: `width` vectors of `width` elements each."""

    @property
    def row_units(self) -> int:
        """The vectors that lie along the row."""
        return self.row_side // self.width

    @property
    def column_units(self) -> int:
        """The vectors that lie along the column."""
        return self.column_side // self.width

    @property
    def rounds(self) -> int:
        """How many squares of `width` by `width` elements a thread takes."""
        return self.row_units * self.column_units // self.threads


class Tile(BlockTile):
    """The tile of a block, and where a thread's accesses lie in it."""

    def __init__(self, tiles: Tiles, counts: tuple[Size, Size], parameters: Parameters) -> None:
        super().__init__(tiles, counts, parameters)
        self._tiles = tiles
        self._rows = self._left(tiles.row, self.row, tiles.row_side)
        self._columns = self._left(tiles.column, self.column, tiles.column_side)

    def _left(self, loop: Loop, first: ir.Value, side: int) -> ir.Value:
        """Returns how many of the tile's elements along a loop there are."""
        if loop.extent.is_known and loop.extent.known % side == 0:
            return i32_constant(side)
        left = arith.subi(self.parameters.size(loop.extent), first)
        return arith.index_castui(i32(), arith.minui(left, index_constant(side)))

    def split(self, number: int, units: int) -> tuple[ir.Value, ir.Value]:
        """The thread's piece of a number, of those in rows of `units`: its place, and the row's."""
        before = number * self._tiles.threads
        place = arith.andi(self.thread, i32_constant(units - 1))
        row = arith.shrui(self.thread, i32_constant(units.bit_length() - 1))
        return plus(place, before % units), plus(row, before // units)

    def square(self, number: int) -> Spot:
        """The first element of the square of a number that the thread loads."""
        width = self._tiles.width
        column, row = self.split(number, self._tiles.column_units)
        return Spot(times(row, width), times(column, width))

    def vector(self, number: int) -> Spot:
        """The first element of the vector of a number that the thread computes."""
        row, column = self.split(number, self._tiles.row_units)
        return Spot(times(row, self._tiles.width), column)

    def clamped(self, spot: Spot, columns: int) -> Spot:
        """The spot, or the last one that is in the tile; of vectors, in `columns` columns."""
        last_row = arith.subi(self._rows, i32_constant(self._tiles.width))
        last_column = arith.subi(self._columns, i32_constant(columns))
        return Spot(arith.minui(spot.row, last_row), arith.minui(spot.column, last_column))

    @property
    def is_always_whole(self) -> bool:
        """Whether no tile reaches beyond the last row or column."""
        tiles = self._tiles
        return all(
            loop.extent.is_known and loop.extent.known % side == 0
            for loop, side in ((tiles.row, tiles.row_side), (tiles.column, tiles.column_side))
        )

    @property
    def is_whole(self) -> ir.Value:
        """Whether this one does not."""
        same = arith.CmpIPredicate.eq
        return arith.andi(
            arith.cmpi(same, self._rows, i32_constant(self._tiles.row_side)),
            arith.cmpi(same, self._columns, i32_constant(self._tiles.column_side)),
        )

    def has(self, spot: Spot) -> ir.Value:
        """Returns whether a vector lies in the outputs; those that do, do so altogether."""
        below = arith.CmpIPredicate.ult
        return arith.andi(
            arith.cmpi(below, spot.row, self._rows), arith.cmpi(below, spot.column, self._columns)
        )

    def address(self, operand: Operand, spot: Spot) -> ir.Value:
        """Where an operand's element lies."""
        return self.moved(
            self.start(operand),
            operand,
            [(self._tiles.row, as_index(spot.row)), (self._tiles.column, as_index(spot.column))],
        )
