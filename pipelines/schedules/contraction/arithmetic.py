"""What a block computes of a step of terms in shared memory, and which results a thread has."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, ir, vector
from ...i32 import i32, thread_in_block
from ...rewriting import constant
from ..elements import element_bytes, load
from ..warp_matrices import (
    COLUMNS,
    DEPTH_BYTES,
    LANES,
    MATRIX_BYTES,
    ROWS,
    Lane,
    load_matrices,
    multiply,
    rounded,
)
from ..warpgroup_matrices import ROWS as WARPGROUP_ROWS
from ..warpgroup_matrices import THREADS as WARPGROUP_THREADS
from ..warpgroup_matrices import (
    Sums,
    begin_products,
    commit_products,
    matrix_descriptor,
    moved,
)
from .configuration import ROW_BYTES, Tiling, vector_of
from .form import Form
from .indices import add, byte, number, plus, times
from .side import Side

# The part of a step's terms after which what is to go on meanwhile is begun.
_LATE = 3 / 4
# A result's row and column in the tile, and neighbours from there on.
Piece = tuple[ir.Value, ir.Value, ir.Value]
# The addresses from which on both factors' tiles of a step lie.
Starts = tuple[ir.Value, ir.Value]


class Vectors:
    """Products of vectors: a thread has rows and columns of the tile in groups that lie together.

    A warp has 4 by 8 such threads, or as many rows or columns of them as a tile has. In quarters of
    4 by 2 they would read a third less from shared memory, at 1 % less time, and write results into
    few banks, which took short sums up to 16 % more.
    """

    def __init__(self, form: Form, made: Tiling, sides: tuple[Side, Side]) -> None:
        self._form, self._made, self._sides = form, made, sides
        self._unit = vector_of(element_bytes(form.total))
        self._row_unit = min(self._unit, made.thread_rows)
        self._groups = made.thread_columns // self._unit
        across, down = made.columns // made.thread_columns, made.rows // made.thread_rows
        lanes_x = max(min(8, across), LANES // down)
        lanes_y = LANES // lanes_x
        thread = thread_in_block()
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

    def add(
        self,
        starts: Starts,
        sums: list[ir.Value],
        meanwhile: Callable[[], None] | None = None,
    ) -> list[ir.Value]:
        """Adds the products of the step at addresses of shared memory, in the order of terms."""
        made = self._made
        owns = [
            byte(start, times(each, unit * side.bytes))
            for start, each, unit, side in zip(
                starts, self._places, (self._row_unit, self._unit), self._sides, strict=True
            )
        ]
        for term in range(made.terms):
            if meanwhile is not None and term == int(made.terms * _LATE):
                meanwhile()
            rows = self._fragment(0, owns[0], term)
            columns = self._fragment(1, owns[1], term)
            for row in range(made.thread_rows):
                part, place = rows[row // self._row_unit], row % self._row_unit
                spread = vector.shuffle(part, part, [place] * self._unit)
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
        form = self._form
        is_float = isinstance(form.total, ir.FloatType)
        if form.pair is not None:
            term = form.pair.emit({form.first.value: one, form.second.value: other})
            return arith.addf(total, term) if is_float else arith.addi(total, term)
        if is_float:
            return vector.fma(one, other, total)
        return arith.addi(total, arith.muli(one, other))

    def _fragment(self, place: int, own: ir.Value, term: int) -> list[ir.Value]:
        """The thread's elements of a factor for a term, in vectors of neighbours.

        The first of the step lies at the address `own`; it would, were the tile at its begin.
        """
        made, side = self._made, self._sides[place]
        count = (made.thread_rows, made.thread_columns)[place]
        unit = (self._row_unit, self._unit)[place]
        across = (made.rows, made.columns)[place] // count
        base = side.base
        found: list[ir.Value] = []
        for group in range(count // unit):
            shift = base + (term * side.pitch + group * across * unit) * side.bytes
            where = byte(own, number(shift))
            kind = ir.VectorType.get([unit], side.factor.element)
            found.append(_load_vector(where, kind, unit * side.bytes))
        return found


class Matrices:
    """Products of matrices by warps, each of which computes some rows and columns."""

    def __init__(self, form: Form, made: Tiling, sides: tuple[Side, Side]) -> None:
        self._form, self._made, self._sides = form, made, sides
        size = made.thread_rows * made.thread_columns * LANES
        # As square as may be.
        self._rows = next(rows for rows in (64, 32, 16) if rows * rows <= size)
        self._columns = size // self._rows
        self._lane = lane = Lane()
        assert form.kinds is not None
        self._kinds = form.kinds
        # How many terms a product has.
        self._depth = DEPTH_BYTES // sides[0].bytes
        across = number(made.columns // self._columns)
        first, second = sides
        self._row = times(arith.divui(lane.warp, across), self._rows)
        self._column = times(arith.remui(lane.warp, across), self._columns)
        self._first = self._lane_places(first, self._row, is_second=False)
        self._second = self._lane_places(second, self._column, is_second=True)

    def _lane_places(self, side: Side, row: ir.Value, *, is_second: bool) -> list[ir.Value]:
        """Where the lane reads of each product of a step, for the warp's first row or column."""
        base = side.base
        steps = range(self._made.terms // self._depth)
        lane = self._lane
        if side.is_by_row:
            own_row, piece = lane.columns_pieces() if is_second else lane.rows_pieces()
            start = plus(times(add(row, own_row), side.pitch * side.bytes), base)
            return [
                add(start, times(side.swizzled(own_row, plus(piece, 2 * step)), MATRIX_BYTES))
                for step in steps
            ]
        pitch = side.pitch * side.bytes
        if self._form.is_rounded:
            own = add(times(lane.pair, pitch), times(lane.group, side.bytes))
        else:
            # What lies by terms is turned as it is read: the other operand's places are its own.
            own = lane.first_operand(pitch) if is_second else lane.second_operand(pitch)
        place = plus(add(own, times(row, side.bytes)), base)
        return [plus(place, step * self._depth * pitch) for step in steps]

    def start(self) -> list[ir.Value]:
        """The sums of no terms: four numbers of each product of matrices."""
        zero = constant(self._form.total, 0)
        return [zero] * (self._rows // ROWS * (self._columns // COLUMNS) * 4)

    def add(self, starts: Starts, sums: list[ir.Value]) -> list[ir.Value]:
        """Adds the products of the step at addresses of shared memory."""
        first, second = self._sides
        for step in range(self._made.terms // self._depth):
            rows = [
                self._read(starts[0], self._first[step], first, row)
                for row in range(0, self._rows, ROWS)
            ]
            for column in range(0, self._columns, 2 * COLUMNS):
                words = self._read(starts[1], self._second[step], second, column)
                for half in range(2):
                    for row, a in enumerate(rows):
                        place = self._place(row, column // COLUMNS + half)
                        total = sums[place : place + 4]
                        b = words[2 * half : 2 * half + 2]
                        sums[place : place + 4] = multiply(a, b, total, self._kinds)
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

    def _read(self, start: ir.Value, own: ir.Value, side: Side, at: int) -> list[ir.Value]:
        """The lane's words of 16 rows, or columns, from the tile's `at`-th on."""
        far = at * side.bytes * (side.pitch if side.is_by_row else 1)
        if not self._form.is_rounded:
            return load_matrices(byte(start, plus(own, far)), transposed=not side.is_by_row)
        if side.is_by_row:
            words = load_matrices(byte(start, plus(own, far)))
        else:
            # Two rows 8 apart, and two terms 4 apart: of columns terms come first.
            deep, down = self._depth // 2 * side.pitch, ROWS // 2
            steps = (down, deep) if side is self._sides[0] else (deep, down)
            places = (0, *steps, deep + down)
            words = [
                load(byte(start, plus(own, far + place * side.bytes)), i32(), 1, side.bytes)[0]
                for place in places
            ]
        return [rounded(word) for word in words]


class WarpgroupMatrices:
    """Products of matrices by warpgroups, from row-major tiles (wgmma).

    Each warpgroup computes 64 rows of the tile, and all of its columns or an equal part of them.
    """

    def __init__(self, form: Form, made: Tiling, sides: tuple[Side, Side]) -> None:
        self._made, self._sides, self._is_promoted = made, sides, form.is_promoted
        assert form.kinds is not None
        self._kinds = form.kinds
        self._lane = lane = Lane()
        down = made.rows // WARPGROUP_ROWS
        groups = made.threads // WARPGROUP_THREADS
        self._columns = made.columns * down // groups
        group = arith.shrui(lane.thread, number(WARPGROUP_THREADS.bit_length() - 1))
        self._row = times(arith.remui(group, number(down)), WARPGROUP_ROWS)
        self._column = times(arith.divui(group, number(down)), self._columns)
        self._sums = Sums(self._columns, form.total)

    def start(self) -> list[ir.Value]:
        """The sums of no terms: the numbers of a thread."""
        return [constant(self._sums.total, 0)] * self._sums.count

    def begin(self, starts: Starts, sums: list[ir.Value]) -> ir.Value:
        """Begins to add the products of the step at addresses of shared memory."""
        first, second = self._sides
        begin_products()
        found = self._sums.undefined() if self._is_promoted else self._sums.of(sums)
        a, b = (
            matrix_descriptor(byte(start, plus(times(own, ROW_BYTES), side.base)), 0)
            for start, own, side in zip(
                starts, (self._row, self._column), (first, second), strict=True
            )
        )
        for step in range(ROW_BYTES // DEPTH_BYTES):
            a_at, b_at = (moved(each, step * DEPTH_BYTES) for each in (a, b))
            found = self._sums.multiply(
                *(found, a_at, b_at, self._kinds),
                along_terms=(True, True),
                adds=step > 0 or not self._is_promoted,
            )
        commit_products()
        return found

    def end(self, found: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Waits for what was begun; the sums."""
        (whole,) = self._sums.complete([found])
        if not self._is_promoted:
            return whole
        return [arith.addf(one, other) for one, other in zip(sums, whole, strict=True)]

    def pieces(self, sums: list[ir.Value]) -> list[Piece]:
        """The thread's sums, and where they lie in the tile."""
        found: list[Piece] = []
        pair = ir.VectorType.get([2], self._sums.total)
        warp = arith.andi(self._lane.warp, number(3))
        row = add(self._row, add(times(warp, ROWS), self._lane.group))
        for place in range(0, self._sums.count, 2):
            column, half = divmod(place, 4)
            at = add(self._column, plus(times(self._lane.pair, 2), column * COLUMNS))
            down = plus(row, half // 2 * (ROWS // 2))
            found.append((down, at, vector.from_elements(pair, sums[place : place + 2])))
        return found


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
