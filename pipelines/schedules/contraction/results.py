"""What a contraction's kernels do with sums: compute what follows, and store it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...i32 import is_below
from ...rewriting import constant
from ...walking import is_used
from ..combine import combine
from ..elements import address, element_bytes, load, store
from ..region import Point
from ..warp_matrices import LANES
from ..work import Operand
from .configuration import power_of_two_from
from .indices import Indices, Numbers, add, both, number, plus, times
from .statistics import Partials, is_virtual
from .tile_statistics import Stored, all_of, fold, inside, where_there

# Results that a thread has under way; more where lanes exchange them, five times one after another.
_AT_ONCE, _EXCHANGED_AT_ONCE = 4, 16


@dataclass(frozen=True)
class _Unit:
    """A unit of columns by its number, if it `holds`, of the threads that are `among` its own."""

    number: ir.Value
    holds: ir.Value | None
    among: ir.Value | None = None

    def of(self, kind: str, value: ir.Value) -> ir.Value:
        """Returns what the thread has of it."""
        return where_there(kind, value, self.among)


@dataclass(frozen=True)
class Results:
    """The results of a tile of `rows` and `columns`, in a block of so many threads.

    `first_row` and `first_column` are where the tile begins, `batch` the indices of other loops;
    `stored` is where partials of statistics go.
    """

    numbers: Numbers
    thread: ir.Value
    threads: int
    rows: int
    columns: int
    first_row: ir.Value
    first_column: ir.Value
    batch: Indices
    stored: Sequence[Stored] = ()

    def store(
        self, first: ir.Value, rows: int, value: Callable[[ir.Value, ir.Value], ir.Value]
    ) -> None:
        """Computes and stores so many rows from `first` on, of sums given by row and column.

        Neighbouring threads take neighbouring columns, of a power of two.
        """
        lanes = power_of_two_from(self.columns)
        width = min(lanes, self.threads)
        column = arith.andi(self.thread, number(width - 1))
        row = add(first, arith.shrui(self.thread, number(width.bit_length() - 1)))
        step = self.threads // width
        if width == lanes:
            self._store_column(column, row, step, rows // step, value, first)
            return
        loop = scf.ForOp(number(0), number(self.columns), number(width))
        with ir.InsertionPoint(loop.body):
            own = add(column, loop.induction_variable)
            self._store_column(own, row, step, rows // step, value, first)
            scf.YieldOp([])

    def _store_column(
        self,
        column: ir.Value,
        row: ir.Value,
        step: int,
        count: int,
        value: Callable[[ir.Value, ir.Value], ir.Value],
        first: ir.Value,
    ) -> None:
        """Computes and stores so many results of a column, every `step`-th from a row on.

        The columns' rows begin with `first`.
        """
        form = self.numbers.form
        at = add(self.first_column, column)
        extent = form.count_of(form.columns)
        is_there = None
        if not extent.is_multiple_of(self.columns):
            is_there = is_below(at, self.numbers.size(extent))
        if self.columns != power_of_two_from(self.columns):
            is_there = both(is_there, is_below(column, number(self.columns)))
        if self.stored and is_there is not None:
            # All threads exchange what they have.
            at = arith.select(is_there, at, number(0))
        columns = self.numbers.whole(self.numbers.split(at, form.columns))
        holds = self.numbers.are_there(columns)
        holds = holds if is_there is None else both(holds, is_there)
        with inside(None if self.stored else holds):
            is_exchanged = any(each.partials.rows.per is None for each in self.stored)
            at_once = min(_EXCHANGED_AT_ONCE if is_exchanged else _AT_ONCE, count)
            begun = [each.start() for each in self._carried]
            loop = scf.ForOp(number(0), number(count), number(at_once), begun)
            with ir.InsertionPoint(loop.body):
                start = add(row, times(loop.induction_variable, step))
                rows_at = [plus(start, each * step) for each in range(at_once)]
                sums = [value(each, column) for each in rows_at]
                found = self._store_rows(
                    rows_at, columns, sums, holds if self.stored else None, loop.inner_iter_args
                )
                scf.YieldOp(found)
            if self.stored:
                tile = arith.divui(self.first_row, number(self.rows))
                unit = add(times(tile, self.rows // count), arith.subi(row, first))
                unit = add(unit, arith.divui(first, number(count)))
                self._store_carried(list(loop.results), unit, is_there)

    @property
    def _carried(self) -> list[Stored]:
        """Those of which a thread combines all its rows."""
        return [each for each in self.stored if each.partials.rows.per is not None]

    def _store_rows(
        self,
        rows: Sequence[ir.Value],
        columns: Indices,
        sums: Sequence[ir.Value],
        is_column: ir.Value | None,
        carried: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """Loads what several results need, computes them, and stores them.

        Returns what statistics had with theirs.
        """
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
            there = holds if is_column is None else both(holds, is_column)
            with inside(there):
                for operand, value in zip(form.work.outputs, values, strict=True):
                    if not is_virtual(operand):
                        where = self._where(operand, indices)
                        store(where, operand.element, [value], element_bytes(operand.element))
        return self._reduce(rows, [holds for _, _, holds in points], results, is_column, carried)

    # Statistics.

    def _reduce(
        self,
        rows: Sequence[ir.Value],
        are_rows: Sequence[ir.Value | None],
        results: Sequence[Sequence[ir.Value]],
        is_column: ir.Value | None,
        carried: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """Combines rows of each column with those before, and stores what is made of columns."""
        outputs, running, found = self.numbers.form.work.outputs, list(carried), list[ir.Value]()
        for each in self.stored:
            partials, at = each.partials, outputs.index(each.partials.statistic.operand)
            values = [
                where_there(partials.kind, values[at], is_column if partials.columns.per else None)
                for values in results
            ]
            if partials.rows.per is None:
                self._store_columns(each, rows, values)
                continue
            total = running.pop(0)
            for value, is_row in zip(values, are_rows, strict=True):
                total = combine(partials.kind, total, where_there(partials.kind, value, is_row))
            found.append(total)
        return found

    def _store_columns(
        self, stored: Stored, rows: Sequence[ir.Value], values: Sequence[ir.Value]
    ) -> None:
        """Stores what units of columns are reduced to, of some rows."""
        form, size = self.numbers.form, stored.partials.columns.size
        numbered = [
            (value, add(self.first_row, row)) for row, value in zip(rows, values, strict=True)
        ]
        extent = form.count_of(form.rows)
        bits = range(size.bit_length() - 1)
        for unit in self._column_units(stored.partials):
            own = [(unit.of(stored.partials.kind, value), row) for value, row in numbered]
            for left in fold(stored.partials.kind, own, self._lane, bits):
                holds = all_of(left.holds, unit.holds)
                if not extent.is_multiple_of(self.rows):
                    holds = all_of(holds, is_below(left.number, self.numbers.size(extent)))
                stored.store(self.numbers, self.batch, unit.number, left.number, left.value, holds)

    def _store_carried(
        self,
        totals: Sequence[ir.Value],
        row: ir.Value,
        is_column: ir.Value | None,
    ) -> None:
        """Stores what a thread's rows of a tile were reduced to, in a unit of rows."""
        column = add(self.first_column, arith.andi(self.thread, number(self.columns - 1)))
        for each, total in zip(self._carried, totals, strict=True):
            size = each.partials.columns.size
            if each.partials.columns.per is None:
                each.store(self.numbers, self.batch, row, column, total, is_column)
                continue
            bits = range(size.bit_length() - 1)
            for unit in self._column_units(each.partials):
                own = unit.of(each.partials.kind, total)
                for left in fold(each.partials.kind, [(own, unit.number)], self._lane, bits):
                    holds = all_of(left.holds, unit.holds)
                    each.store(self.numbers, self.batch, row, unit.number, left.value, holds)

    def _column_units(self, partials: Partials) -> list[_Unit]:
        """Returns the units that the thread's columns, and those beside them, are of."""
        form, size = self.numbers.form, partials.columns.size
        column = add(self.first_column, arith.andi(self.thread, number(self.columns - 1)))
        group, extent = arith.divui(column, number(size)), form.count_of(form.columns)
        is_group = None
        if not extent.is_multiple_of(self.columns):
            is_group = is_below(times(group, size), self.numbers.size(extent))
        run, per = partials.columns.run, partials.columns.per
        if not run:
            return [_Unit(group, is_group)]
        assert per is not None
        # The group's first column, and where what that is of begins and ends.
        first, behind = times(group, size), times(plus(group, 1), size)
        which = arith.divui(first, number(run))
        begin, end = times(which, run), times(plus(which, 1), run)
        place = arith.subi(group, arith.divui(begin, number(size)))
        own = add(times(which, per.known), place)
        next_, last = times(plus(which, 1), per.known), plus(times(which, per.known), per.known - 1)
        is_own = is_below(column, end)
        is_next = arith.cmpi(arith.CmpIPredicate.uge, column, end)
        begins = all_of(is_below(end, behind), is_below(end, self.numbers.size(extent)))
        # Where there is one unit less than others have.
        ends = arith.cmpi(arith.CmpIPredicate.uge, behind, end)
        is_less = arith.cmpi(arith.CmpIPredicate.eq, place, number(per.known - 2))
        lacks = all_of(all_of(ends, is_less), is_group)
        return [
            _Unit(own, is_group, is_own),
            _Unit(next_, begins, is_next),
            _Unit(last, lacks, constant(ir.IntegerType.get_signless(1), 0)),
        ]

    @property
    def _lane(self) -> ir.Value:
        return arith.andi(self.thread, number(LANES - 1))

    def _point(self, indices: Indices, total: ir.Value) -> Point:
        """The region past its sum, with all that it reads loaded."""
        form = self.numbers.form
        loaded = {
            operand.number: self._load(operand, indices)
            for operand in form.work.inputs
            if operand not in (*form.first.operands, *form.second.operands)
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
