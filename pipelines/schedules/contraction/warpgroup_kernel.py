"""The kernel of a contraction by warpgroups, for which a further warp copies (see warpgroups.py).

A thread of that warp keeps steps of terms coming, into a ring of stages. A pair of
barriers goes with each: one that its bytes have come, and one that all warps have read them. Blocks
stay, and take one tile after another; while results are stored, the next tile's stages fill.

Where a sum is made in parts, the blocks of a cluster have one tile together, each some of its
steps. They write their sums to their shared memory, and then each adds some of all, in the parts'
order.

Companions, operands with an element for each result, follow the steps of a tile's terms in the
ring: some columns of all of them at once.

Warpgroups' products leave each lane pairs of columns that are 8 apart. Where it can, the copy
engine deals columns in shared memory so that these pairs follow one another in the result. What all
rows or all columns share of what results need is loaded before the tile's products.

Or the blocks of a cluster have neighbouring tiles. Of the rows or columns that several of them read
each copies a part, to the same place in the shared memory of all of these; and a stage is free for
the next step where the warps of all have read it. All have as many tiles: some lie beyond the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from ....dialects.mlir import arith, gpu, ir, scf, vector
from ....dialects.records import dataclass
from ...i32 import block_in_grid, i32, is_below, thread_in_block
from ...rewriting import constant
from ...walking import is_used
from ..elements import (
    ACCESS_BYTES,
    WORD_BYTES,
    address,
    element_bytes,
    elements_of_words,
    load,
    store,
    store_words_where,
)
from ..parameters import Parameters
from ..region import Point
from ..shared import SharedMemory
from ..size import ONE, ZERO, Size, product
from ..warp_matrices import LANES
from ..warpgroup_matrices import (
    BARRIER_BYTES,
    DEPTH_BYTES,
    MOST_IN_BOX,
    ROW_BYTES,
    ROWS,
    THREADS,
    Barrier,
    Sums,
    begin_copies_and_barriers,
    begin_products,
    commit_products,
    copy_box,
    mapped,
    matrix_descriptor,
    meet,
    moved,
    order_copies_after,
    prefetch_box,
    set_registers,
    tensor_map,
    wait_for_products,
    wait_for_threads,
    wait_for_warp,
)
from ..work import Operand
from .companions import RUN, Arrived, Box, Companion, Lanes
from .indices import Indices, Numbers, add, both, byte, multiply, number, plus, times
from .pace import Pace
from .statistics import is_virtual
from .tile_statistics import Stored
from .warpgroup_statistics import TileStatistics
from .warpgroups import (
    CONSUMER_REGISTERS,
    PRODUCER_REGISTERS,
    Reading,
    WarpgroupConfiguration,
    WarpgroupPlan,
)
from .window import Axis, Window

_TILES_AT_ONCE = 4
_DEALT = _TILES_AT_ONCE * RUN
# The words of companions that a thread holds, beside as many sums as it may have.
_MOST_HELD = 64


@dataclass(frozen=True)
class Place:
    """A tile: its first row and column, and the indices of the loops around.

    Of a box, `corner` has the first index of each loop of rows.
    """

    row: ir.Value
    column: ir.Value
    outer: Indices
    corner: Indices


@dataclass(frozen=True)
class End:
    """Where a lane's results of a tile lie, and what is `shared` by rows or columns of them.

    That is words, by operands' numbers, columns and rows. With a `pace` few are computed at a time.
    """

    place: Place
    lanes: Lanes
    shared: Mapping[tuple[int, int, int], list[ir.Value]]
    pace: Pace | None = None


class WarpgroupKernel:
    """Emits the body. What it takes and needs can be seen after.

    `runs` says by operands' numbers how many columns are accessed together, of those of several;
    `stored` where partials of statistics go.
    """

    def __init__(
        self,
        plan: WarpgroupPlan,
        made: WarpgroupConfiguration,
        parameters: Parameters,
        runs: Mapping[int, int],
        stored: Sequence[Stored] = (),
    ) -> None:
        self.plan, self.configuration, self.parameters = plan, made, parameters
        self.shared = SharedMemory()
        self._runs, self._stored = runs, stored

    # The block.

    def emit(self) -> None:
        """Takes tiles, from the block's number on, as far apart as there are blocks."""
        plan, made = self.plan, self.configuration
        thread = thread_in_block()
        self.numbers = Numbers(plan.form, self.parameters, thread)
        self.allocate()
        self._barriers = self.shared.area(made.stages * 2 * BARRIER_BYTES)
        self._turns = self.shared.area(made.consumers * BARRIER_BYTES) if made.apart else None
        self.maps = [self._map(reading) for reading in (plan.first, plan.second)]
        self._companion_steps = plan.companion_steps(made)
        self._companion_maps = {
            each.operand.number: self._companion_map(each) for each in plan.copied(made)
        }
        self._counts = [
            self._row_tiles(),
            self._tiles(plan.columns, made.columns * made.across),
        ]
        self._steps = self._tiles(plan.terms, plan.depth)
        self._all_steps = multiply(self._steps, self.numbers.size(plan.extent(plan.outer_terms)))
        tiles = multiply(multiply(*self._counts), self.numbers.size(plan.extent(plan.outer)))
        first = block_in_grid()
        step = arith.index_castui(i32(), gpu.grid_dim(gpu.Dimension.x))
        self._begin, self._end = number(0), self._all_steps
        if made.parts > 1:
            parts = number(made.parts)
            self._part, first = arith.remui(first, parts), arith.divui(first, parts)
            self._begin, self._end = (self._steps_before(plus(self._part, each)) for each in (0, 1))
        if made.neighbours > 1:
            neighbours = number(made.neighbours)
            self._neighbour = _Neighbour(made, arith.remui(first, neighbours))
            first, step = (arith.divui(each, neighbours) for each in (first, step))
        maps = [*self.maps, *self._companion_maps.values()]
        begin_copies_and_barriers(thread, maps, self.begin_barriers)
        if made.neighbours > 1:
            # None is told of bytes, or of what was read, before it has begun its barriers.
            meet(tells=False)
        consumers = number(made.consumers * THREADS)
        roles = scf.IfOp(is_below(thread, consumers), has_else=True)
        with ir.InsertionPoint(roles.then_block):
            if plan.gives_registers(made):
                set_registers(CONSUMER_REGISTERS[made.consumers], "increase")
            if made.parts > 1:
                self._keep(first)
            else:
                self.consume(first, tiles, step)
            scf.YieldOp([])
        assert roles.else_block is not None
        with ir.InsertionPoint(roles.else_block):
            if plan.gives_registers(made):
                set_registers(PRODUCER_REGISTERS, "decrease")
            one = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, thread, consumers))
            with ir.InsertionPoint(one.then_block):
                if made.parts > 1:
                    self._copy_steps(self.place(first), [number(0), number(1)])
                else:
                    self.produce(first, tiles, step)
                scf.YieldOp([])
            scf.YieldOp([])
        if made.parts > 1:
            meet()
            with_all = scf.IfOp(is_below(thread, consumers))
            with ir.InsertionPoint(with_all.then_block):
                self._add_parts(self.place(first))
                scf.YieldOp([])
            # A block's shared memory stays while others read it.
            meet()

    def allocate(self) -> None:
        """Allocates the stages, at the beginning of shared memory."""
        made = self.configuration
        self._stages = self.shared.area(made.stages * made.stage_bytes)

    def begin_barriers(self) -> None:
        """Initializes all barriers."""
        made = self.configuration
        for stage in range(made.stages):
            self.full(number(stage)).begin(1)
            self.empty(number(stage)).begin(self._readers * made.together * THREADS // LANES)
        for consumer in range(made.consumers if made.apart else 0):
            self._turn(number(consumer)).begin(THREADS // LANES)

    def _steps_before(self, part: ir.Value) -> ir.Value:
        """Returns how many steps the parts before one have; they differ by one at most."""
        parts = self.configuration.parts
        each = arith.divui(self._all_steps, number(parts))
        rest = arith.subi(self._all_steps, times(each, parts))
        return add(multiply(part, each), arith.minui(part, rest))

    def _tiles(self, loops: tuple[int, ...], size: int) -> ir.Value:
        extent = self.plan.extent(loops)
        if extent.is_known:
            return number(-(-extent.known // size))
        return arith.ceildivui(self.numbers.size(extent), number(size))

    def _row_tiles(self) -> ir.Value:
        made = self.configuration
        if isinstance(self.plan.first, Window):
            return number(self.plan.row_tiles(made.rows, made.down).known)
        return self._tiles(self.plan.rows, made.rows * made.down)

    @cached_property
    def _window_box(self) -> dict[int, int]:
        """The sizes of a tile's box, of each loop of rows; none where rows are no box."""
        first, plan = self.plan.first, self.plan
        if not isinstance(first, Window):
            return {}
        box = first.box(self.configuration.rows)
        assert box is not None
        return dict(zip(plan.rows, box, strict=True))

    def full(self, slot: ir.Value) -> Barrier:
        return Barrier(byte(self._barriers, times(slot, 2 * BARRIER_BYTES)))

    def empty(self, slot: ir.Value) -> Barrier:
        return Barrier(byte(self._barriers, plus(times(slot, 2 * BARRIER_BYTES), BARRIER_BYTES)))

    def _turn(self, consumer: ir.Value) -> Barrier:
        """The barrier that tells a consumer that the steps of its tile are next."""
        assert self._turns is not None
        return Barrier(byte(self._turns, times(consumer, BARRIER_BYTES)))

    def next(self, slot: ir.Value, parity: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The stage after one, and the parity of its phase."""
        following = plus(slot, 1)
        is_end = arith.cmpi(arith.CmpIPredicate.eq, following, number(self.configuration.stages))
        turned = arith.xori(parity, number(1))
        return arith.select(is_end, number(0), following), arith.select(is_end, turned, parity)

    def place(self, tile: ir.Value) -> Place:
        """Where a tile lies: some below one another, then those to the right of them."""
        plan, made = self.plan, self.configuration
        rows, columns = self._counts
        size = -(-made.group // made.down)
        each = multiply(rows, columns)
        batch = arith.divui(tile, each)
        rest = arith.subi(tile, arith.muli(batch, each))
        of_group = times(columns, size)
        group = arith.divui(rest, of_group)
        inside = arith.subi(rest, arith.muli(group, of_group))
        above = times(group, size)
        high = arith.minui(arith.subi(rows, above), number(size))
        column = arith.divui(inside, high)
        row = add(above, arith.subi(inside, arith.muli(column, high)))
        if made.neighbours > 1:
            row = add(times(row, made.down), self._neighbour.row)
            column = add(times(column, made.across), self._neighbour.column)
        outer = self.numbers.split(batch, plan.outer)
        corner: dict[int, ir.Value] = {}
        rest = row
        for loop, size in reversed(self._window_box.items()):
            boxes = number(-(-plan.form.work.extents[loop].known // size))
            whole = arith.divui(rest, boxes)
            corner[loop] = times(arith.subi(rest, multiply(whole, boxes)), size)
            rest = whole
        return Place(times(row, made.rows), times(column, made.columns), outer, corner)

    # Copies.

    def produce(self, first: ir.Value, tiles: ir.Value, step: ir.Value) -> None:
        loop = scf.ForOp(first, tiles, step, [number(0), number(1)])
        with ir.InsertionPoint(loop.body):
            place = self.place(loop.induction_variable)
            if self.configuration.apart:
                # The other consumer's turn waits for companions to arrive: none is to be late.
                for box in (each for boxes in self._companion_steps for each in boxes):
                    prefetch_box(*self._seen(box, place))
            ring = self._copy_steps(place, list(loop.inner_iter_args))
            scf.YieldOp([*self._copy_companions(place, ring)])
        if self.configuration.neighbours > 1:
            self._wait_for_readers(list(loop.results))

    def _wait_for_readers(self, ring: list[ir.Value]) -> None:
        """Waits until all stages have been read, from the next one on.

        A block's shared memory stays until the last arrival of others at its barriers has come.
        """
        stages = scf.ForOp(number(0), number(self.configuration.stages), number(1), ring)
        with ir.InsertionPoint(stages.body):
            slot, parity = stages.inner_iter_args
            self.empty(slot).wait(parity)
            scf.YieldOp([*self.next(slot, parity)])

    def _copy_steps(self, place: Place, ring: list[ir.Value]) -> list[ir.Value]:
        """Begins the copies of a tile's steps, from a stage and its parity on; the next ones."""
        made = self.configuration
        steps = scf.ForOp(self._begin, self._end, number(1), ring)
        with ir.InsertionPoint(steps.body):
            slot, parity = steps.inner_iter_args
            self.empty(slot).wait(parity)
            full = self.full(slot)
            full.expect(made.stage_bytes)
            rest, at = steps.induction_variable, steps.induction_variable
            outer: dict[int, ir.Value] = dict(place.outer)
            if self.plan.outer_terms:
                rest, at = self._step(at)
                outer |= self.numbers.split(rest, self.plan.outer_terms)
            term = times(at, self.plan.depth)
            start = byte(self._stages, times(slot, made.stage_bytes))
            if isinstance(self.plan.first, Window):
                self._copy_box(self.plan.first, start, term, {**outer, **place.corner}, full)
            else:
                self.copy(0, start, place.row, term, outer, made.rows, full)
            start = byte(start, number(made.rows * ROW_BYTES))
            self.copy(1, start, place.column, term, outer, made.columns, full)
            scf.YieldOp([*self.next(slot, parity)])
        return list(steps.results)

    def _copy_companions(self, place: Place, ring: list[ir.Value]) -> list[ir.Value]:
        """Begins the copies of a tile's companions; returns the next stage and its parity."""
        made = self.configuration
        slot, parity = ring
        for boxes in self._companion_steps:
            self.empty(slot).wait(parity)
            full = self.full(slot)
            full.expect(len(boxes) * made.rows * ROW_BYTES)
            start = byte(self._stages, times(slot, made.stage_bytes))
            for box in boxes:
                copy_box(byte(start, number(box.at)), *self._seen(box, place), full.address)
            slot, parity = self.next(slot, parity)
        return [slot, parity]

    def _seen(self, box: Box, place: Place) -> tuple[ir.Value, list[ir.Value]]:
        """Returns the descriptor of a box of a tile's companions, and its places."""
        _, _, *around = box.companion.dims
        outer = [place.outer[loop] for (loop,) in around]
        places = [plus(place.column, box.column), place.row, *outer]
        return self._companion_maps[box.companion.operand.number], places

    def _step(self, at: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Returns the numbers of a step: of the loops around terms, and of their own steps.

        Places of a window follow one another: what is read for one is in the caches for the next.
        """
        if isinstance(self.plan.first, Window):
            places = self.numbers.size(self.plan.extent(self.plan.outer_terms))
            step = arith.divui(at, places)
            return arith.subi(at, arith.muli(step, places)), step
        rest = arith.divui(at, self._steps)
        return rest, arith.subi(at, arith.muli(rest, self._steps))

    def copy(
        self,
        side: int,
        to: ir.Value,
        own: ir.Value,
        term: ir.Value,
        outer: Indices,
        tile: int,
        barrier: Barrier,
    ) -> None:
        """Begins the copies of a factor's part of a step."""
        reading = (self.plan.first, self.plan.second)[side]
        assert isinstance(reading, Reading)
        readers, blocks = self.configuration.readers[side], None
        box = self._own_box(reading, tile // readers)
        if readers > 1:
            # Each of the blocks that read it copies a part to all of them.
            part, blocks = self._neighbour.share(side)
            far = times(part, tile // readers)
            own, to = add(own, far), byte(to, times(far, ROW_BYTES))
        for shift in range(0, tile // readers, box):
            places: list[ir.Value] = []
            for place, loops in enumerate(reading.dims):
                if place == reading.own and self._is_dealt(reading):
                    groups = arith.shrui(plus(own, shift), number(5))
                    places += [*[number(0)] * 3, groups]
                elif place == reading.own:
                    places.append(plus(own, shift))
                elif place == reading.terms:
                    places.append(term)
                else:
                    places.append(self._number(loops, outer))
            where = byte(to, number(shift * ROW_BYTES))
            copy_box(where, self.maps[side], places, barrier.address, blocks)

    def _number(self, loops: Sequence[int], outer: Indices) -> ir.Value:
        """Returns the number of an iteration of some loops."""
        found = outer[loops[0]]
        for loop in loops[1:]:
            size = self.numbers.size(self.plan.form.work.extents[loop])
            found = add(multiply(found, size), outer[loop])
        return found

    def _copy_box(
        self, window: Window, to: ir.Value, term: ir.Value, indices: Indices, barrier: Barrier
    ) -> None:
        """Begins the copy of what a tile's box of results reads of the image in a step."""
        if window.beside is not None:
            own = self.plan.extent(self.plan.terms).known
            term = add(term, times(_place_along(window.beside, indices), own))
        places = [term, *(_place_along(axis, indices) for axis in window.axes[1:])]
        copy_box(to, self.maps[0], places, barrier.address)

    def _own_box(self, reading: Reading, tile: int) -> int:
        """Returns how many rows or columns one copy brings."""
        return min(tile, MOST_IN_BOX) if reading.is_along_terms else self.plan.depth

    def _box(self, reading: Reading, tile: int) -> list[int]:
        """The sizes of one copy, outermost first."""
        sizes = [1] * len(reading.dims)
        sizes[0] = self.plan.depth
        own = self._own_box(reading, tile)
        if self._is_dealt(reading):
            return [own // _DEALT, 4, 4, 2, sizes[0]]
        sizes[1] = own
        return sizes[::-1]

    def _is_dealt(self, reading: Reading) -> bool:
        return self.deals_columns and reading is self.plan.second

    @cached_property
    def deals_columns(self) -> bool:
        """Whether columns lie in shared memory in an order that gives each lane runs of results.

        Of 32 columns a lane has four pairs of sums, one of each 8 in shared memory: there these are
        pairs that follow one another in the result. The copy engine deals columns so: as dims of 2,
        4 and 4, of which it exchanges the last two. Lanes need not exchange results then.
        """
        plan, made = self.plan, self.configuration
        second = plan.second
        return (
            made.parts == 1
            and not plan.form.is_promoted
            and second.is_along_terms
            and len(second.dims) == 2
            and plan.extent(plan.columns).is_multiple_of(_DEALT)
            and made.columns // made.readers[1] % _DEALT == 0
            and any(map(self.is_exchanged, plan.form.work.outputs))
        )

    def _map(self, reading: Reading | Window) -> ir.Value:
        """The address of the descriptor of a factor, which the host makes."""
        if isinstance(reading, Window):
            return self.window_map(reading)
        made, work = self.configuration, self.plan.form.work
        side = 0 if reading is self.plan.first else 1
        box = self._box(reading, (made.rows, made.columns)[side] // made.readers[side])
        factor = reading.factor
        sizes = [product([work.extents[loop] for loop in loops]) for loops in reading.dims[::-1]]
        strides = [factor.strides[loops[-1]] for loops in reading.dims[::-1]]
        if self._is_dealt(reading):
            (columns, terms), (step, along) = sizes, strides
            sizes = [work.open.divided_up(columns, _DEALT), Size(4), Size(4), Size(2), terms]
            strides = [step * Size(_DEALT), step * Size(2), step * Size(8), step, along]
        name = "rows" if reading is self.plan.first else "columns"
        source = (factor.buffer, factor.offset)
        # Rows that begin within sectors took 8 to 17 % longer with promotion.
        return tensor_map(
            *(self.parameters, name, source, sizes, strides, box),
            rounds=self.plan.form.is_rounded,
            promotes=not reading.splits_sectors,
        )

    def _companion_map(self, companion: Companion) -> ir.Value:
        """Returns the address of the descriptor of a companion."""
        work, operand = self.plan.form.work, companion.operand
        dims = companion.dims[::-1]
        return tensor_map(
            self.parameters,
            f"companion{operand.number}",
            (operand.buffer, operand.offset),
            [product([work.extents[loop] for loop in loops]) for loops in dims],
            [operand.strides[loops[-1]] for loops in dims],
            [*[1] * (len(dims) - 2), self.configuration.rows, ROW_BYTES // companion.bytes],
        )

    def window_map(self, window: Window) -> ir.Value:
        axes = window.axes[::-1]
        sizes = self._window_box
        box = [
            1 if axis.is_rest else next((sizes[each] for each in axis.factors if each in sizes), 1)
            for axis in axes[:-1]
        ]
        return tensor_map(
            self.parameters,
            "rows",
            (window.factor.buffer, Size(window.offset)),
            [Size(axis.size) for axis in axes],
            [Size(axis.stride) for axis in axes],
            [*box, self.plan.depth],
            steps=[axis.step for axis in axes],
            rounds=self.plan.form.is_rounded,
        )

    # Products.

    def consume(self, first: ir.Value, tiles: ir.Value, step: ir.Value) -> None:
        made, is_lead, own_row = self.configuration, self.is_lead(), self.own_row()
        if made.neighbours > 1:
            lane = arith.andi(self.numbers.thread, number(LANES - 1))
            self._read = mapped(self._barriers, self._neighbour.reader(lane))
        descriptors = self._descriptors(number(0) if made.apart else own_row)
        if made.apart:
            self._consume_apart(descriptors, is_lead, first, tiles, step)
            return
        loop = scf.ForOp(first, tiles, step, [number(0), number(0)])
        with ir.InsertionPoint(loop.body):
            end = self.end_of(loop.induction_variable, own_row)
            found, ring, previous = self._sum(descriptors, is_lead, list(loop.inner_iter_args))
            if previous is not None:
                self._release(previous, is_lead)
            scf.YieldOp([*self.store(found, end, is_lead, ring)])

    def _consume_apart(
        self,
        descriptors: tuple[ir.Value, ir.Value],
        is_lead: ir.Value,
        first: ir.Value,
        tiles: ir.Value,
        step: ir.Value,
    ) -> None:
        """Takes every other tile: multiplies while the other consumer stores, and in its turn.

        Of a stage's barrier only the last phase can be told from the one before: a consumer waits
        for that of its own steps when all before have been seen to end.
        """
        # As the first lane has it, all of a warp are known to have it.
        warpgroup = gpu.ShuffleOp(
            *(arith.shrui(self.numbers.thread, number(7)), number(0), number(LANES)),
            gpu.ShuffleMode.IDX,
        ).shuffleResult
        self._other = arith.xori(warpgroup, number(1))
        # The first's first turn has come.
        ring = [*self._passed([number(0), number(0)], warpgroup), self._other]
        loop = scf.ForOp(add(first, multiply(warpgroup, step)), tiles, times(step, 2), ring)
        with ir.InsertionPoint(loop.body):
            slot, parity, turn = loop.inner_iter_args
            end = self.end_of(loop.induction_variable, number(0))
            self._turn(warpgroup).wait(turn)
            found, ring, previous = self._sum(descriptors, is_lead, [slot, parity])
            assert previous is not None
            self._release(previous, is_lead)
            others = is_below(add(loop.induction_variable, step), tiles)
            ring = self._store_beside(others, found, end, is_lead, ring)
            scf.YieldOp([*self._passed(ring, number(1)), arith.xori(turn, number(1))])

    def _store_beside(
        self,
        others: ir.Value,
        sums: list[list[ir.Value]],
        end: End,
        is_lead: ir.Value,
        ring: list[ir.Value],
    ) -> list[ir.Value]:
        """Stores a tile, so that the other consumer's products go on, where there are `others`."""
        if not self.plan.paced_instructions(self.configuration):
            return self.store(sums, end, is_lead, ring)
        branch = scf.IfOp(others, [each.type for each in ring], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp(self.store(sums, replace(end, pace=Pace()), is_lead, ring))
        assert branch.else_block is not None
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp(self.store(sums, end, is_lead, ring))
        return list(branch.results)

    def _hand_over(self, ring: list[ir.Value]) -> None:
        """Tells the other consumer that its turn has come, when all stages before have arrived."""
        slot, parity = ring
        for _ in self._companion_steps:
            self.full(slot).wait(parity)
            slot, parity = self.next(slot, parity)
        self._turn(self._other).arrive_where(self._is_among(1))

    def _passed(self, ring: list[ir.Value], tiles: ir.Value) -> list[ir.Value]:
        """Returns the stage after those of so many tiles of others, and its parity."""
        slot, parity = ring
        steps = plus(arith.subi(self._end, self._begin), len(self._companion_steps))
        stages = number(self.configuration.stages)
        after = add(slot, multiply(tiles, steps))
        rounds = arith.divui(after, stages)
        turned = arith.xori(parity, arith.andi(rounds, number(1)))
        return [arith.subi(after, multiply(rounds, stages)), turned]

    def own_row(self) -> ir.Value:
        """The first row of the tile that the thread's warpgroup multiplies."""
        warpgroup = arith.shrui(self.numbers.thread, number(7))
        return times(warpgroup, self.configuration.slices * ROWS)

    def is_lead(self) -> ir.Value:
        """Whether the thread says what its warp has read, to one of the blocks that copied it."""
        return self._is_among(self._readers)

    def _is_among(self, count: int) -> ir.Value:
        """Whether the thread is one of the first so many of its warp."""
        return is_below(arith.andi(self.numbers.thread, number(LANES - 1)), number(count))

    @property
    def _readers(self) -> int:
        """The blocks that copy what a block reads: a lane of a warp tells each what it has read."""
        return self.configuration.down + self.configuration.across - 1

    def _descriptors(self, own_row: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Those of the first stage, from a row of the first factor on."""
        leading = self.plan.depth * ROW_BYTES
        a = matrix_descriptor(byte(self._stages, self._row_bytes(own_row)), leading)
        b_start = byte(self._stages, number(self.configuration.rows * ROW_BYTES))
        return a, matrix_descriptor(b_start, leading)

    def _sum(
        self, descriptors: tuple[ir.Value, ir.Value], is_lead: ir.Value, ring: list[ir.Value]
    ) -> tuple[list[list[ir.Value]], list[ir.Value], ir.Value | None]:
        """The thread's sums of a tile, what follows a stage and its parity, and the last stage.

        That is None where all stages have been released.
        """
        made = self.configuration
        self._sums = Sums(self.plan.product_columns(made), self.plan.form.total)
        if self.plan.form.is_promoted:
            return self._sum_of_steps(descriptors, is_lead, ring)
        begin = self._begin
        if made.parts > 1:
            # A part may have no steps.
            begun = [*(self._sums.zeros() for _ in range(made.slices)), *ring, number(0)]
        else:
            # Registers of zeros would be waited for: the first products add to none.
            begun = [self._sums.undefined() for _ in range(made.slices)]
            begun = self._begin_step(begun, descriptors, ring, adds=False)
            begin = plus(begin, 1)
        steps = scf.ForOp(begin, self._end, number(1), begun)
        with ir.InsertionPoint(steps.body):
            *sums, slot, parity, previous = steps.inner_iter_args
            after = self._begin_step(list(sums), descriptors, [slot, parity])
            wait_for_products(1)
            if made.parts > 1:
                is_later = arith.cmpi(arith.CmpIPredicate.ne, steps.induction_variable, begin)
                self._release(previous, arith.andi(is_lead, is_later))
            else:
                self._release(previous, is_lead)
            scf.YieldOp(after)
        *sums, slot, parity, previous = steps.results
        if made.apart:
            self._hand_over([slot, parity])
        return self._sums.complete(list(sums)), [slot, parity], previous

    def _begin_step(
        self,
        sums: list[ir.Value],
        descriptors: tuple[ir.Value, ir.Value],
        ring: list[ir.Value],
        *,
        adds: bool = True,
    ) -> list[ir.Value]:
        """Begins to multiply the step of a stage; returns the sums, what follows, and the stage."""
        slot, parity = ring
        self.full(slot).wait(parity)
        a, b = (moved(each, times(slot, self.configuration.stage_bytes)) for each in descriptors)
        sums = self._multiply(sums, a, b, adds=adds)
        return [*sums, *self.next(slot, parity), slot]

    def _sum_of_steps(
        self, descriptors: tuple[ir.Value, ir.Value], is_lead: ir.Value, ring: list[ir.Value]
    ) -> tuple[list[list[ir.Value]], list[ir.Value], None]:
        """Returns the same, but adds each step's sums to the totals in f32, product by product.

        While one warpgroup adds, another one multiplies.
        """
        made, wide, count = self.configuration, self._sums.columns, self._sums.count
        products = [
            (slice_ * ROWS * ROW_BYTES, column * ROW_BYTES)
            for slice_ in range(made.slices)
            for column in range(0, made.columns, wide)
        ]
        zeros = [constant(self.plan.form.total, 0)] * (len(products) * count)
        steps = scf.ForOp(self._begin, self._end, number(1), [*zeros, *ring])
        with ir.InsertionPoint(steps.body):
            *before, slot, parity = steps.inner_iter_args
            sums: list[ir.Value] = [*before]
            self.full(slot).wait(parity)
            a, b = (moved(each, times(slot, made.stage_bytes)) for each in descriptors)
            for place, (down, right) in enumerate(products):
                begun = [self._sums.undefined()]
                begun = self._multiply(begun, moved(a, down), moved(b, right), adds=False)
                (of_step,) = self._sums.complete(begun)
                if place == len(products) - 1:
                    self._release(slot, is_lead)
                for at, each in enumerate(of_step, place * count):
                    sums[at] = arith.addf(sums[at], each)
            scf.YieldOp([*sums, *self.next(slot, parity)])
        *totals, slot, parity = steps.results
        own = made.columns // 2
        found: list[list[ir.Value]] = [
            [*totals[at : at + own]] for at in range(0, len(totals), own)
        ]
        return found, [slot, parity], None

    def _row_bytes(self, row: ir.Value) -> ir.Value:
        """Returns the distance in bytes of rows of the first factor from the first."""
        return times(row, ROW_BYTES)

    def _release(self, slot: ir.Value, holds: ir.Value) -> None:
        if self.configuration.neighbours == 1:
            self.empty(slot).arrive_where(holds)
            return
        far = plus(times(slot, 2 * BARRIER_BYTES), BARRIER_BYTES)
        Barrier(byte(self._read, far)).arrive_where(holds)

    def _release_read(self, slot: ir.Value, is_lead: ir.Value) -> None:
        """Does so of a stage that the threads of a warp have read themselves."""
        order_copies_after()
        wait_for_warp()
        self._release(slot, is_lead)

    def _multiply(
        self, sums: list[ir.Value], a: ir.Value, b: ir.Value, *, adds: bool = True
    ) -> list[ir.Value]:
        """Begins to add a step's products to `sums`, or without `adds` to 0; returns the sums.

        There is one for each 64 rows; `a` and `b` are the descriptors of the first of them.
        """
        plan = self.plan
        along = plan.first.is_along_terms, plan.second.is_along_terms
        begin_products()
        for step in range(plan.pieces):
            far = [step * (DEPTH_BYTES if each else plan.depth // 4 * ROW_BYTES) for each in along]
            second = moved(b, far[1])
            for slice_ in range(len(sums)):
                first = moved(a, far[0] + slice_ * ROWS * ROW_BYTES)
                sums[slice_] = self._sums.multiply(
                    *(sums[slice_], first, second, plan.kinds),
                    along_terms=along,
                    adds=adds or step > 0,
                )
        commit_products()
        return sums

    # Parts of sums.

    @property
    def _pitch(self) -> int:
        """Numbers from one row of a part to the next: 4 rows of pairs lie in different banks."""
        return self.configuration.columns + RUN

    def _keep(self, tile: ir.Value) -> None:
        """Writes the sums of the block's part of a tile to its shared memory, where stages were."""
        made, thread = self.configuration, self.numbers.thread
        own_row = self.own_row()
        found, _, _ = self._sum(self._descriptors(own_row), self.is_lead(), [number(0), number(0)])
        # All stages have been read.
        wait_for_threads(made.consumers * THREADS)
        lane = arith.andi(thread, number(LANES - 1))
        warp = arith.andi(arith.shrui(thread, number(5)), number(3))
        row = add(add(own_row, times(warp, 16)), arith.shrui(lane, number(2)))
        column = times(arith.andi(lane, number(3)), 2)
        size = element_bytes(self.plan.form.total)
        start = byte(self._stages, times(add(times(row, self._pitch), column), size))
        for slice_, own in enumerate(found):
            for at in range(0, len(own), 2):
                group, half = divmod(at, 4)
                down = slice_ * ROWS + half // 2 * 8
                far = (down * self._pitch + group * RUN) * size
                where = byte(start, number(far))
                store(where, self.plan.form.total, own[at : at + 2], 2 * size)

    def _add_parts(self, place: Place) -> None:
        """Adds all parts of the block's share of a tile, computes what follows and stores it."""
        made, plan, numbers = self.configuration, self.plan, self.numbers
        across = made.columns // RUN
        threads = made.consumers * THREADS
        starts = [mapped(self._stages, number(part)) for part in range(made.parts)]
        first = add(times(self._part, threads), numbers.thread)
        columns_end = numbers.size(plan.extent(plan.columns))
        rows_here = number(made.rows)
        if not self._window_box:
            rows_end = numbers.size(plan.extent(plan.rows))
            rows_here = arith.minui(arith.subi(rows_end, place.row), rows_here)
        loop = scf.ForOp(first, times(rows_here, across), number(made.parts * threads))
        with ir.InsertionPoint(loop.body):
            row, column = self._share(loop.induction_variable, rows_here, across)
            at = add(place.column, column)
            is_row, of_row = self.row(place, row)
            inside = scf.IfOp(arith.andi(is_row, is_below(at, columns_end)))
            with ir.InsertionPoint(inside.then_block):
                sums = self._of_all_parts(starts, add(times(row, self._pitch), column))
                rows = {**of_row, **place.outer}
                if plan.run == RUN and plan.extent(plan.columns).is_multiple_of(RUN):
                    Run(self, rows, at, RUN).store(sums)
                else:
                    for shift, total in enumerate(sums):
                        here = plus(at, shift)
                        one = scf.IfOp(is_below(here, columns_end))
                        with ir.InsertionPoint(one.then_block):
                            Run(self, rows, here, 1).store([total])
                            scf.YieldOp([])
                scf.YieldOp([])
            scf.YieldOp([])

    def _share(self, at: ir.Value, rows: ir.Value, across: int) -> tuple[ir.Value, ir.Value]:
        """Returns the row and the column of a run of sums, so that neighbours lie together.

        Where no result has columns side by side in memory, threads beside one another have rows.
        """
        inner = self.plan.columns[-1]
        if any(output.strides[inner] == ONE for output in self.plan.form.work.outputs):
            return arith.divui(at, number(across)), times(arith.remui(at, number(across)), RUN)
        run = arith.divui(at, rows)
        return arith.subi(at, multiply(run, rows)), times(run, RUN)

    def _of_all_parts(self, starts: list[ir.Value], index: ir.Value) -> list[ir.Value]:
        """A run of sums, each that of all parts."""
        total = self.plan.form.total
        size = element_bytes(total)
        far = times(index, size)
        parts = [load(byte(start, far), total, RUN, ACCESS_BYTES) for start in starts]
        found: list[ir.Value] = [*parts[0]]
        add_up = arith.addf if isinstance(total, ir.FloatType) else arith.addi
        for each in parts[1:]:
            found = [add_up(one, other) for one, other in zip(found, each, strict=True)]
        return found

    # Results.

    def end_of(self, tile: ir.Value, own_row: ir.Value) -> End:
        """Returns where a tile's results go, once what few of them need has begun to be loaded.

        That is known before the first product: the results need not wait for it.
        """
        lane = arith.andi(self.numbers.thread, number(LANES - 1))
        warp = arith.andi(arith.shrui(self.numbers.thread, number(5)), number(3))
        quad, group = arith.andi(lane, number(3)), arith.shrui(lane, number(2))
        lanes = Lanes(quad, group, add(own_row, times(warp, 16)), self.deals_columns)
        place = self.place(tile)
        return End(place, lanes, _Ahead(self, place, lanes, None).load_shared())

    def store(
        self, sums: list[list[ir.Value]], end: End, is_lead: ir.Value, ring: list[ir.Value]
    ) -> list[ir.Value]:
        """Computes what follows and stores it: a lane has two columns of each 8, of two rows.

        Returns the stage behind the companions' in the ring, and its parity.
        """
        made = self.configuration
        statistics = TileStatistics(self, self._stored, end.place, end.lanes)
        if not self._companion_steps:
            self._store_columns(sums, end, range(made.columns), None, statistics)
            statistics.end()
            return ring
        slot, parity = ring
        ends = [boxes[0].column for boxes in self._companion_steps[1:]] + [made.columns]
        for boxes, after in zip(self._companion_steps, ends, strict=True):
            self.full(slot).wait(parity)
            start = byte(self._stages, times(slot, made.stage_bytes))
            columns = range(boxes[0].column, after)
            arrived = Arrived(boxes, start, end.lanes)
            # The other consumer's steps wait for the stage of one that works apart.
            holds_all = made.apart and arrived.words(made.rows) <= _MOST_HELD
            if holds_all:
                for down in self.rows_down:
                    for column in columns[::RUN]:
                        arrived.load(down, column)
                self._release_read(slot, is_lead)
            self._store_columns(sums, end, columns, arrived, statistics)
            if not holds_all:
                self._release_read(slot, is_lead)
            slot, parity = self.next(slot, parity)
        statistics.end()
        return [slot, parity]

    @property
    def rows_down(self) -> list[int]:
        """How far below the first of a thread's rows the others of a tile are."""
        return [
            slice_ * ROWS + half * 8
            for slice_ in range(self.configuration.slices)
            for half in range(2)
        ]

    def _store_columns(
        self,
        sums: list[list[ir.Value]],
        end: End,
        columns: range,
        arrived: Arrived | None,
        statistics: TileStatistics,
    ) -> None:
        """Does so for some columns of a tile, whose companions have arrived.

        What the next rows or columns are computed with is loaded before these are stored: a load
        does not pass a store.
        """
        place, lanes = end.place, end.lanes
        exchange = Exchange(lanes.quad)
        ahead = _Ahead(self, place, lanes, arrived, end.shared)
        groups = [
            (column, down) for column in columns[:: _TILES_AT_ONCE * RUN] for down in self.rows_down
        ]
        loaded = ahead.load(*groups[0])
        for at, (column, down) in enumerate(groups):
            after = ahead.load(*groups[at + 1]) if at + 1 < len(groups) else []
            slice_, half = down // ROWS, down % ROWS // 8
            pairs = [
                sums[slice_][each // 2 + 2 * half : each // 2 + 2 * half + 2]
                for each in range(column, column + _TILES_AT_ONCE * RUN, RUN)
            ]
            start = plus(place.column, column)
            added = [
                partial(statistics.add, column=each, down=down)
                for each in range(column, column + _TILES_AT_ONCE * RUN, RUN)
            ]
            self._store_tiles(pairs, loaded, *ahead.row(down), start, end, exchange, added)
            if down == self.rows_down[-1]:
                statistics.end_columns(column)
            loaded = after

    def row(self, place: Place, number_: ir.Value) -> tuple[ir.Value, dict[int, ir.Value]]:
        """Returns whether there is a row of a tile, and its indices.

        Rows beyond the ends load what others do.
        """
        numbers, plan = self.numbers, self.plan
        if not self._window_box:
            end, row = numbers.size(plan.extent(plan.rows)), add(place.row, number_)
            if self.has_whole_rows:
                return _true(), numbers.split(row, plan.rows)
            near = arith.minui(row, plus(end, -1))
            return is_below(row, end), numbers.split(near, plan.rows)
        found: dict[int, ir.Value] = {}
        holds: ir.Value | None = None
        rest = number_
        for loop, size in reversed(self._window_box.items()):
            extent = plan.form.work.extents[loop].known
            whole = arith.divui(rest, number(size))
            at = add(place.corner[loop], arith.subi(rest, times(whole, size)))
            if extent % size:
                holds = both(holds, is_below(at, number(extent)))
                at = arith.minui(at, number(extent - 1))
            found[loop], rest = at, whole
        return _true() if holds is None else holds, found

    def _store_tiles(
        self,
        pairs: list[list[ir.Value]],
        loaded: list[dict[int, list[ir.Value]]],
        is_row: ir.Value,
        rows: Indices,
        start: ir.Value,
        end: End,
        exchange: Exchange,
        added: Sequence[Callable[..., None]],
    ) -> None:
        """Stores the lane's pairs of four tiles of 8 columns from `start` on.

        `loaded` has what it is computed with of each, by operands' numbers; what statistics reduce
        is `added` to these.
        """
        plan, lanes, pace = self.plan, end.lanes, end.pace
        is_whole = plan.run > 1 and plan.extent(plan.columns).is_multiple_of(RUN)
        words: dict[int, list[ir.Value]] = {}
        for tile, pair in enumerate(pairs):
            at = add(start, lanes.pair(tile))
            if not is_whole:
                for place, total in enumerate(pair):
                    self._store_one(plus(at, place), total, is_row, rows, place, added[tile])
                continue
            run = Run(self, rows, self.near_column(at), 2, loaded[tile])
            if pace is not None:
                pair = pace.after_earlier(pair)
            values = run.values(pair)
            inside: scf.IfOp | None = None
            for place, operand in enumerate(plan.form.work.outputs):
                both, is_exchanged = [each[place] for each in values], self.is_exchanged(operand)
                if is_exchanged:
                    both = [packed_word(both, operand.element)]
                    words.setdefault(place, []).extend(both)
                if pace is not None and place == 0:
                    pace.add(both[-1])
                if is_virtual(operand):
                    there = [self.is_column(at)] * 2
                    added[tile](operand, values=both, is_row=is_row, are_columns=there)
                if is_exchanged or is_virtual(operand):
                    continue
                if inside is None:
                    inside = scf.IfOp(arith.andi(is_row, self.is_column(at)))
                with ir.InsertionPoint(inside.then_block):
                    run.put(operand, both)
            if inside is not None:
                with ir.InsertionPoint(inside.then_block):
                    scf.YieldOp([])
        if words:
            self.store_words(words, is_row, rows, start, lanes.quad, exchange)

    def _store_one(
        self,
        column: ir.Value,
        total: ir.Value,
        is_row: ir.Value,
        rows: Indices,
        place: int,
        add_to: Callable[..., None],
    ) -> None:
        """Stores one result, that of a pair in a place."""
        is_there, outputs = self.is_column(column), self.plan.form.work.outputs
        run = Run(self, rows, self.near_column(column), 1)
        if self._stored:
            # Threads exchange what statistics reduce.
            values = run.values([total])[0]
            for operand, value in zip(outputs, values, strict=True):
                if is_virtual(operand):
                    at = partial(add_to, operand, place=place)
                    at(values=[value], is_row=is_row, are_columns=[is_there])
        inside = scf.IfOp(arith.andi(is_row, is_there))
        with ir.InsertionPoint(inside.then_block):
            Run(self, rows, column, 1).store([total])
            scf.YieldOp([])

    def store_words(
        self,
        words: Mapping[int, list[ir.Value]],
        is_row: ir.Value,
        rows: Indices,
        start: ir.Value,
        quad: ir.Value,
        exchange: Exchange,
    ) -> None:
        """Stores pairs of columns of four tiles, as words by outputs' places.

        Lanes exchange them before, unless each has pairs that follow one another.
        """
        at = add(start, times(quad, RUN))
        run = Run(self, rows, at, RUN)
        for place, own in words.items():
            each = own if self.deals_columns else exchange.run(own)
            operand = self.plan.form.work.outputs[place]
            if self.has_whole_rows and self.has_whole_columns:
                run.put(operand, elements_of_words(each, operand.element))
            else:
                holds = arith.andi(is_row, self.is_column(at))
                store_words_where(holds, run.where(operand), each)

    def near_column(self, column: ir.Value) -> ir.Value:
        """Returns a column: the first in place of one beyond the ends, which loads what it does."""
        return arith.select(self.is_column(column), column, number(0))

    def is_column(self, column: ir.Value) -> ir.Value:
        """Returns whether there is a column of a tile."""
        if self.has_whole_columns:
            return _true()
        return is_below(column, self.numbers.size(self.plan.extent(self.plan.columns)))

    @cached_property
    def has_whole_rows(self) -> bool:
        """Whether all rows of tiles are known to be rows of the result."""
        made, first = self.configuration, self.plan.first
        if isinstance(first, Window):
            sizes = self._window_box.items()
            return all(self.plan.form.work.extents[loop].known % size == 0 for loop, size in sizes)
        return self.plan.extent(self.plan.rows).is_multiple_of(made.rows * made.down)

    @cached_property
    def has_whole_columns(self) -> bool:
        made = self.configuration
        return self.plan.extent(self.plan.columns).is_multiple_of(made.columns * made.across)

    def is_exchanged(self, operand: Operand) -> bool:
        """Returns whether lanes exchange results, so that each has a run of columns to store."""
        run = self._runs.get(operand.number, 1)
        return run == RUN and 2 * element_bytes(operand.element) == WORD_BYTES

    def is_run(self, operand: Operand, count: int) -> bool:
        """Returns whether so many columns of an operand are accessed together."""
        return count <= self._runs.get(operand.number, 1)


def _true() -> ir.Value:
    return constant(ir.IntegerType.get_signless(1), 1)


def _place_along(axis: Axis, indices: Indices) -> ir.Value:
    """Returns the place along an axis of what some indices read."""
    # Divided without signs.
    more = -(-max(-axis.constant, 0) // axis.by) if axis.by > 1 else 0
    place = number(axis.constant + more * axis.by)
    for loop, by in axis.factors.items():
        place = add(place, times(indices[loop], by))
    if axis.by == 1:
        return place
    if axis.is_rest:
        return arith.remui(place, number(axis.by))
    return plus(arith.divui(place, number(axis.by)), -more)


class _Neighbour:
    """A block among those of its cluster, which have tiles below and beside one another."""

    def __init__(self, made: WarpgroupConfiguration, rank: ir.Value) -> None:
        self._made = made
        down = number(made.down)
        self.row, self.column = arith.remui(rank, down), arith.divui(rank, down)

    def share(self, side: int) -> tuple[ir.Value, ir.Value]:
        """Returns which part of a factor the block copies, and to which blocks, as bits (i16).

        Blocks beside one another read the same rows, those below one another the same columns.
        """
        made = self._made
        if side == 0:
            mask, part = sum(1 << made.down * each for each in range(made.across)), self.column
            shift = self.row
        else:
            mask, part = (1 << made.down) - 1, self.row
            shift = times(self.column, made.down)
        bits = arith.shli(number(mask), shift)
        return part, arith.trunci(ir.IntegerType.get_signless(16), bits)

    def reader(self, lane: ir.Value) -> ir.Value:
        """Returns a lane's block of those that read with this one, which is the first of them."""
        made = self._made
        row = arith.remui(add(self.row, lane), number(made.down))
        below = add(row, times(self.column, made.down))
        if made.across == 1:
            return below
        beside = arith.remui(
            add(self.column, arith.subi(lane, number(made.down - 1))), number(made.across)
        )
        other = add(self.row, times(beside, made.down))
        return arith.select(is_below(lane, number(made.down)), below, other)


class _Ahead:
    """What the results of four tiles of 8 columns are computed with, a lane's pair of each.

    What is the same in all rows or all columns is loaded once.
    """

    def __init__(
        self,
        kernel: WarpgroupKernel,
        place: Place,
        lanes: Lanes,
        arrived: Arrived | None,
        shared: Mapping[tuple[int, int, int], list[ir.Value]] = {},
    ) -> None:
        self._shared = shared
        self._kernel, self._place, self._lanes, self._arrived = kernel, place, lanes, arrived
        form = kernel.plan.form
        self._operands = [
            operand
            for operand in form.work.inputs
            if operand not in (form.first.operand, form.second.operand)
            and is_used(form.work.block.arguments[operand.number])
        ]
        # Of columns that are no whole tiles, or of which pairs are of two loops, each loads alone.
        plan = kernel.plan
        self._is_whole = plan.run > 1 and plan.extent(plan.columns).is_multiple_of(RUN)
        self._rows: dict[int, tuple[ir.Value, Indices]] = {}
        self._known: dict[tuple[int, int, int], list[ir.Value]] = {}

    def row(self, down: int) -> tuple[ir.Value, Indices]:
        """Returns whether there is a lane's row, so far below its first, and its indices."""
        if down not in self._rows:
            is_row, found = self._kernel.row(self._place, plus(self._lanes.row, down))
            self._rows[down] = is_row, {**found, **self._place.outer}
        return self._rows[down]

    def load(self, column: int, down: int) -> list[dict[int, list[ir.Value]]]:
        """Returns of each of four tiles from a column of the tile on, by operands' numbers."""
        if not self._is_whole:
            return [{}] * _TILES_AT_ONCE
        return [
            self._of_tile(each, down) for each in range(column, column + _TILES_AT_ONCE * RUN, RUN)
        ]

    def load_shared(self) -> dict[tuple[int, int, int], list[ir.Value]]:
        """Loads what all rows or all columns of the tile share, where registers hold it."""
        plan, made = self._kernel.plan, self._kernel.configuration
        found: dict[tuple[int, int, int], list[ir.Value]] = {}
        room = plan.spare_registers(made)
        for operand in self._operands if self._is_whole else []:
            words = 2 * element_bytes(operand.element) // WORD_BYTES
            keys = {
                self._key(operand, column, down): (column, down)
                for column in range(0, made.columns, RUN)
                for down in self._kernel.rows_down
            }
            is_shared = not _moves(operand, plan.columns) or not _moves(operand, plan.rows)
            if not is_shared or not words or len(keys) * words > room:
                continue
            room -= len(keys) * words
            for key, (column, down) in keys.items():
                loaded = self._run(column, down).words(operand)
                if loaded is not None:
                    found[key] = loaded
        return found

    def _key(self, operand: Operand, column: int, down: int) -> tuple[int, int, int]:
        """Returns what tells apart what is read of an operand."""
        plan = self._kernel.plan
        return (
            operand.number,
            column if _moves(operand, plan.columns) else 0,
            down if _moves(operand, plan.rows) else 0,
        )

    def _run(self, column: int, down: int) -> Run:
        tile = column % _DEALT // RUN
        own = plus(self._place.column, column - tile * RUN)
        at = self._kernel.near_column(add(own, self._lanes.pair(tile)))
        return Run(self._kernel, self.row(down)[1], at, 2)

    def _of_tile(self, column: int, down: int) -> dict[int, list[ir.Value]]:
        found = {} if self._arrived is None else self._arrived.pairs(down, column)
        run: Run | None = None
        for operand in self._operands:
            if operand.number in found:
                continue
            key = self._key(operand, column, down)
            if key in self._shared:
                found[operand.number] = elements_of_words(self._shared[key], operand.element)
                continue
            if key not in self._known:
                run = run or self._run(column, down)
                self._known[key] = run.elements(operand)
            found[operand.number] = self._known[key]
        return found


def _moves(operand: Operand, loops: Sequence[int]) -> bool:
    """Returns whether what is read of an operand depends on some loops."""
    return any(operand.strides[loop] != ZERO for loop in loops)


class Run:
    """Results of neighbouring columns: what they need is loaded together where that lies so."""

    def __init__(
        self,
        kernel: WarpgroupKernel,
        others: Indices,
        column: ir.Value,
        count: int,
        loaded: Mapping[int, list[ir.Value]] = {},
    ) -> None:
        self._kernel, self._count = kernel, count
        self._numbers, self._work = kernel.numbers, kernel.plan.form.work
        self._indices = {**others, **self._numbers.split(column, kernel.plan.columns)}
        self._inner = kernel.plan.columns[-1]
        self._loaded = dict(loaded)

    def store(self, sums: list[ir.Value]) -> None:
        """Computes all results and stores them."""
        values = self.values(sums)
        for place, operand in enumerate(self._work.outputs):
            if not is_virtual(operand):
                self.put(operand, [each[place] for each in values])

    def values(self, sums: list[ir.Value]) -> list[list[ir.Value]]:
        """Returns what the region yields, for each column."""
        yielded = self._numbers.region.yielded
        return [
            [point.value(each) for each in yielded]
            for point in (self._point(place, total) for place, total in enumerate(sums))
        ]

    def put(self, operand: Operand, values: list[ir.Value]) -> None:
        """Stores an output's elements."""
        size = element_bytes(operand.element)
        if self._kernel.is_run(operand, self._count):
            store(self.where(operand, 0), operand.element, values, size * self._count)
            return
        for place, value in enumerate(values):
            store(self.where(operand, place), operand.element, [value], size)

    def _point(self, place: int, total: ir.Value) -> Point:
        indices = dict(self._indices)
        indices[self._inner] = plus(indices[self._inner], place)
        by_number = {operand.number: operand for operand in self._work.operands}
        index = ir.IndexType.get()

        def index_of(loop: int) -> ir.Value:
            found = indices.get(loop)
            return constant(index, 0) if found is None else arith.index_castui(index, found)

        point = Point(
            self._numbers.region,
            frozenset(range(len(self._work.extents))),
            lambda operand: self.elements(by_number[operand])[place],
            index_of,
        )
        point.known[self._kernel.plan.form.sum.results[0]] = total
        return point

    def elements(self, operand: Operand) -> list[ir.Value]:
        """Returns what is read of an operand for each column."""
        step = operand.strides[self._inner]
        size = element_bytes(operand.element)
        if operand.number not in self._loaded:
            if step == ZERO:
                found = load(self.where(operand, 0), operand.element, 1, size) * self._count
            elif self._kernel.is_run(operand, self._count):
                alignment = size * self._count
                where = self.where(operand, 0)
                found = load(where, operand.element, self._count, alignment)
            else:
                found = [
                    load(self.where(operand, each), operand.element, 1, size)[0]
                    for each in range(self._count)
                ]
            self._loaded[operand.number] = found
        return self._loaded[operand.number]

    def words(self, operand: Operand) -> list[ir.Value] | None:
        """Returns the words of what is read of an operand; None where it does not lie in any."""
        if operand.strides[self._inner] == ZERO or not self._kernel.is_run(operand, self._count):
            return None
        size = self._count * element_bytes(operand.element)
        return load(self.where(operand, 0), i32(), size // WORD_BYTES, size)

    def where(self, operand: Operand, place: int = 0) -> ir.Value:
        """Returns the address of what is read or written of an operand for a column."""
        at = self._numbers.place(operand.offset, operand.strides, self._indices)
        if place:
            step = operand.strides[self._inner]
            far = number(place) if step == ONE else times(self._numbers.size(step), place)
            at = add(at, far)
        pointer = self._numbers.parameters.pointer(operand.buffer)
        return address(pointer, operand.element, at)


class Exchange:
    """Turns what four neighbouring lanes have of four tiles: each gets all columns of one."""

    def __init__(self, quad: ir.Value) -> None:
        self._bits = [
            arith.cmpi(arith.CmpIPredicate.ne, arith.andi(quad, number(1 << bit)), number(0))
            for bit in range(2)
        ]

    def run(self, words: list[ir.Value]) -> list[ir.Value]:
        """The four words of the lane's tile, of one word of each tile."""
        found = list(words)
        for bit, swaps in enumerate((((0, 1), (2, 3)), ((0, 2), (1, 3)))):
            for low, high in swaps:
                one, other = found[low], found[high]
                given = arith.select(self._bits[bit], one, other)
                taken = gpu.ShuffleOp(
                    given, number(1 << bit), number(LANES), gpu.ShuffleMode.XOR
                ).shuffleResult
                found[low] = arith.select(self._bits[bit], taken, one)
                found[high] = arith.select(self._bits[bit], other, taken)
        return found


def packed_word(values: list[ir.Value], element: ir.Type) -> ir.Value:
    """Two elements of 16 bits as a word."""
    both = vector.from_elements(ir.VectorType.get([2], element), values)
    return ir.Operation.create("llvm.bitcast", results=[i32()], operands=[both]).results[0]
