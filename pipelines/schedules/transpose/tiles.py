"""The tiles of the transpose schedule, and where a block's tile and a thread's accesses lie."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.mlir import arith, gpu, ir
from ...rewriting import constant, index_constant
from ..elements import address
from ..index_division import divided
from ..parameters import Parameters
from ..size import ZERO, Size
from ..space import Loop
from ..work import Operand, Work


@dataclass(frozen=True)
class Tiles:
    """Tiles of `row` (contiguous in the outputs) by `column` (contiguous in those of `across`).

    Accesses are vectors of `width` elements; a tile has `row_units` of them along `row` and
    `column_units` along `column`, both powers of two. Blocks have up to `most_threads`.

    Blocks follow one another along the row: what is written then lies together, which is worth
    more to the memory than reading so (4131 GB/s against 4033 on an H200; in squares of 8 by 8
    tiles 3999).
    """

    work: Work
    row: Loop
    column: Loop
    batch: tuple[Loop, ...]
    across: tuple[Operand, ...]
    width: int
    row_units: int
    column_units: int
    most_threads: int

    @property
    def row_side(self) -> int:
        """A tile's elements along the row."""
        return self.row_units * self.width

    @property
    def column_side(self) -> int:
        """A tile's elements along the column."""
        return self.column_units * self.width

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return min(self.most_threads, self.row_units * self.column_units)

    @property
    def rounds(self) -> int:
        """How many squares of `width` by `width` elements a thread takes."""
        return self.row_units * self.column_units // self.threads


@dataclass(frozen=True)
class Spot:
    """Where in its block's tile an access begins, as i32 values."""

    row: ir.Value
    column: ir.Value


class Tile:
    """The tile of a block, in code.

    `row` and `column` are the first indices, `batch` those of the other loops. What is computed
    here is the same in all threads.
    """

    def __init__(self, tiles: Tiles, counts: tuple[Size, Size], parameters: Parameters) -> None:
        """`counts` says how many tiles lie along the row, and along the column."""
        self._tiles = tiles
        self._parameters = parameters
        self._thread = arith.index_castui(i32(), gpu.thread_id(gpu.Dimension.x))
        self._starts: dict[int, ir.Value] = {}
        row, column, self.batch = self._numbers(*counts)
        self.row = arith.muli(row, index_constant(tiles.row_side))
        self.column = arith.muli(column, index_constant(tiles.column_side))
        self._rows = self._left(tiles.row, self.row, tiles.row_side)
        self._columns = self._left(tiles.column, self.column, tiles.column_side)

    def _numbers(self, rows: Size, columns: Size) -> tuple[ir.Value, ir.Value, list[ir.Value]]:
        """Which tile along the row and the column it is, and the others' indices."""
        number = gpu.block_id(gpu.Dimension.x)
        batch: list[ir.Value] = []
        if self._tiles.batch:
            rest, number = divided(number, rows * columns, 1, self._parameters)
            for loop in reversed(self._tiles.batch[1:]):
                rest, within = divided(rest, loop.extent, 1, self._parameters)
                batch.insert(0, within)
            batch.insert(0, rest)
        column, row = divided(number, rows, 1, self._parameters)
        return row, column, batch

    def _left(self, loop: Loop, first: ir.Value, side: int) -> ir.Value:
        """How many of the tile's elements along a loop there are."""
        if loop.extent.is_known and loop.extent.known % side == 0:
            return constant_i32(side)
        left = arith.subi(self._parameters.size(loop.extent), first)
        return arith.index_castui(i32(), arith.minui(left, index_constant(side)))

    def split(self, number: int, units: int) -> tuple[ir.Value, ir.Value]:
        """The thread's piece of a number, of those in rows of `units`: its place, and the row's."""
        before = number * self._tiles.threads
        place = arith.andi(self._thread, constant_i32(units - 1))
        row = arith.shrui(self._thread, constant_i32(units.bit_length() - 1))
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
        last_row = arith.subi(self._rows, constant_i32(self._tiles.width))
        last_column = arith.subi(self._columns, constant_i32(columns))
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
            arith.cmpi(same, self._rows, constant_i32(self._tiles.row_side)),
            arith.cmpi(same, self._columns, constant_i32(self._tiles.column_side)),
        )

    def has(self, spot: Spot) -> ir.Value:
        """Whether a vector lies in the outputs; those that do, do so altogether."""
        below = arith.CmpIPredicate.ult
        return arith.andi(
            arith.cmpi(below, spot.row, self._rows), arith.cmpi(below, spot.column, self._columns)
        )

    def address(self, operand: Operand, spot: Spot) -> ir.Value:
        """Where an operand's element lies."""
        return self._moved(
            self.start(operand),
            operand,
            [(self._tiles.row, _index(spot.row)), (self._tiles.column, _index(spot.column))],
        )

    def start(self, operand: Operand) -> ir.Value:
        """Where an operand's first element of the tile lies.

        What is emitted for it first must come before nested blocks.
        """
        if operand.number not in self._starts:
            pointer = self._parameters.pointer(operand.buffer)
            at_all = address(pointer, operand.element, self._parameters.size(operand.offset))
            tiles = self._tiles
            places: list[tuple[Loop, ir.Value]] = [
                (tiles.row, self.row),
                (tiles.column, self.column),
                *zip(tiles.batch, self.batch, strict=True),
            ]
            self._starts[operand.number] = self._moved(at_all, operand, places)
        return self._starts[operand.number]

    def _moved(
        self, where: ir.Value, operand: Operand, places: list[tuple[Loop, ir.Value]]
    ) -> ir.Value:
        work = self._tiles.work
        steps = [(at, loop.stride_of(work, operand.number)) for loop, at in places]
        if all(stride == ZERO for _, stride in steps):
            return where
        return address(where, operand.element, self._parameters.place(ZERO, steps))

    def along_row(self, where: ir.Value, operand: Operand, steps: int) -> ir.Value:
        """The address some steps further along the row."""
        stride = self._tiles.row.stride_of(self._tiles.work, operand.number)
        if steps == 0 or stride == ZERO:
            return where
        by = (
            self._parameters.size(Size(steps) * stride)
            if stride.is_known
            else arith.muli(self._parameters.size(stride), index_constant(steps))
        )
        return address(where, operand.element, by)


def i32() -> ir.Type:
    """What is computed with in a tile."""
    return ir.IntegerType.get_signless(32)


def constant_i32(value: int) -> ir.Value:
    """A constant of it."""
    return constant(i32(), value)


def plus(value: ir.Value, number: int) -> ir.Value:
    """A sum; nothing is emitted where it is the value."""
    return arith.addi(value, constant_i32(number)) if number else value


def times(value: ir.Value, factor: int) -> ir.Value:
    """A product; nothing is emitted where it is the value."""
    return value if factor == 1 else arith.muli(value, constant_i32(factor))


def _index(value: ir.Value) -> ir.Value:
    return arith.index_castui(ir.IndexType.get(), value)
