"""What a contraction's kernels do with sums: compute what follows, and store it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...i32 import is_below
from ...rewriting import constant
from ...walking import is_used
from ..elements import address, element_bytes, load, store
from ..region import Point
from ..work import Operand
from .indices import Indices, Numbers, add, both, number, plus, times

# Results that a thread has under way.
_AT_ONCE = 4


@contextmanager
def inside(condition: ir.Value | None) -> Generator[None]:
    """Inserts where a condition holds; None always does."""
    if condition is None:
        yield
        return
    with ir.InsertionPoint(scf.IfOp(condition).then_block):
        yield
        scf.YieldOp([])


@dataclass(frozen=True)
class Results:
    """The results of a tile of `rows` and `columns`, in a block of so many threads.

    `first_row` and `first_column` are where the tile begins, `batch` the indices of other loops.
    """

    numbers: Numbers
    thread: ir.Value
    threads: int
    rows: int
    columns: int
    first_row: ir.Value
    first_column: ir.Value
    batch: Indices

    def store(
        self, first: ir.Value, rows: int, value: Callable[[ir.Value, ir.Value], ir.Value]
    ) -> None:
        """Computes and stores so many rows from `first` on, of sums given by row and column.

        Neighbouring threads take neighbouring columns.
        """
        width = min(self.columns, self.threads)
        column = arith.andi(self.thread, number(width - 1))
        row = add(first, arith.shrui(self.thread, number(width.bit_length() - 1)))
        step = self.threads // width
        if width == self.columns:
            self._store_column(column, row, step, rows // step, value)
            return
        loop = scf.ForOp(number(0), number(self.columns), number(width))
        with ir.InsertionPoint(loop.body):
            own = add(column, loop.induction_variable)
            self._store_column(own, row, step, rows // step, value)
            scf.YieldOp([])

    def _store_column(
        self,
        column: ir.Value,
        row: ir.Value,
        step: int,
        count: int,
        value: Callable[[ir.Value, ir.Value], ir.Value],
    ) -> None:
        """Computes and stores so many results of a column, every `step`-th from a row on."""
        form = self.numbers.form
        at = add(self.first_column, column)
        extent = form.count_of(form.columns)
        columns = self.numbers.whole(self.numbers.split(at, form.columns))
        holds = self.numbers.are_there(columns)
        if not extent.is_multiple_of(self.columns):
            holds = both(holds, is_below(at, self.numbers.size(extent)))
        with inside(holds):
            at_once = min(_AT_ONCE, count)
            loop = scf.ForOp(number(0), number(count), number(at_once))
            with ir.InsertionPoint(loop.body):
                start = add(row, times(loop.induction_variable, step))
                rows_at = [plus(start, each * step) for each in range(at_once)]
                sums = [value(each, column) for each in rows_at]
                self._store_rows(rows_at, columns, sums)
                scf.YieldOp([])

    def _store_rows(
        self, rows: Sequence[ir.Value], columns: Indices, sums: Sequence[ir.Value]
    ) -> None:
        """Loads what several results need, computes them, and stores them."""
        form, numbers = self.numbers.form, self.numbers
        extent = form.count_of(form.rows)
        is_whole = extent.is_multiple_of(self.rows)
        points: list[tuple[Point, dict[int, ir.Value], ir.Value | None]] = []
        for row, total in zip(rows, sums, strict=True):
            at = add(self.first_row, row)
            # Rows beyond the last load what the last ones do.
            last = plus(numbers.size(extent), -1)
            near = at if is_whole else arith.minui(at, last)
            own = numbers.whole(numbers.split(near, form.rows))
            more = holds = numbers.are_there(own)
            if not is_whole:
                holds = both(more, is_below(at, numbers.size(extent)))
            if more is not None:
                own = {
                    loop: arith.minui(index, plus(numbers.size(form.work.extents[loop]), -1))
                    for loop, index in own.items()
                }
            indices = {**own, **columns, **self.batch}
            points.append((self._point(indices, total), indices, holds))
        results = [[point.value(each) for each in numbers.region.yielded] for point, _, _ in points]
        for (_, indices, holds), values in zip(points, results, strict=True):
            with inside(holds):
                for operand, value in zip(form.work.outputs, values, strict=True):
                    where = self._where(operand, indices)
                    store(where, operand.element, [value], element_bytes(operand.element))

    def _point(self, indices: Indices, total: ir.Value) -> Point:
        """The region past its sum, with all that it reads loaded."""
        form = self.numbers.form
        loaded = {
            operand.number: self._load(operand, indices)
            for operand in form.work.inputs
            if operand not in (form.first.operand, form.second.operand)
            and is_used(form.work.block.arguments[operand.number])
        }

        def element(operand: int) -> ir.Value:
            found = loaded.get(operand)
            if found is None:
                (own,) = (each for each in form.work.operands if each.number == operand)
                found = loaded[operand] = self._load(own, indices)
            return found

        point = Point(
            self.numbers.region,
            frozenset(range(len(form.work.extents))),
            element,
            lambda loop: self._index(loop, indices),
        )
        point.known[form.sum.results[0]] = total
        return point

    def _load(self, operand: Operand, indices: Indices) -> ir.Value:
        where = self._where(operand, indices)
        return load(where, operand.element, 1, element_bytes(operand.element))[0]

    def _where(self, operand: Operand, indices: Indices) -> ir.Value:
        place = self.numbers.place(operand.offset, operand.strides, indices)
        pointer = self.numbers.parameters.pointer(operand.buffer)
        return address(pointer, operand.element, place)

    def _index(self, loop: int, indices: Indices) -> ir.Value:
        index = ir.IndexType.get()
        found = indices.get(loop)
        return constant(index, 0) if found is None else arith.index_castui(index, found)
