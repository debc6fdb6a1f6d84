"""The kernel of a convolution of few channels by warpgroups, which read patches of the image.

The copy engine brings the patch of the image under a tile of results once, and of the columns steps
of terms, through a ring as for products (warpgroup_kernel.py); or all of these at the beginning,
where a block keeps them. Consumers multiply a patch by them, chunk by chunk of each place of the
window (patch.py). The last of an odd number of chunks has one of zeros beside it, which comes as
what lies beyond the image's edges does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ....dialects.mlir import arith, gpu, ir, scf
from ...i32 import is_below
from ...rewriting import constant
from ..elements import ACCESS_BYTES, WORD_BYTES, element_bytes, elements_of_words, store
from ..parameters import Parameters
from ..size import ONE, Size
from ..warp_matrices import LANES
from ..warpgroup_matrices import (
    BARRIER_BYTES,
    DEPTH_BYTES,
    PATCH_SIDE,
    ROW_BYTES,
    ROWS,
    THREADS,
    Barrier,
    Sums,
    begin_products,
    commit_products,
    copy_box,
    matrix_descriptor,
    moved,
    plain_matrix_descriptor,
    tensor_map,
    wait_for_products,
    with_leading,
    with_leading_to,
)
from ..work import Operand
from .companions import RUN
from .indices import Indices, add, both, byte, multiply, number, plus, times
from .patch import Patch
from .patches import PatchConfiguration, steps_of
from .tile_statistics import Stored
from .warpgroup_kernel import Exchange, Place, Run, WarpgroupKernel
from .warpgroups import WarpgroupPlan
from .window import Window


class PatchKernel(WarpgroupKernel):
    """Emits the body."""

    def __init__(
        self,
        plan: WarpgroupPlan,
        made: PatchConfiguration,
        parameters: Parameters,
        runs: Mapping[int, int],
        stored: Sequence[Stored] = (),
    ) -> None:
        super().__init__(plan, made.tile, parameters, runs, stored)
        assert isinstance(plan.first, Patch)
        layout = plan.first.layout(made.rows)
        assert layout is not None
        self._patch, self._made, self._layout = plan.first, made, layout

    @cached_property
    def deals_columns(self) -> bool:
        """Not here: lanes exchange rows, and have eight of a column each."""
        return False

    def allocate(self) -> None:
        made = self._made
        self._stages = self.shared.area(made.stages * made.stage_bytes)
        count = made.slots + self._patch.is_odd
        self._patches = self.shared.area(count * self._layout.bytes)
        self._patch_barriers = self.shared.area((2 * made.slots + 1) * BARRIER_BYTES)

    def begin_barriers(self) -> None:
        super().begin_barriers()
        for patch in range(self._made.slots):
            self._filled(number(patch)).begin(1)
            self._free(number(patch)).begin(self._made.tile.together * THREADS // LANES)
        self._zeros.begin(1)

    def _filled(self, patch: ir.Value) -> Barrier:
        return Barrier(byte(self._patch_barriers, times(patch, 2 * BARRIER_BYTES)))

    def _free(self, patch: ir.Value) -> Barrier:
        at = plus(times(patch, 2 * BARRIER_BYTES), BARRIER_BYTES)
        return Barrier(byte(self._patch_barriers, at))

    @property
    def _zeros(self) -> Barrier:
        """The barrier of the patch of zeros, which is behind the others."""
        return Barrier(byte(self._patch_barriers, number(2 * self._made.slots * BARRIER_BYTES)))

    def _start(self, patch: ir.Value) -> ir.Value:
        return byte(self._patches, times(patch, self._layout.bytes))

    def _next_patch(
        self, patch: ir.Value, parity: ir.Value, by: int = 1
    ) -> tuple[ir.Value, ir.Value]:
        """The patch that comes so many later, and the parity of its phase."""
        following, count = plus(patch, by), number(self._made.slots)
        is_beyond = arith.cmpi(arith.CmpIPredicate.uge, following, count)
        first = arith.select(is_beyond, arith.subi(following, count), following)
        turned = arith.xori(parity, number(1))
        return first, arith.select(is_beyond, turned, parity)

    # Copies.

    def window_map(self, window: Window) -> ir.Value:
        pixels, *outer = window.axes
        count = self._patch.counts[-1]
        sizes = [Size(pixels.size * count), *(Size(axis.size) for axis in outer)]
        strides = [Size(1), *(Size(axis.stride) for axis in outer)]
        return tensor_map(
            self.parameters,
            "rows",
            (window.factor.buffer, Size(0)),
            sizes[::-1],
            strides[::-1],
            self._layout.box_sizes,
            rounds=self.plan.form.is_rounded,
            is_swizzled=False,
        )

    def produce(self, first: ir.Value, tiles: ir.Value, step: ir.Value) -> None:
        made = self._made
        if self._patch.is_odd:
            self._zeros.expect(self._layout.copied_bytes)
            self._copy_patch(number(made.slots), None, self._zeros)
        if made.keeps:
            for at in range(made.stages):
                full = self.full(number(at))
                full.expect(made.stage_bytes)
                start = byte(self._stages, number(at * made.stage_bytes))
                term = number(at * self.plan.depth)
                self.copy(1, start, number(0), term, {}, made.columns, full)
        zero, one = number(0), number(1)
        loop = scf.ForOp(first, tiles, step, [zero, one, zero, one])
        with ir.InsertionPoint(loop.body):
            *ring, patch, parity = loop.inner_iter_args
            place = self.place(loop.induction_variable)
            self._free(patch).wait(parity)
            filled = self._filled(patch)
            filled.expect(self._layout.copied_bytes)
            self._copy_patch(patch, place, filled)
            if not made.keeps:
                ring = self._copy_columns(place, ring)
            scf.YieldOp([*ring, *self._next_patch(patch, parity)])

    def _copy_columns(self, place: Place, ring: Sequence[ir.Value]) -> list[ir.Value]:
        """Begins the copies of the steps of a tile's columns; returns the next stage and parity."""
        made = self._made
        steps = scf.ForOp(number(0), number(steps_of(self.plan)), number(1), list(ring))
        with ir.InsertionPoint(steps.body):
            slot, parity = steps.inner_iter_args
            self.empty(slot).wait(parity)
            full = self.full(slot)
            full.expect(made.stage_bytes)
            start = byte(self._stages, times(slot, made.stage_bytes))
            term = times(steps.induction_variable, self.plan.depth)
            self.copy(1, start, place.column, term, place.outer, made.columns, full)
            scf.YieldOp([*self.next(slot, parity)])
        return list(steps.results)

    def _copy_patch(self, patch: ir.Value, place: Place | None, barrier: Barrier) -> None:
        """Begins the copies of a patch; of one beyond the edges, of zeros, without a place."""
        count = self._patch.counts[-1]
        indices: Indices = {} if place is None else {**place.outer, **place.corner}
        for box in self._layout.boxes:
            places: list[ir.Value] = []
            for at, axis in enumerate(self._patch.axes):
                if place is None:
                    places.append(number(0 if at else axis.size * count))
                    continue
                found = number(axis.constant + box.places[-1 - at])
                for loop, by in axis.factors.items():
                    if loop in indices:
                        found = add(found, times(indices[loop], by))
                places.append(found if at else times(found, count))
            to = byte(self._start(patch), number(box.at))
            copy_box(to, self.maps[0], places, barrier.address)

    # Products.

    def consume(self, first: ir.Value, tiles: ir.Value, step: ir.Value) -> None:
        made, is_lead = self._made, self.is_lead()
        self._sums = Sums(made.columns, self.plan.form.total)
        columns = matrix_descriptor(self._stages, 0)
        if self._patch.is_odd:
            self._zeros.wait(number(0))
        zero, turns = number(0), 1
        patch, self._own_row = zero, self.own_row()
        if made.keeps:
            # Each takes every so many-th tile: one multiplies while others store.
            patch = arith.shrui(self.numbers.thread, number(7))
            turns, self._own_row = made.consumers, zero
            first, step = add(first, multiply(patch, step)), times(step, turns)
            for stage in range(made.stages):
                self.full(number(stage)).wait(zero)
        loop = scf.ForOp(first, tiles, step, [zero, zero, patch, zero])
        with ir.InsertionPoint(loop.body):
            *ring, patch, parity = loop.inner_iter_args
            self._filled(patch).wait(parity)
            end = self.end_of(loop.induction_variable, self._own_row)
            found, ring = self._sum_patch(patch, columns, is_lead, ring)
            self._free(patch).arrive_where(is_lead)
            self.store(found, end, is_lead, ring)
            scf.YieldOp([*ring, *self._next_patch(patch, parity, turns)])

    def _sum_patch(
        self, patch: ir.Value, columns: ir.Value, is_lead: ir.Value, ring: Sequence[ir.Value]
    ) -> tuple[list[list[ir.Value]], list[ir.Value]]:
        """The thread's sums of a tile; the stage after its steps, and its parity."""
        made = self._made
        slot, parity = ring
        starts = self._slices(patch)
        sums = [self._sums.undefined() for _ in starts]
        per_step = ROW_BYTES // DEPTH_BYTES
        previous: ir.Value | None = None
        for step in range(steps_of(self.plan)):
            at = number(step) if made.keeps else slot
            if not made.keeps:
                self.full(at).wait(parity)
            if step == 0 or not made.keeps:
                begin_products()
            b = moved(columns, times(at, made.stage_bytes))
            pairs = range(step * per_step, min((step + 1) * per_step, self._patch.pairs))
            for place, pair in enumerate(pairs):
                second = moved(b, place * DEPTH_BYTES)
                for slice_, start in enumerate(starts):
                    sums[slice_] = self._sums.multiply(
                        *(sums[slice_], self._matrix(start, pair), second, self.plan.kinds),
                        along_terms=(True, True),
                        adds=pair > 0,
                    )
            if made.keeps:
                continue
            commit_products()
            if previous is not None:
                wait_for_products(1)
                self.empty(previous).arrive_where(is_lead)
            previous = slot
            slot, parity = self.next(slot, parity)
        if made.keeps:
            commit_products()
        found = self._sums.complete(sums)
        if previous is not None:
            self.empty(previous).arrive_where(is_lead)
        return found, [slot, parity]

    def _slices(self, patch: ir.Value) -> list[ir.Value]:
        """The descriptors of the first pixels of the thread's products of 64 rows, twice the same
        chunk of each.
        """
        across, right, below = self._patch.group_steps(self._layout)
        down = self._patch.down(self._layout)
        first = arith.divui(self._own_row, number(ROWS))
        found: list[ir.Value] = []
        for slice_ in range(self._made.tile.slices):
            group = plus(first, slice_)
            under = arith.divui(group, number(across))
            beside = arith.subi(group, times(under, across))
            far = add(times(under, below), times(beside, right))
            found.append(plain_matrix_descriptor(byte(self._start(patch), far), 0, down))
        return found

    def _matrix(self, start: ir.Value, pair: int) -> ir.Value:
        """The descriptor of two chunks of each row of a product."""
        patch, layout = self._patch, self._layout
        at = patch.offset_of(layout, 2 * pair)
        if 2 * pair + 1 < patch.chunks:
            return with_leading(moved(start, at), patch.offset_of(layout, 2 * pair + 1) - at)
        here = moved(start, at)
        zeros = plain_matrix_descriptor(self._start(number(self._made.slots)), 0, 0)
        return with_leading_to(here, zeros)

    # Results.

    def is_exchanged(self, operand: Operand) -> bool:
        """Returns whether lanes exchange results, so that each has some beside one another."""
        return operand.number in turned_outputs(self.plan)

    def store_words(
        self,
        words: Mapping[int, list[ir.Value]],
        is_row: ir.Value,
        rows: Indices,
        start: ir.Value,
        quad: ir.Value,
        exchange: Exchange,
    ) -> None:
        """Stores eight neighbouring results of a column at once, where these lie together.

        They are eight rows of a tile, of which all are there or none.
        """
        group = arith.shrui(arith.andi(self.numbers.thread, number(LANES - 1)), number(2))
        turn = _Turn(group)
        found = {place: turn.run(each) for place, each in words.items()}
        own = add(times(arith.shrui(group, number(1)), RUN), arith.andi(group, number(1)))
        column = add(add(start, own), times(quad, 2))
        end = self.numbers.size(self.plan.extent(self.plan.columns))
        inner = self.plan.rows[-1]
        first = {**rows, inner: arith.andi(rows[inner], number(-PATCH_SIDE))}
        inside = scf.IfOp(arith.andi(is_row, is_below(column, end)))
        with ir.InsertionPoint(inside.then_block):
            run = Run(self, first, column, 1)
            for place, each in found.items():
                operand = self.plan.form.work.outputs[place]
                values = elements_of_words(each, operand.element)
                store(run.where(operand, 0), operand.element, values, ACCESS_BYTES)
            scf.YieldOp([])

    def row(self, place: Place, number_: ir.Value) -> tuple[ir.Value, dict[int, ir.Value]]:
        inner = self.plan.rows[-1]
        along = {inner: number_}
        if not self._layout.is_wide:
            across = self._layout.box[-1] // PATCH_SIDE
            group = arith.divui(number_, number(ROWS))
            down = arith.divui(group, number(across))
            beside = arith.subi(group, times(down, across))
            within = arith.remui(number_, number(ROWS))
            x, y = arith.remui(within, number(PATCH_SIDE)), arith.divui(within, number(PATCH_SIDE))
            along = {
                inner: add(times(beside, PATCH_SIDE), x),
                self.plan.rows[-2]: add(times(down, PATCH_SIDE), y),
            }
        found: dict[int, ir.Value] = {}
        holds: ir.Value | None = None
        for loop, size in zip(self.plan.rows, self._layout.box, strict=True):
            extent = self.plan.form.work.extents[loop].known
            at = place.corner[loop]
            if loop in along:
                at = add(at, along[loop])
            if extent % size:
                holds = both(holds, is_below(at, number(extent)))
                at = arith.minui(at, number(extent - 1))
            found[loop] = at
        return constant(ir.IntegerType.get_signless(1), 1) if holds is None else holds, found


def turned_outputs(plan: WarpgroupPlan) -> dict[int, Operand]:
    """Returns the outputs, by numbers, of which lanes store eight neighbouring rows at once."""
    inner = plan.rows[-1]
    extent = plan.form.work.extents[inner]
    return {
        output.number: output
        for output in plan.form.work.outputs
        if output.strides[inner] == ONE
        and extent.is_multiple_of(PATCH_SIDE)
        and 2 * element_bytes(output.element) == WORD_BYTES
        and all(
            stride.is_multiple_of(PATCH_SIDE) or not stride.is_known
            for loop, stride in enumerate(output.strides)
            if loop != inner
        )
    }


class _Turn:
    """Turns pairs of columns of four tiles that lanes have of eight rows, the lanes' `group`s.

    Each lane gets all rows of a column: of the tile of half its group, and the pair's first or
    second one as the group is even or odd.
    """

    def __init__(self, group: ir.Value) -> None:
        self._bits = [
            arith.cmpi(arith.CmpIPredicate.ne, arith.andi(group, number(1 << bit)), number(0))
            for bit in range(3)
        ]

    def run(self, words: list[ir.Value]) -> list[ir.Value]:
        """The four words of the lane's column."""
        found = list(words)
        for bit, swaps in ((2, ((0, 2), (1, 3))), (1, ((0, 1), (2, 3)))):
            holds = self._bits[bit]
            for low, high in swaps:
                one, other = found[low], found[high]
                taken = self._taken(arith.select(holds, one, other), bit)
                found[low] = arith.select(holds, taken, one)
                found[high] = arith.select(holds, other, taken)
        holds = self._bits[0]
        for low in (0, 2):
            one, other = found[low], found[low + 1]
            firsts, seconds = _halves(one, other)
            taken = self._taken(arith.select(holds, firsts, seconds), 0)
            kept = arith.select(holds, seconds, firsts)
            # The even lane's rows come first.
            even, odd = arith.select(holds, taken, kept), arith.select(holds, kept, taken)
            found[low], found[low + 1] = _halves(even, odd)
        return found

    def _taken(self, given: ir.Value, bit: int) -> ir.Value:
        """What the lane has been given whose group differs in a bit."""
        return gpu.ShuffleOp(
            given, number(4 << bit), number(LANES), gpu.ShuffleMode.XOR
        ).shuffleResult


def _halves(one: ir.Value, other: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The words of the lower halves of two words, and of the upper ones."""
    low = arith.ori(arith.andi(one, number(0xFFFF)), arith.shli(other, number(16)))
    high = arith.ori(arith.shrui(one, number(16)), arith.andi(other, number(-0x10000)))
    return low, high
