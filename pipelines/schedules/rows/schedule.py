"""The row schedule: reductions along memory, and what is computed of rows with them.

Sums of rows, softmax, norms, arguments of extremes. A team of threads takes a row: some lanes of a
warp, a block, or the blocks of a cluster. Rows that fit are kept in registers; others are read once
for each reduction that needs the result of another, and once more for outputs along the row.
"""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..alternatives import Alternative
from ..device import Device
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..region import Region
from ..work import Layout, Work
from .choice import plans
from .held import emit_held
from .needs import needed_collectives
from .plan import BLOCK, MOST_PLACES, RowPlan
from .powers import relax_powers
from .space import read_rows, rows_of
from .split import launch_split
from .stages import plan_stages
from .streamed import emit_streamed

# Blocks of fewer threads take the registers that they want.
_SMALLEST_BOUND = 256
# Registers with elements of a thread that needs few besides: 32 in all in a block, 80 in a cluster.
_FEW_WORDS, _FEW_CLUSTER_WORDS = 8, 56
_FEW_OPERATIONS = 32


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Kernels for classes of lengths and alignments, or None where rows do not lie along memory."""
    space = read_rows(work)
    if space is None:
        return None
    region = Region(work)
    if any(_is_late(region, space.varying, value) for op in region.checks for value in op.operands):
        return None
    relax_powers(work)
    has_one_stage = len(plan_stages(work, region, merge=True).stages) == 1
    strided = rows_of(work.in_layout(Layout.ANY))
    found: list[Alternative] = []
    for plan in plans(space, strided, device, has_one_stage=has_one_stage):
        found += _alternatives(plan, kernels, device)
    return found


def _is_late(region: Region, varying: frozenset[int], value: ir.Value) -> bool:
    """Whether a value is not known when a row begins."""
    return bool(region.varies(value) & varying) or bool(needed_collectives(region, value))


def _alternatives(plan: RowPlan, kernels: Kernels, device: Device) -> list[Alternative]:
    """The plan's kernel, with each number of blocks in a cluster that it may be launched with."""
    if plan.split_rows is not None:
        attributes = _attributes(plan, device)
        return [
            (
                lambda found: plan.require(found, 1),
                lambda: launch_split(plan, kernels, attributes),
            )
        ]
    kernel = _Kernel(plan, kernels, device)
    blocks = plan.team.blocks
    found: list[Alternative] = []
    while blocks >= 1:
        found.insert(0, kernel.launched_in(blocks))
        if not plan.team.is_open:
            break
        blocks //= 2
    return found


class _Kernel:
    """The kernel of a plan, made when it is launched first."""

    def __init__(self, plan: RowPlan, kernels: Kernels, device: Device) -> None:
        self._plan = plan
        self._kernels = kernels
        self._device = device
        self._made: tuple[ir.SymbolRefAttr, Parameters] | None = None

    def launched_in(self, blocks: int) -> Alternative:
        """Launches with so many blocks in a cluster."""
        return lambda found: self._plan.require(found, blocks), lambda: self._launch(blocks)

    def _launch(self, blocks: int) -> None:
        kernel, parameters = self._made = self._made or self._build()
        plan = self._plan
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
        rows: ir.Value | None = None
        if plan.is_tall:
            wide = arith.minui(grid, index_constant(MOST_PLACES // blocks * blocks))
            rows = arith.ceildivui(grid, arith.maxui(wide, index_constant(1)))
            grid = wide
        emit_launch(kernel, grid, threads, arguments, rows=rows, cluster=blocks)

    def _build(self) -> tuple[ir.SymbolRefAttr, Parameters]:
        plan = self._plan
        work, team = plan.space.work, plan.team
        made: list[Parameters] = []

        def emit(entry: ir.Block) -> None:
            parameters = Parameters(entry, work.open)
            made.append(parameters)
            if plan.streams:
                emit_streamed(plan, parameters)
            else:
                emit_held(plan, parameters)

        threads = None if team.is_open else team.threads
        attributes = _attributes(plan, self._device)
        kernel = self._kernels.build(
            operation_name(work.op), threads, emit, work.op.location, attributes
        )
        return kernel, made[0]


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


def _open_threads(plan: RowPlan, blocks: int) -> ir.Value:
    """Emits the threads of a block of a row's: whole warps, each thread with all its vectors."""
    length = plan.space.work.open.value(plan.space.length)
    step = WARP_LANES * plan.vectors * plan.width * blocks
    warps = arith.ceildivui(length, index_constant(step))
    most = index_constant(plan.team.threads // WARP_LANES)
    warps = arith.maxui(arith.minui(warps, most), index_constant(1))
    return arith.muli(warps, index_constant(WARP_LANES))


def _attributes(plan: RowPlan, device: Device) -> dict[str, ir.Attribute]:
    """What the assembler is told: the threads of a block, and how many blocks are to fit."""
    i32 = ir.IntegerType.get_signless(32)
    found: dict[str, ir.Attribute] = {}
    if plan.team.is_open:
        found["nvvm.maxntid"] = ir.DenseI32ArrayAttr.get([plan.team.threads, 1, 1])
    elif plan.team.blocks > 1:
        found["nvvm.cluster_dim"] = ir.DenseI32ArrayAttr.get([plan.team.blocks, 1, 1])
    fit = _blocks_that_fit(plan, device)
    if fit > 1:
        found["nvvm.minctasm"] = ir.IntegerAttr.get(i32, fit)
    return found


def _blocks_that_fit(plan: RowPlan, device: Device) -> int:
    """How many blocks a multiprocessor is to hold at least: more of them have fewer registers.

    Half of what it takes, or two clusters' blocks; more where a thread holds little of a row and
    computes little of it, as far as no H200 kernel of the benchmark's was the worse for it.
    """
    threads, held = plan.team.threads, plan.words
    inner = [each.operation for each in plan.space.work.block]
    is_simple = len(inner) <= _FEW_OPERATIONS
    if plan.team.blocks > 1 and not plan.team.is_open:
        is_wide = any(isinstance(value.type, ir.F64Type) for op in inner for value in op.results)
        needed = 2 * held if is_wide else held
        return 3 if is_simple and needed <= _FEW_CLUSTER_WORDS else 2
    if threads < _SMALLEST_BOUND:
        return 1
    blocks = device.threads // threads
    if not is_simple or threads < BLOCK or plan.streams or held > _FEW_WORDS:
        return blocks // 2
    return blocks * 3 // 4 if plan.peeled else blocks
