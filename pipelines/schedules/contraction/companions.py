"""Companions of a product: operands with an element for each result, such as a residual.

The copy engine brings their part of a tile as it does the factors', in steps through the same ring
of stages: after the last terms of a tile, while these are multiplied. A step is of some columns of
all companions, in boxes of 128 bytes of each row. In shared memory these are swizzled: a row has
its pieces of 16 bytes in an order of its own, so that a warp's lanes meet in no bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...i32 import i32
from ...walking import is_used
from ..elements import ACCESS_BYTES, WORD_BYTES, element_bytes, elements_of_words, load
from ..size import ONE, ZERO, Size
from ..warpgroup_matrices import MOST_DIMS, ROW_BYTES, STRIDE_BYTES, THREADS
from ..work import Operand
from .form import Form
from .indices import add, byte, number, plus, times

# Neighbouring columns that a thread stores of 16-bit results: a tile's, which four lanes share.
RUN = 8
# The columns of which a lane has a run where it has runs.
_TOGETHER = 32
# The bytes of elements: a lane's two columns are a word, or two.
_BYTES = (2, 4)


@dataclass(frozen=True)
class Companion:
    """How the copy engine sees an operand with an element for each result.

    `dims` are the loops of each dim, innermost first: columns, rows, and those around them.
    """

    operand: Operand
    dims: tuple[tuple[int, ...], ...]

    @property
    def bytes(self) -> int:
        """The bytes of an element."""
        return element_bytes(self.operand.element)

    @property
    def columns(self) -> int:
        """The columns of a box."""
        return ROW_BYTES // self.bytes


@dataclass(frozen=True)
class Box:
    """A box of a companion: its columns of a tile from `column` on, `at` bytes of a stage."""

    companion: Companion
    column: int
    at: int


def is_row(form: Form, loops: Sequence[int], strides: Sequence[Size]) -> bool:
    """Returns whether loops step through memory as one."""
    return all(
        strides[outer] == strides[inner] * form.work.extents[inner]
        for outer, inner in pairwise(loops)
    )


def read_companion(
    form: Form,
    operand: Operand,
    rows: tuple[int, ...],
    columns: tuple[int, ...],
    outer: tuple[int, ...],
) -> Companion | None:
    """Returns how an operand's part of tiles is copied; None where it is not."""
    strides, bytes_ = operand.strides, element_bytes(operand.element)
    if operand in (form.first.operand, form.second.operand) or bytes_ not in _BYTES:
        return None
    if not is_used(form.work.block.arguments[operand.number]):
        return None
    if strides[columns[-1]] != ONE or strides[rows[-1]] == ZERO:
        return None
    # What is stored together is computed of what is loaded together.
    if not form.count_of(columns).is_multiple_of(RUN):
        return None
    if not all(is_row(form, loops, strides) for loops in (rows, columns)):
        return None
    dims = (columns, rows, *((loop,) for loop in outer if strides[loop] != ZERO))
    steps = [strides[loops[-1]] for loops in dims[1:]]
    if len(dims) > MOST_DIMS:
        return None
    if any(step.is_known and step.known * bytes_ % STRIDE_BYTES for step in steps):
        return None
    return Companion(operand, dims)


def steps_of(
    companions: Sequence[Companion], rows: int, columns: int, stage_bytes: int
) -> list[list[Box]]:
    """Returns the boxes of each step of a tile, of as many companions as a stage has room for.

    The last may reach beyond the tile.
    """
    chosen: list[Companion] = []
    for each in companions:
        width = _width([*chosen, each])
        if _bytes([*chosen, each], rows, width) <= stage_bytes:
            chosen.append(each)
    if not chosen:
        return []
    width = _width(chosen)
    count = -(-columns // width)
    steps = -(-count // (stage_bytes // _bytes(chosen, rows, width)))
    size = -(-count // steps) * width
    return [
        _boxes(chosen, rows, range(first, min(first + size, columns)))
        for first in range(0, columns, size)
    ]


def _width(companions: Sequence[Companion]) -> int:
    """Returns the columns of whole boxes of all."""
    return max(each.columns for each in companions)


def _bytes(companions: Sequence[Companion], rows: int, columns: int) -> int:
    return rows * columns * sum(each.bytes for each in companions)


def _boxes(companions: Sequence[Companion], rows: int, columns: range) -> list[Box]:
    """Returns the boxes of some columns, one behind the other."""
    places = [(each, column) for each in companions for column in columns[:: each.columns]]
    size = rows * ROW_BYTES
    return [Box(each, column, size * at) for at, (each, column) in enumerate(places)]


@dataclass(frozen=True)
class Lanes:
    """Where a lane has sums: `quad` of 8 columns, `group` of 8 rows from the warp's `first` on.

    Of four tiles of 8 columns it has a pair each; where it `has_runs`, these follow one another.
    """

    quad: ir.Value
    group: ir.Value
    first: ir.Value
    has_runs: bool = False

    def pair(self, tile: int) -> ir.Value:
        """Returns the first column of the lane's pair of one of four tiles."""
        if self.has_runs:
            return plus(times(self.quad, RUN), 2 * tile)
        return plus(times(self.quad, 2), RUN * tile)

    @property
    def row(self) -> ir.Value:
        return add(self.first, self.group)


class Arrived:
    """The boxes of a step in the stage that begins at `start`."""

    def __init__(self, boxes: Sequence[Box], start: ir.Value, lanes: Lanes) -> None:
        self._boxes, self._start, self._lanes = boxes, start, lanes
        self._loaded: dict[tuple[Box, int, int], list[ir.Value]] = {}

    def words(self, rows: int) -> int:
        """Returns how many words a thread of a warpgroup that has all `rows` has of them."""
        return len(self._boxes) * rows * ROW_BYTES // (WORD_BYTES * THREADS)

    def load(self, down: int, column: int) -> None:
        """Loads the lane's elements of 8 columns, in the row `down` rows below its first.

        `down` and `column` are multiples of 8.
        """
        for box in self._boxes_of(column):
            self._words(box, down, column)

    def pairs(self, down: int, column: int) -> dict[int, list[ir.Value]]:
        """Returns these elements, two of each companion, by operands' numbers."""
        return {
            box.companion.operand.number: elements_of_words(
                self._words(box, down, column), box.companion.operand.element
            )
            for box in self._boxes_of(column)
        }

    def _boxes_of(self, column: int) -> list[Box]:
        return [box for box in self._boxes if 0 <= column - box.column < box.companion.columns]

    def _words(self, box: Box, down: int, column: int) -> list[ir.Value]:
        """Returns the words of a pair: of elements alone registers would hold half as many."""
        size = 2 * box.companion.bytes
        first, count = column, 1
        if self._lanes.has_runs:
            first, count = column // _TOGETHER * _TOGETHER, _TOGETHER // RUN
        key = box, down, first
        if key not in self._loaded:
            bytes_ = size * count
            swizzled = arith.xori(
                times(self._lanes.quad, bytes_), times(self._lanes.group, ACCESS_BYTES)
            )
            row = plus(self._lanes.row, down)
            start = byte(self._start, plus(times(row, ROW_BYTES), box.at))
            words: list[ir.Value] = []
            for far in range(0, bytes_, ACCESS_BYTES):
                inside = number((first - box.column) * box.companion.bytes + far)
                piece = min(bytes_, ACCESS_BYTES)
                where = byte(start, arith.xori(swizzled, inside))
                words += load(where, i32(), piece // WORD_BYTES, piece)
            self._loaded[key] = words
        own = size // WORD_BYTES
        at = (column - first) // RUN * own
        return self._loaded[key][at : at + own]
