"""The window schedule: reductions over small windows that overlap, as poolings do.

A thread computes a few rows of a few neighbouring results. It first loads all elements that their
windows cover, each once and as wide as alignment lets it, and combines them in registers. Where a
warp's accesses lie side by side, what windows of other threads share comes from the first-level
cache; rows that a thread takes together spare most of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product as each_of

from ....dialects.mlir import arith, ir, scf
from ....dialects.records import dataclass
from ...fusion.tiles import MOST_IN_WINDOW
from ...i32 import as_index, i32_constant, narrow
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..collective import Collective, levels_of
from ..configuration import Chooser, is_power_of_two, threads_refusal
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..index_division import divided, thread_number
from ..kernels import ANY, Kernels
from ..launch import emit_launch
from ..parameters import Parameters
from ..size import MOST_IN_32_BITS, ONE, ZERO, Size, product
from ..space import Loop, collapsed, in_memory_order
from ..work import Layout, Operand, Work
from .configuration import WindowConfiguration
from .points import PaddedRead, Tile, WindowPoints, read_padding

# The results of a thread where they are not a whole access.
_PAIR = 2
# Windows of so many elements that have none in common are reductions by lanes: of 8x8 and 11x11
# these took 0.96 and 0.95 of the time of a thread a result on an H200, of 7x7 and 5x5 the same.
_MANY = 64


def chooser(work: Work, kernels: Kernels, device: Device) -> WindowChooser | None:
    """Decides on the kernels; None without small windows."""
    return WindowChooser(work, kernels, device) if _has_windows(work) else None


def apart(work: Work, padded: Sequence[PaddedRead]) -> frozenset[int]:
    """The loops from the first on that conditions of padded tensors depend on."""
    tested = {loop for read in padded for guard in read.guards for loop in guard.factors}
    order = in_memory_order(work, work.parallel)
    first = next((place for place, loop in enumerate(order) if loop in tested), len(order))
    return frozenset(order[first:])


class WindowChooser(Chooser[WindowConfiguration]):
    """Vectors as wide as may be, pairs, and single elements."""

    def __init__(self, work: Work, kernels: Kernels, device: Device) -> None:
        self.work = work
        self._works: dict[Layout, tuple[Work, tuple[PaddedRead, ...]]] = {}
        self._kernels, self._device, self._table = kernels, device, device.tables.windows

    def choices(self) -> Sequence[WindowConfiguration]:
        operands = self._read(Layout.PACKED)[0].operands
        is_assumed = any(operand.is_assumed for operand in operands)
        found = self._tiles(Layout.PACKED, single=not is_assumed)
        return found + (self._tiles(Layout.ANY, single=True) if is_assumed else [])

    def _tiles(self, layout: Layout, *, single: bool) -> list[WindowConfiguration]:
        """Returns what a thread may take, the widest first."""
        if not self._loops(layout):
            return []
        operands = self._read(layout)[0].operands
        bytes_ = max(element_bytes(operand.element) for operand in operands)
        is_wide = self._is_along(layout) and not _lie_apart(
            self._read(layout)[0], self._loops(layout)[-1]
        )
        widths = [ACCESS_BYTES // bytes_, _PAIR] if is_wide else []
        widths = [width for width in widths if width * self._window <= self._table.elements]
        found = [self._tile(layout, width) for width in dict.fromkeys(widths) if width > 1]
        return [*found, self._tile(layout, 1)] if single else found

    def _tile(self, layout: Layout, width: int) -> WindowConfiguration:
        loops, table = self._loops(layout), self._table
        rows = table.rows if len(loops) > 1 and self._rows_share(layout) else 1
        while rows > 1 and rows * width * self._window > table.elements:
            rows //= 2
        if len(loops) > 1 and loops[-2].extent.is_known:
            while rows > 1 and rows > loops[-2].extent.known:
                rows //= 2
        count = product([loop.extent for loop in loops])
        if count.is_known:
            most = self._device.multiprocessors * self._device.threads
            while rows > 1 and count.known * table.least_share < rows * width * most:
                rows //= 2
        return WindowConfiguration(width, rows, table.threads, layout)

    def refusal(self, made: WindowConfiguration) -> str | None:
        loops, inner = self._loops(made.layout), self._loops(made.layout)[-1].extent
        if not is_power_of_two(made.width):
            return "'width' is a power of two"
        if made.width > 1 and not self._is_along(made.layout):
            return "'width' is 1 where neighbouring results lie apart"
        if inner.is_known and inner.known % made.width:
            return f"'width' divides {inner.known}, the results of a row"
        if made.rows < 1 or (made.rows > 1 and len(loops) == 1):
            return "'rows' are 1 at least, and at most where results are one row"
        most = max(self._table.elements, self._window)
        if made.rows * made.width * self._window > most:
            return f"the windows of 'rows' times 'width' results have at most {most} elements"
        return threads_refusal(made.threads, self._device)

    def alternative(self, made: WindowConfiguration) -> Alternative:
        work, padded = self._read(made.layout)
        tile = Tile(work, self._loops(made.layout), made.width, made.rows, padded)
        return partial(_require, tile), partial(_launch, tile, made, self._kernels)

    def _read(self, layout: Layout) -> tuple[Work, tuple[PaddedRead, ...]]:
        if layout not in self._works:
            is_own = layout is Layout.PACKED
            work = self.work if is_own else self.work.in_layout(layout)
            self._works[layout] = read_padding(work)
        return self._works[layout]

    def _loops(self, layout: Layout) -> tuple[Loop, ...]:
        work, padded = self._read(layout)
        order = in_memory_order(work, work.parallel)
        return tuple(collapsed(work, order, apart(work, padded)))

    def _is_along(self, layout: Layout) -> bool:
        """Returns whether neighbouring results lie together."""
        (work, _), inner = self._read(layout), self._loops(layout)[-1]
        return all(inner.stride_of(work, each.number) == ONE for each in work.outputs)

    def _rows_share(self, layout: Layout) -> bool:
        """Returns whether windows of results one above the other have elements in common."""
        work = self._read(layout)[0]
        return _share(work, self._loops(layout)[-2])

    @property
    def _window(self) -> int:
        """The elements of a window."""
        return product([self.work.extents[loop] for loop in self.work.collective]).known


def _share(work: Work, along: Loop) -> bool:
    """Returns whether windows of neighbouring results along a loop have elements in common."""
    for operand in work.inputs:
        step = along.stride_of(work, operand.number)
        for loop in work.collective:
            near, last = operand.strides[loop], work.extents[loop].known - 1
            # Of a farther dim one step is more than those of all rows.
            is_along = near.open == step.open and near.known <= step.known * last
            if is_along and near.known * last >= step.known > 0:
                return True
    return False


def _lie_apart(work: Work, inner: Loop) -> bool:
    """Returns whether windows of neighbouring results begin more than an access apart."""
    steps = [
        inner.stride_of(work, operand.number) * Size(element_bytes(operand.element))
        for operand in work.inputs
        if any(operand.strides[loop] != ZERO for loop in work.collective)
    ]
    return any(step.is_known and step.known > ACCESS_BYTES for step in steps)


def _has_windows(work: Work) -> bool:
    if not work.outputs or not work.collectives or len(levels_of(work)) != 1:
        return False
    if any(op.name != "hir.reduce_loops" for op in work.collectives):
        return False
    count = product([work.extents[loop] for loop in work.collective])
    if not count.is_known or not 0 < count.known <= MOST_IN_WINDOW:
        return False
    if any(each.strides[loop] != ZERO for each in work.outputs for loop in work.collective):
        return False
    if read_padding(work)[1]:
        return True
    return _overlap(work) and not (count.known >= _MANY and _are_alone(work))


def _are_alone(work: Work) -> bool:
    """Returns whether windows lie apart, and have no elements in common."""
    loops = collapsed(work, in_memory_order(work, work.parallel))
    if not loops or not _lie_apart(work, loops[-1]):
        return False
    return not any(_share(work, loop) for loop in loops)


def _overlap(work: Work) -> bool:
    """Returns whether neighbouring windows share elements, or lie in one another's rows."""
    maps = [
        ir.AffineMapAttr(attribute).value
        for attribute in ir.ArrayAttr(work.op.attributes["indexing_maps"])
    ]
    return any(
        isinstance(expression, ir.AffineAddExpr)
        for operand in work.inputs
        for expression in maps[operand.number].results
    )


def _require(tile: Tile, found: Conditions) -> None:
    work = tile.work
    found.require(work.layouts_hold())
    found.require_at_most(product([loop.extent for loop in tile.loops]), MOST_IN_32_BITS)
    if tile.width == 1:
        return
    found.require_multiple(tile.loops[-1].extent, tile.width)
    for operand in work.outputs:
        _require_vectors(found, tile, operand)
    for operand in work.inputs:
        if tile.is_read(operand) and tile.is_wide(operand):
            _require_vectors(found, tile, operand)


def _require_vectors(found: Conditions, tile: Tile, operand: Operand) -> None:
    """What an operand needs so that `width` neighbouring elements of it may be one access."""
    found.require_aligned(operand, tile.width * element_bytes(operand.element))
    for size in tile.steps(operand):
        found.require_multiple(size, tile.width)


def _launch(tile: Tile, configuration: WindowConfiguration, kernels: Kernels) -> None:
    work, count, extents = tile.work, configuration.threads, _extents(tile)
    kernel, made = kernels.of_work(
        work,
        count,
        lambda parameters: _Kernel(tile, extents, parameters, count),
        configuration=configuration.attribute,
        group=work.group(ANY if configuration.width <= _PAIR else None),
    )
    threads = work.open.value(product(extents))
    blocks = arith.ceildivui(threads, index_constant(count))
    emit_launch(kernel, blocks, count, made.parameters.arguments())


def _extents(tile: Tile) -> list[Size]:
    """Returns how many threads lie along each loop."""
    extents = [loop.extent for loop in tile.loops]
    steps = tile.counts
    return [
        tile.work.open.divided_up(extent, step) for extent, step in zip(extents, steps, strict=True)
    ]


@dataclass(frozen=True)
class _Kernel:
    """Emits the body: a tile a thread."""

    tile: Tile
    extents: list[Size]
    parameters: Parameters
    threads: int

    def emit(self) -> None:
        number = thread_number(self.threads)
        count = narrow(self.parameters.size(product(self.extents)))
        choice = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, number, count))
        with ir.InsertionPoint(choice.then_block):
            self._emit_tile(self._place(as_index(number)))
            scf.YieldOp([])

    def _place(self, number: ir.Value) -> list[ir.Value]:
        """The indices at which a thread's tile begins."""
        place: list[ir.Value] = []
        rest = number
        for extent in reversed(self.extents[1:]):
            rest, within = divided(rest, extent, 1, self.parameters)
            place.insert(0, within)
        place.insert(0, rest)
        return [
            _times(at, count) if count > 1 else at
            for at, count in zip(place, self.tile.counts, strict=True)
        ]

    def _emit_tile(self, place: list[ir.Value]) -> None:
        """Rows that are not all there, or whose windows are not, are taken one by one."""
        tile, rows, padded = self.tile, self.tile.rows, bool(self.tile.padded)
        if not padded and (rows == 1 or tile.loops[-2].extent.is_multiple_of(rows)):
            self._compute(tile, place)
            return
        is_inside = WindowPoints.inside(tile, place, self.parameters) if padded else None
        end: ir.Value | None = None
        if len(tile.loops) > 1:
            extent = self.parameters.size(tile.loops[-2].extent)
            end = arith.addi(place[-2], index_constant(rows))
            is_whole = arith.cmpi(arith.CmpIPredicate.ule, narrow(end), narrow(extent))
            if is_inside is None:
                is_inside, end = is_whole, extent
            else:
                is_inside, end = arith.andi(is_inside, is_whole), arith.minui(end, extent)
        assert is_inside is not None
        choice = scf.IfOp(is_inside, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            self._compute(tile, place)
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            if end is None:
                self._compute(tile, place, is_guarded=padded)
            else:
                each = scf.ForOp(place[-2], end, index_constant(1))
                with ir.InsertionPoint(each.body):
                    at = [*place[:-2], each.induction_variable, place[-1]]
                    self._compute(tile.row, at, is_guarded=padded)
                    scf.YieldOp([])
            scf.YieldOp([])

    def _compute(self, tile: Tile, place: list[ir.Value], *, is_guarded: bool = False) -> None:
        """Loads all, combines each window's elements, and stores the results.

        Those of a row of the window come first: windows one above the other have them in common.
        """
        work = tile.work
        points = WindowPoints(tile, place, self.parameters, is_guarded=is_guarded)
        (level,) = levels_of(work)
        *outer, inner = (range(work.extents[loop].known) for loop in work.collective)
        results: dict[tuple[int, int], list[ir.Value]] = {}
        for element in tile.elements:
            running: dict[Collective, list[ir.Value]] = {}
            for row in each_of(*outer):
                here: dict[Collective, list[ir.Value]] = {}
                for at in inner:
                    point = points.at(element, (*row, at))
                    _merge(here, {each: [point.value(each.operand)] for each in level})
                _merge(running, here)
            point = points.at(element, None)
            for each in level:
                point.known.update(each.results(running[each]))
            results[element] = [point.value(value) for value in points.region.yielded]
        for number, operand in enumerate(work.outputs):
            points.store(operand, {at: found[number] for at, found in results.items()})


def _merge(
    running: dict[Collective, list[ir.Value]], more: dict[Collective, list[ir.Value]]
) -> None:
    """Adds what comes after it to running values, if there are any yet."""
    for each, values in more.items():
        before = running.get(each)
        running[each] = values if before is None else each.merged(before, values)


def _times(index: ir.Value, count: int) -> ir.Value:
    """So many times an index, which is an index too."""
    by = i32_constant(count)
    return as_index(arith.muli(narrow(index), by))
