"""What a block computes of a step of terms in shared memory, and which results a thread has."""

from __future__ import annotations

from ....dialects.mlir import arith, gpu, ir, vector
from ...rewriting import constant
from ..elements import element_bytes
from ..warp_matrices import COLUMNS, DEPTH, LANES, ROWS, Lane, load_matrices, multiply
from .configuration import Configuration, vector_of
from .form import Form
from .indices import add, byte, i32, number, plus, times
from .side import Side

# A result's row and column in the tile, and neighbours from there on.
Piece = tuple[ir.Value, ir.Value, ir.Value]


class Vectors:
    """Products of vectors: a thread has rows and columns of the tile in groups that lie together.

    A warp has 4 by 8 such threads.
    """

    def __init__(self, form: Form, made: Configuration, sides: tuple[Side, Side]) -> None:
        self._form, self._made, self._sides = form, made, sides
        self._unit = vector_of(element_bytes(form.total))
        self._row_unit = min(self._unit, made.thread_rows)
        self._groups = made.thread_columns // self._unit
        across = made.columns // made.thread_columns
        lanes_x = min(8, across)
        lanes_y = LANES // lanes_x
        thread = arith.index_castui(i32(), gpu.thread_id(gpu.Dimension.x))
        lane = arith.andi(thread, number(LANES - 1))
        warp = arith.shrui(thread, number(5))
        warps_x = number(across // lanes_x)
        lanes = number(lanes_x)
        x = add(times(arith.remui(warp, warps_x), lanes_x), arith.remui(lane, lanes))
        y = add(times(arith.divui(warp, warps_x), lanes_y), arith.divui(lane, lanes))
        self._places = (y, x)

    def start(self) -> list[ir.Value]:
        """The sums of no terms, in vectors of columns."""
        zeros = constant(ir.VectorType.get([self._unit], self._form.total), 0)
        return [zeros] * (self._made.thread_rows * self._groups)

    def add(self, start: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the products of the step at an address of shared memory, in the order of terms."""
        made = self._made
        for term in range(made.terms):
            rows = self._fragment(0, start, term)
            columns = self._fragment(1, start, term)
            for row in range(made.thread_rows):
                value = vector.extract(rows[row // self._row_unit], [], [row % self._row_unit])
                spread = vector.broadcast(columns[0].type, value)
                for group, other in enumerate(columns):
                    place = row * self._groups + group
                    sums[place] = self._add_product(sums[place], spread, other)
        return sums

    def pieces(self, sums: list[ir.Value]) -> list[Piece]:
        """The thread's sums, and where they lie in the tile."""
        made, found = self._made, list[Piece]()
        down = made.rows // made.thread_rows * self._row_unit
        across = made.columns // made.thread_columns * self._unit
        y, x = self._places
        for place, value in enumerate(sums):
            row, group = divmod(place, self._groups)
            far, near = divmod(row, self._row_unit)
            found.append(
                (
                    plus(times(y, self._row_unit), near + far * down),
                    plus(times(x, self._unit), group * across),
                    value,
                )
            )
        return found

    def _add_product(self, total: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
        if isinstance(self._form.total, ir.FloatType):
            return vector.fma(one, other, total)
        return arith.addi(total, arith.muli(one, other))

    def _fragment(self, place: int, start: ir.Value, term: int) -> list[ir.Value]:
        """The thread's elements of a factor for a term, in vectors of neighbours."""
        made, side = self._made, self._sides[place]
        count = (made.thread_rows, made.thread_columns)[place]
        unit = (self._row_unit, self._unit)[place]
        across = (made.rows, made.columns)[place] // count
        base = self._sides[0].stage_bytes if place else 0
        found: list[ir.Value] = []
        for group in range(count // unit):
            shift = base + (term * side.pitch + group * across * unit) * side.bytes
            where = byte(start, plus(times(self._places[place], unit * side.bytes), shift))
            kind = ir.VectorType.get([unit], side.factor.element)
            found.append(_load_vector(where, kind, unit * side.bytes))
        return found


class Matrices:
    """Products of matrices of 16-bit elements, summed in f32: a warp has rows and columns."""

    def __init__(self, form: Form, made: Configuration, sides: tuple[Side, Side]) -> None:
        self._form, self._made, self._sides = form, made, sides
        size = made.thread_rows * made.thread_columns * LANES
        self._rows = 2 * ROWS if size >= 4 * ROWS * ROWS else ROWS
        self._columns = size // self._rows
        self._lane = lane = Lane()
        across = number(made.columns // self._columns)
        first, second = sides
        self._row = times(arith.divui(lane.warp, across), self._rows)
        self._column = times(arith.remui(lane.warp, across), self._columns)
        # Both factors lie by terms, and are turned as they are read.
        row_bytes = times(self._row, first.bytes)
        self._first = add(lane.second_operand(first.pitch * first.bytes), row_bytes)
        column_bytes = times(self._column, second.bytes)
        self._second = plus(
            add(lane.first_operand(second.pitch * second.bytes), column_bytes), first.stage_bytes
        )

    def start(self) -> list[ir.Value]:
        """The sums of no terms: four numbers of each product of matrices."""
        zero = constant(self._form.total, 0)
        return [zero] * (self._rows // ROWS * (self._columns // COLUMNS) * 4)

    def add(self, start: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the products of the step at an address of shared memory."""
        first, second = self._sides
        for term in range(0, self._made.terms, DEPTH):
            rows = [
                self._read(start, self._first, first, term, row)
                for row in range(0, self._rows, ROWS)
            ]
            for column in range(0, self._columns, 2 * COLUMNS):
                words = self._read(start, self._second, second, term, column)
                for half in range(2):
                    for row, a in enumerate(rows):
                        place = self._place(row, column // COLUMNS + half)
                        total = sums[place : place + 4]
                        b = words[2 * half : 2 * half + 2]
                        sums[place : place + 4] = multiply(a, b, total, first.factor.element)
        return sums

    def pieces(self, sums: list[ir.Value]) -> list[Piece]:
        """The thread's sums, and where they lie in the tile."""
        found: list[Piece] = []
        pair = ir.VectorType.get([2], self._form.total)
        for row in range(self._rows // ROWS):
            for column in range(self._columns // COLUMNS):
                place = self._place(row, column)
                at = add(self._column, plus(times(self._lane.pair, 2), column * COLUMNS))
                for half in range(2):
                    down = add(self._row, plus(self._lane.group, row * ROWS + half * ROWS // 2))
                    both = sums[place + 2 * half : place + 2 * half + 2]
                    found.append((down, at, vector.from_elements(pair, both)))
        return found

    def _place(self, row: int, column: int) -> int:
        return 4 * (row * (self._columns // COLUMNS) + column)

    def _read(
        self, start: ir.Value, own: ir.Value, side: Side, term: int, at: int
    ) -> list[ir.Value]:
        where = plus(own, (term * side.pitch + at) * side.bytes)
        return load_matrices(byte(start, where), transposed=True)


def _load_vector(where: ir.Value, kind: ir.Type, alignment: int) -> ir.Value:
    return ir.Operation.create(
        "llvm.load", results=[kind], operands=[where], attributes=_aligned(alignment)
    ).results[0]


def store_vector(where: ir.Value, value: ir.Value, alignment: int) -> None:
    """Writes a vector to an address that is a multiple of so many bytes."""
    ir.Operation.create("llvm.store", operands=[value, where], attributes=_aligned(alignment))


def _aligned(alignment: int) -> dict[str, ir.Attribute]:
    i64 = ir.IntegerType.get_signless(64)
    return {"alignment": ir.IntegerAttr.get(i64, alignment)}
