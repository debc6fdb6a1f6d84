"""Statistics of what warpgroups compute, in the registers of a tile (see statistics.py).

Four neighbouring lanes have all columns of a row, and eight lanes that are four apart the rows of
a column. Each warp gives partials of its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...i32 import is_below
from ..warp_matrices import LANES
from ..warpgroup_matrices import ROWS
from ..work import Operand
from .companions import RUN, Lanes
from .indices import Indices, add, number, plus, times
from .statistics import Partials
from .tile_statistics import Stored, all_of, fold, merge, where_there
from .warpgroup_partials import WARP_ROWS, WARPS
from .window import Window

if TYPE_CHECKING:
    from .warpgroup_kernel import Place, WarpgroupKernel

# The bits of a lane's number that tell columns apart, and rows.
_QUAD, _GROUP = (0, 1), (2, 3, 4)


class TileStatistics:
    """Those of a thread's part of a tile."""

    def __init__(
        self, kernel: WarpgroupKernel, stored: Sequence[Stored], place: Place, lanes: Lanes
    ) -> None:
        self._kernel, self._place, self._lanes = kernel, place, lanes
        self._of = {each.partials.statistic.operand: _Running(each, {}) for each in stored}
        self._rows: dict[int, tuple[ir.Value | None, Indices]] = {}

    def add(
        self,
        operand: Operand,
        column: int,
        down: int,
        values: Sequence[ir.Value],
        is_row: ir.Value,
        are_columns: Sequence[ir.Value],
        place: int = 0,
    ) -> None:
        """Adds a pair of a row, of 8 columns of the tile, or the one at a place of it.

        It may not be there.
        """
        running = self._of[operand]
        partials = running.stored.partials
        kind, rows, columns = partials.kind, partials.rows, partials.columns
        for at_pair, value in enumerate(values, place):
            if rows.per is not None and not self._kernel.has_whole_rows:
                value = where_there(kind, value, is_row)
            if columns.per is not None and not self._kernel.has_whole_columns:
                value = where_there(kind, value, are_columns[at_pair - place])
            row = down if rows.per is None else self._slice(partials, down)
            at = column + at_pair
            if columns.per is not None:
                at = column // columns.size
            merge(kind, running.values, (row, at), value)

    def _slice(self, partials: Partials, down: int) -> int:
        """Returns the product whose rows a unit is of; 0 where it is of the rows of all."""
        return 0 if partials.rows.size == self._kernel.configuration.rows else down // ROWS

    def end_columns(self, column: int) -> None:
        """Stores what rows were reduced to, of columns of which all rows have been added."""
        for running in self._of.values():
            if running.stored.partials.columns.per is None:
                self._store_columns(running, column)
                running.values.clear()

    def _store_columns(self, running: _Running, column: int) -> None:
        partials, start = running.stored.partials, plus(self._place.column, column)
        slices = sorted({row for row, _ in running.values})
        for slice_ in slices:
            values: list[tuple[ir.Value, ir.Value]] = []
            for (row, at), value in running.values.items():
                if row == slice_:
                    tile, place = divmod(at - column, RUN)
                    # The same for all groups of columns, so that it is found once.
                    values.append((value, plus(self._lanes.pair(tile), place)))
            for left in fold(partials.kind, values, self._lane, _GROUP):
                holds, own = left.holds, add(start, left.number)
                if not self._kernel.has_whole_columns:
                    holds = all_of(holds, self._kernel.is_column(own))
                unit, is_unit = self._row_unit(partials, slice_)
                running.stored.store(
                    self._kernel.numbers,
                    self._place.outer,
                    unit,
                    own,
                    left.value,
                    all_of(holds, is_unit),
                )

    def end(self) -> None:
        """Stores what columns were reduced to, of a tile of which all have been added."""
        for running in self._of.values():
            partials = running.stored.partials
            if partials.columns.per is None:
                continue
            for at in sorted({column for _, column in running.values}):
                first = plus(self._place.column, at * partials.columns.size)
                is_first = None
                if not self._kernel.has_whole_columns:
                    is_first = self._kernel.is_column(first)
                unit = arith.divui(first, number(partials.columns.size))
                if partials.rows.per is None:
                    self._store_rows(running, at, unit, is_first)
                else:
                    self._store_all(running, at, unit, is_first)

    def _store_rows(
        self, running: _Running, at: int, unit: ir.Value, is_first: ir.Value | None
    ) -> None:
        values = [
            (value, number(row)) for (row, column), value in running.values.items() if column == at
        ]
        for left in fold(running.stored.partials.kind, values, self._lane, _QUAD):
            is_row, indices = self._kernel.row(self._place, add(self._lanes.row, left.number))
            holds = all_of(left.holds, is_first)
            if not self._kernel.has_whole_rows:
                holds = all_of(holds, is_row)
            row = self._row_number(indices)
            running.stored.store(
                self._kernel.numbers, self._place.outer, unit, row, left.value, holds
            )

    def _row_number(self, indices: Indices) -> ir.Value:
        """Returns the number of a row of the result."""
        plan = self._kernel.plan
        found = number(0)
        for loop in plan.rows:
            extent = self._kernel.numbers.size(plan.form.work.extents[loop])
            found = add(arith.muli(found, extent), indices[loop])
        return found

    def _store_all(
        self, running: _Running, at: int, unit: ir.Value, is_first: ir.Value | None
    ) -> None:
        partials = running.stored.partials
        for slice_ in sorted({row for row, _ in running.values}):
            value = running.values[slice_, at]
            (left,) = fold(partials.kind, [(value, unit)], self._lane, (*_QUAD, *_GROUP))
            row, is_unit = self._row_unit(partials, slice_)
            holds = all_of(all_of(left.holds, is_first), is_unit)
            running.stored.store(
                self._kernel.numbers, self._place.outer, row, unit, left.value, holds
            )

    def _row_unit(self, partials: Partials, slice_: int) -> tuple[ir.Value, ir.Value | None]:
        """Returns the number of a warp's unit of rows, and whether there are any of it."""
        kernel, made, row = self._kernel, self._kernel.configuration, self._place.row
        is_whole = partials.rows.size == made.rows
        first = number(0) if is_whole else plus(self._lanes.first, slice_ * ROWS)
        if isinstance(kernel.plan.first, Window):
            return self._box_unit(partials, first, is_whole=is_whole)
        first = add(row, first)
        unit = arith.divui(first, number(partials.rows.size))
        if is_whole:
            unit = self._of_warp(unit)
        if kernel.has_whole_rows:
            return unit, None
        end = kernel.numbers.size(kernel.plan.extent(kernel.plan.rows))
        return unit, is_below(first, end)

    def _box_unit(
        self, partials: Partials, first: ir.Value, *, is_whole: bool
    ) -> tuple[ir.Value, ir.Value | None]:
        """Returns the same of a row of a box, which begins with those of other results."""
        plan, kept = self._kernel.plan, partials.rows.kept
        extents = {loop: plan.form.work.extents[loop].known for loop in plan.rows}
        assert isinstance(plan.first, Window)
        sizes = plan.first.box(self._kernel.configuration.rows)
        assert sizes is not None
        box = dict(zip(plan.rows, sizes, strict=True))
        alone = prod(size for loop, size in box.items() if loop not in kept)
        which, inner = arith.divui(first, number(alone)), arith.remui(first, number(alone))
        unit, holds = number(0), None
        for at, loop in enumerate(plan.rows):
            corner, count = self._place.corner[loop], extents[loop]
            if loop in kept:
                beside = prod(box[each] for each in kept[at + 1 :])
                index = arith.remui(arith.divui(which, number(beside)), number(box[loop]))
                index = add(corner, index)
                if count % box[loop]:
                    holds = all_of(holds, is_below(index, number(count)))
            else:
                index, count = arith.divui(corner, number(box[loop])), -(-count // box[loop])
            unit = add(times(unit, count), index)
        if is_whole:
            return self._of_warp(unit), holds
        unit = times(unit, alone // WARP_ROWS)
        return add(unit, arith.divui(inner, number(WARP_ROWS))), holds

    def _of_warp(self, tile: ir.Value) -> ir.Value:
        """Returns the number of a warp's unit of a tile, of which each warp has one."""
        warps = WARPS * self._kernel.configuration.together
        warp = arith.shrui(self._kernel.numbers.thread, number(5))
        return add(times(tile, warps), arith.remui(warp, number(warps)))

    @property
    def _lane(self) -> ir.Value:
        return arith.andi(self._kernel.numbers.thread, number(LANES - 1))


@dataclass(frozen=True)
class _Running:
    """What a thread has of a statistic, by rows or slices and columns or units."""

    stored: Stored
    values: dict[tuple[int, int], ir.Value]
