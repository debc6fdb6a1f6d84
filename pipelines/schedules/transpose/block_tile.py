"""Tiles of two loops, one for each block of threads, and where a block's tile lies."""

from __future__ import annotations

from collections.abc import Iterable

from ....dialects.mlir import arith, gpu, ir
from ....dialects.records import dataclass
from ...i32 import i32_constant, thread_in_block
from ...rewriting import index_constant
from ..elements import address
from ..index_division import divided
from ..parameters import Parameters
from ..size import ZERO, Size
from ..space import Loop
from ..work import Operand, Work
from .configuration import TransposeConfiguration


@dataclass(frozen=True)
class TileShape:
    """Tiles of `row` (contiguous in the outputs) by `column` (contiguous in those of `across`).

    Sides are powers of two.

    Blocks follow one another along the row: what is written then lies together, which is worth
    more to the memory than reading so (4131 GB/s against 4033 on an H200; in squares of 8 by 8
    tiles 3999).
    """

    work: Work
    row: Loop
    column: Loop
    batch: tuple[Loop, ...]
    across: tuple[Operand, ...]
    configuration: TransposeConfiguration

    @property
    def width(self) -> int:
        return self.configuration.width

    @property
    def row_side(self) -> int:
        return self.configuration.row_side

    @property
    def column_side(self) -> int:
        return self.configuration.column_side

    @property
    def threads(self) -> int:
        return self.configuration.threads


@dataclass(frozen=True)
class Spot:
    """Where in its block's tile an access begins, as i32 values."""

    row: ir.Value
    column: ir.Value


class BlockTile:
    """The tile of a block, in code.

    `row` and `column` are the first indices, `batch` those of the other loops: the same in all
    threads. `thread` is the thread's number (i32).
    """

    def __init__(self, shape: TileShape, counts: tuple[Size, Size], parameters: Parameters) -> None:
        """`counts` says how many tiles lie along the row, and along the column."""
        self._shape = shape
        self.parameters = parameters
        self.thread = thread_in_block()
        self._starts: dict[int, ir.Value] = {}
        row, column, self.batch = self._numbers(*counts)
        self.row = arith.muli(row, index_constant(shape.row_side))
        self.column = arith.muli(column, index_constant(shape.column_side))

    def _numbers(self, rows: Size, columns: Size) -> tuple[ir.Value, ir.Value, list[ir.Value]]:
        """Which tile along the row and the column it is, and the others' indices."""
        number = gpu.block_id(gpu.Dimension.x)
        batch: list[ir.Value] = []
        if self._shape.batch:
            rest, number = divided(number, rows * columns, 1, self.parameters)
            for loop in reversed(self._shape.batch[1:]):
                rest, within = divided(rest, loop.extent, 1, self.parameters)
                batch.insert(0, within)
            batch.insert(0, rest)
        column, row = divided(number, rows, 1, self.parameters)
        return row, column, batch

    def start(self, operand: Operand) -> ir.Value:
        """Where an operand's first element of the tile lies.

        What is emitted for it first must come before nested blocks.
        """
        if operand.number not in self._starts:
            pointer = self.parameters.pointer(operand.buffer)
            at_all = address(pointer, operand.element, self.parameters.size(operand.offset))
            shape = self._shape
            places: list[tuple[Loop, ir.Value]] = [
                (shape.row, self.row),
                (shape.column, self.column),
                *zip(shape.batch, self.batch, strict=True),
            ]
            self._starts[operand.number] = self.moved(at_all, operand, places)
        return self._starts[operand.number]

    def moved(
        self, where: ir.Value, operand: Operand, places: Iterable[tuple[Loop, ir.Value]]
    ) -> ir.Value:
        """The address so many (index values) further along loops."""
        work = self._shape.work
        steps = [(at, loop.stride_of(work, operand.number)) for loop, at in places]
        if all(stride == ZERO for _, stride in steps):
            return where
        return address(where, operand.element, self.parameters.place(ZERO, steps))

    def along_row(self, where: ir.Value, operand: Operand, steps: int) -> ir.Value:
        """The address some steps further along the row."""
        return self._stepped(where, operand, self._shape.row, steps)

    def along_column(self, where: ir.Value, operand: Operand, steps: int) -> ir.Value:
        """The address some steps further along the column."""
        return self._stepped(where, operand, self._shape.column, steps)

    def _stepped(self, where: ir.Value, operand: Operand, loop: Loop, steps: int) -> ir.Value:
        stride = loop.stride_of(self._shape.work, operand.number)
        if steps == 0 or stride == ZERO:
            return where
        by = (
            self.parameters.size(Size(steps) * stride)
            if stride.is_known
            else arith.muli(self.parameters.size(stride), index_constant(steps))
        )
        return address(where, operand.element, by)


def plus(value: ir.Value, number: int) -> ir.Value:
    """A sum; nothing is emitted where it is the value."""
    return arith.addi(value, i32_constant(number)) if number else value


def times(value: ir.Value, factor: int) -> ir.Value:
    """A product; nothing is emitted where it is the value."""
    return value if factor == 1 else arith.muli(value, i32_constant(factor))
