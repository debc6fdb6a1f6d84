"""The row schedule: reductions along memory, and what is computed of rows with them.

Sums of rows, softmax, norms, arguments of extremes. A team of threads takes a row: some lanes of a
warp, a block, or the blocks of a cluster. Rows that fit are kept in registers; others are read once
for each reduction that needs the result of another, and once more for outputs along the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from ....dialects.mlir import arith, ir
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions, emit_first_that_holds
from ..configuration import Chooser
from ..dependents import let_next_begin
from ..device import Device
from ..kernels import Kernels
from ..launch import emit_launch, operation_name, thread_bound
from ..parameters import Parameters
from ..region import Region
from ..size import MOST_IN_32_BITS
from ..work import Layout, Work
from .choice import choices, may_be_peeled
from .configuration import Kind, RowConfiguration, refusal
from .exponential_sum import relax_powers
from .held import emit_held
from .needs import needed_collectives
from .plan import RowPlan
from .space import RowSpace, read_rows, rows_of
from .split import launch_split, require_split
from .stages import plan_stages
from .streamed import emit_streamed


def chooser(work: Work, kernels: Kernels, device: Device) -> RowChooser | None:
    """Decides on the kernels, or None where rows do not lie along memory."""
    space = read_rows(work)
    if space is None:
        return None
    region = Region(work)
    if any(needed_collectives(region, value) for op in region.checks for value in op.operands):
        return None
    relax_powers(work)
    return RowChooser(space, kernels, device)


class RowChooser(Chooser[RowConfiguration]):
    """Kernels for classes of lengths and alignments, and last one for rows of any strides."""

    def __init__(self, space: RowSpace, kernels: Kernels, device: Device) -> None:
        self.work = space.work
        self._space = space
        self._kernels, self._device = kernels, device
        stages = plan_stages(self.work, Region(self.work), merge=True).stages
        self._has_one_stage = len(stages) == 1

    @cached_property
    def _strided(self) -> RowSpace:
        """The rows in buffers of which no layout is assumed."""
        if not any(operand.is_assumed for operand in self.work.operands):
            return self._space
        return rows_of(self.work.in_layout(Layout.ANY))

    def choices(self) -> Sequence[RowConfiguration]:
        return choices(self._space, self._strided, self._device, has_one_stage=self._has_one_stage)

    def refusal(self, made: RowConfiguration) -> str | None:
        if made.layout is Layout.ROWS:
            return "'layout' is packed or any"
        space = self._in(made.layout)
        return refusal(
            space,
            made,
            self._device,
            can_peel=may_be_peeled(space, 1),
        )

    def alternative(self, made: RowConfiguration) -> Alternative:
        plan = RowPlan(self._in(made.layout), made)
        require = partial(plan.require, blocks=made.blocks)
        if made.kernel is Kind.SPLIT:

            def require_both(found: Conditions) -> None:
                require(found)
                require_split(plan, found)

            return require_both, lambda: launch_split(plan, self._kernels, _attributes(plan))
        return require, lambda: _launch(plan, self._kernels)

    def _in(self, layout: Layout) -> RowSpace:
        return self._strided if layout is Layout.ANY else self._space


def _launch(plan: RowPlan, kernels: Kernels) -> None:
    """Launches the kernel; an open one in as many blocks of a cluster as are best for the row."""
    kernel, parameters, shared = _build(plan, kernels)
    team = plan.team
    if not team.is_open or team.blocks == 1:
        _launch_in(plan, kernel, parameters, team.blocks, shared)
        return
    ranges = plan.cluster_ranges()
    best: list[ir.Value] = []

    def are_best(found: Conditions, blocks: int) -> None:
        if blocks == 1:
            longest = plan.configuration.longest_in(1)
            assert longest is not None
            found.require_at_most(plan.space.length, longest)
            return
        if not best:
            best.append(_open_blocks(plan, ranges))
        found.require(arith.cmpi(arith.CmpIPredicate.eq, best[0], index_constant(blocks)))

    emit_first_that_holds(
        plan.space.work.open,
        [
            (
                partial(are_best, blocks=blocks),
                partial(_launch_in, plan, kernel, parameters, blocks),
            )
            for blocks in sorted({1, *(blocks for _, blocks in ranges)} - {team.blocks})
        ],
        partial(_launch_in, plan, kernel, parameters, team.blocks),
    )


def _launch_in(
    plan: RowPlan, kernel: ir.SymbolRefAttr, parameters: Parameters, blocks: int, shared: int = 0
) -> None:
    """Launches with so many blocks in a cluster, and bytes of shared memory for each."""
    team, count = plan.team, plan.space.work.open.value(plan.space.count)
    arguments = parameters.arguments()
    if team.rows > 1 and team.is_open:
        threads = index_constant(team.threads)
        lanes = _open_lanes(plan)
        grid = arith.ceildivui(arith.muli(count, lanes), threads)
        emit_launch(kernel, grid, lanes, arguments, block_rows=arith.divui(threads, lanes))
        return
    grid = count
    if team.rows > 1:
        grid = arith.ceildivui(count, index_constant(team.rows))
    elif blocks > 1:
        grid = arith.muli(count, index_constant(blocks))
    threads = _open_threads(plan, blocks) if team.is_open else team.threads
    high: ir.Value | None = None
    if plan.configuration.tall:
        wide = arith.minui(grid, index_constant(MOST_IN_32_BITS // blocks * blocks))
        high = arith.ceildivui(grid, arith.maxui(wide, index_constant(1)))
        grid = wide
    emit_launch(kernel, grid, threads, arguments, shared, rows=high, cluster=blocks)


def _build(plan: RowPlan, kernels: Kernels) -> tuple[ir.SymbolRefAttr, Parameters, int]:
    """Returns the kernel, what it is given, and the bytes of shared memory of a block."""
    work, team = plan.space.work, plan.team
    made: list[Parameters] = []
    shared = 0

    def emit(entry: ir.Block) -> None:
        nonlocal shared
        parameters = Parameters(entry, work.open)
        made.append(parameters)
        let_next_begin(work.device)
        if plan.streams:
            emit_streamed(plan, parameters)
        else:
            shared = emit_held(plan, parameters)

    kernel = kernels.build(
        operation_name(work.op),
        None if team.is_open else team.threads,
        emit,
        work.op.location,
        _attributes(plan),
        plan.configuration.attribute,
        plan.group,
    )
    return kernel, made[0], shared


def _open_lanes(plan: RowPlan) -> ir.Value:
    """Emits the lanes that a row needs: the fewest of which each has no more than its vectors."""
    length = plan.space.work.open.value(plan.space.length)
    lanes = plan.team.lanes
    found = index_constant(lanes)
    while lanes > 1:
        lanes //= 2
        most = index_constant(lanes * plan.vectors * plan.width)
        fits = arith.cmpi(arith.CmpIPredicate.ule, length, most)
        found = arith.select(fits, index_constant(lanes), found)
    return found


def _open_blocks(plan: RowPlan, ranges: Sequence[tuple[int, int]]) -> ir.Value:
    """Emits the blocks of a row's cluster, as ranges of its warps say."""
    length = plan.space.work.open.value(plan.space.length)
    step = WARP_LANES * plan.vectors * plan.width
    found = index_constant(ranges[-1][1])
    for warps, blocks in reversed(ranges[:-1]):
        is_here = arith.cmpi(arith.CmpIPredicate.ule, length, index_constant(warps * step))
        found = arith.select(is_here, index_constant(blocks), found)
    return found


def _open_threads(plan: RowPlan, blocks: int) -> ir.Value:
    """Emits the threads of a block of a row's: whole warps, each thread with all its vectors.

    Of rows that are read in batches a thread has several where they fill the device nonetheless:
    what a block does before its first batch and after its last one keeps fewer warps waiting.
    """
    value, space = plan.space.work.open.value, plan.space
    length = value(space.length)
    step = WARP_LANES * plan.vectors * plan.width * blocks
    warps = arith.ceildivui(length, index_constant(step))
    device = space.work.device
    if plan.streams and device is not None:
        table = device.tables.rows
        least = index_constant(table.small_block // WARP_LANES)
        fewer = arith.ceildivui(length, index_constant(step * table.batches))
        fewer = arith.minui(arith.maxui(fewer, least), warps)
        there = device.multiprocessors * device.threads // WARP_LANES
        every = arith.muli(value(space.count), fewer)
        fill = arith.cmpi(arith.CmpIPredicate.uge, every, index_constant(there))
        warps = arith.select(fill, fewer, warps)
    most = index_constant(plan.team.threads // WARP_LANES)
    warps = arith.maxui(arith.minui(warps, most), index_constant(1))
    return arith.muli(warps, index_constant(WARP_LANES))


def _attributes(plan: RowPlan) -> dict[str, ir.Attribute]:
    """Returns the threads of a block and how many blocks are to fit, for the assembler."""
    i32 = ir.IntegerType.get_signless(32)
    made = plan.configuration
    found = thread_bound(made.threads, plan.space.work.device) if made.open else {}
    if made.blocks > 1 and not made.open:
        found["nvvm.cluster_dim"] = ir.DenseI32ArrayAttr.get([made.blocks, 1, 1])
    if made.resident > 1:
        found["nvvm.minctasm"] = ir.IntegerAttr.get(i32, made.resident)
    return found
