"""Tiles whose segment of each column begins where an access is aligned, whatever rows are long.

An access of 16 bytes is aligned at other elements in each column of the outputs, where columns lie
an odd number of elements apart. A tile therefore takes in each column the segment of `row_side`
elements that begins at the last aligned address up to its own first row: up to `skew` elements
before it. All those rows of the operands across are read.
"""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...i32 import i32, i32_constant
from ..elements import ACCESS_BYTES
from ..parameters import Parameters
from ..size import Size
from ..work import Operand
from .block_tile import BlockTile, TileShape, plus, times

# What segments' addresses are multiples of: a sector of memory. Twice as much costs more rows.
_SEGMENT_BYTES = 32
# A warp's vectors: so many one after another in a column, in columns of so many places 16 bytes
# apart.
_LANES = 8
_COLUMNS = 4
_WARP = _LANES * _COLUMNS


@dataclass(frozen=True)
class SkewedTiles(TileShape):
    """All operands across and all outputs have elements of `element` bytes.

    `aligned` are the direct operands that are read in vectors.
    """

    element: int
    aligned: tuple[Operand, ...]

    @property
    def is_for_any(self) -> bool:
        """Whether it takes operands at any addresses, and of any strides that are open."""
        return not self.aligned and len(self.work.outputs) == 1

    @property
    def skew(self) -> int:
        """How many elements before the tile's first row a segment may begin."""
        return _SEGMENT_BYTES // self.element - 1

    @property
    def rows(self) -> int:
        """How many rows of the operands across a tile needs."""
        return self.row_side + self.skew

    @property
    def pieces(self) -> int:
        """The aligned pieces of 16 bytes that cover a row of those, wherever it begins."""
        return self.column_side * self.element // ACCESS_BYTES + 1

    @property
    def least_pitch(self) -> int:
        """How many bytes rows are apart in shared memory, but for what their stride leaves of 16.

        With 16 more a warp's accesses to elements of two bytes meet in 8 ways, not 16, where rows
        are a multiple of four elements.
        """
        return (self.pieces + (self.element == 2)) * ACCESS_BYTES

    @property
    def area_bytes(self) -> int:
        """Shared memory that one operand across takes at most."""
        return self.rows * (self.least_pitch + ACCESS_BYTES - 1) + ACCESS_BYTES

    @property
    def rounds(self) -> int:
        """The vectors of a thread."""
        return self.row_side * self.column_side // self.width // self.threads


def fits(row_side: int, column_side: int, width: int) -> bool:
    """Returns whether warps of vectors fill tiles of such sides."""
    return row_side >= _LANES * width and column_side >= _COLUMNS * width


@dataclass(frozen=True)
class Vector:
    """One of a thread's vectors: rows from `row` (which may be negative) on, in a column.

    `row_step` and `column_step` are how far it lies from the thread's first one but for the skew.
    """

    row: ir.Value
    column: ir.Value
    skew: ir.Value
    row_step: int
    column_step: int


class SkewedTile(BlockTile):
    """The tile of a block, and where a thread's vectors lie in it.

    `row_0` and `column_0` are where the thread's first one lies, but for the skew; `turn` is the
    place among its warp's columns.
    """

    def __init__(
        self, tiles: SkewedTiles, counts: tuple[Size, Size], parameters: Parameters
    ) -> None:
        super().__init__(tiles, counts, parameters)
        self._tiles = tiles
        first = tiles.work.outputs[0]
        i64, width = ir.IntegerType.get_signless(64), tiles.width
        self._phase = arith.trunci(i32(), address_number(self.start(first)))
        stride = parameters.size(tiles.column.stride_of(tiles.work, first.number))
        step = arith.trunci(i32(), arith.index_cast(i64, stride))
        self._step = times(step, tiles.element)
        lane = arith.andi(self.thread, i32_constant(_WARP - 1))
        self.turn = arith.shrui(lane, i32_constant(_LANES.bit_length() - 1))
        warp = arith.shrui(self.thread, i32_constant(_WARP.bit_length() - 1))
        unit, near, far = self._fields(warp)
        place = arith.andi(lane, i32_constant(_LANES - 1))
        self.row_0 = times(arith.addi(place, times(unit, _LANES)), width)
        column = arith.addi(near, times(self.turn, width))
        self.column_0 = arith.addi(column, times(far, _COLUMNS * width))

    def _fields(self, number: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
        """A warp's number in a tile as bits: along the row, next to each other, and the others."""
        units, width = self._units, self._tiles.width
        above = arith.shrui(number, i32_constant(units.bit_length() - 1))
        return (
            arith.andi(number, i32_constant(units - 1)),
            arith.andi(above, i32_constant(width - 1)),
            arith.shrui(above, i32_constant(width.bit_length() - 1)),
        )

    @property
    def _units(self) -> int:
        """How many warps' vectors lie along the row."""
        return self._tiles.row_side // self._tiles.width // _LANES

    def vector(self, number: int) -> Vector:
        """The thread's vector of a number."""
        width = self._tiles.width
        warps = number * (self._tiles.threads // _WARP)
        unit, above = warps % self._units, warps // self._units
        row_step = unit * _LANES * width
        column_step = above % width + above // width * _COLUMNS * width
        column = plus(self.column_0, column_step)
        skew = self.skew(column)
        row = arith.subi(plus(self.row_0, row_step), skew)
        return Vector(row, column, skew, row_step, column_step)

    def skew(self, column: ir.Value) -> ir.Value:
        """Returns how many elements before the tile's first row a column's segment begins."""
        phase = arith.addi(self._phase, arith.muli(column, self._step))
        past = arith.andi(phase, i32_constant(_SEGMENT_BYTES - 1))
        return arith.shrui(past, i32_constant(self._tiles.element.bit_length() - 1))


def address_number(pointer: ir.Value) -> ir.Value:
    """An address as an i64 value."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.Operation.create("llvm.ptrtoint", results=[i64], operands=[pointer]).results[0]
