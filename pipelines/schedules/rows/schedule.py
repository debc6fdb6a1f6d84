"""The row schedule: reductions along memory, and what is computed of rows with them.

Sums of rows, softmax, norms, arguments of extremes. A team of threads takes a row: some lanes of a
warp, a block, or the blocks of a cluster. Rows that fit are kept in registers; others are read once
for each reduction that needs the result of another, and once more for outputs along the row.
"""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..device import Device
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..region import Region
from ..work import Work
from .choice import plans
from .held import emit_held
from .needs import needed_collectives
from .plan import BLOCK, RowPlan
from .powers import relax_powers
from .space import read_rows
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
    return [
        _alternative(plan, kernels, device)
        for plan in plans(space, device, has_one_stage=has_one_stage)
    ]


def _is_late(region: Region, varying: frozenset[int], value: ir.Value) -> bool:
    """Whether a value is not known when a row begins."""
    return bool(region.varies(value) & varying) or bool(needed_collectives(region, value))


def _alternative(plan: RowPlan, kernels: Kernels, device: Device) -> Alternative:
    def conditions(found: Conditions) -> None:
        plan.require(found)

    if plan.split_rows is not None:
        return conditions, lambda: launch_split(plan, kernels, _attributes(plan, device))
    return conditions, lambda: _launch(plan, kernels, device)


def _launch(plan: RowPlan, kernels: Kernels, device: Device) -> None:
    work, team = plan.space.work, plan.team
    made: list[Parameters] = []

    def emit(entry: ir.Block) -> None:
        parameters = Parameters(entry, work.open)
        made.append(parameters)
        if plan.streams:
            emit_streamed(plan, parameters)
        else:
            emit_held(plan, parameters)

    kernel = kernels.build(
        operation_name(work.op), team.threads, emit, work.op.location, _attributes(plan, device)
    )
    count = work.open.value(plan.space.count)
    if team.rows > 1:
        blocks = arith.ceildivui(count, index_constant(team.rows))
    elif team.blocks > 1:
        blocks = arith.muli(count, index_constant(team.blocks))
    else:
        blocks = count
    emit_launch(kernel, blocks, team.threads, made[0].arguments(), cluster=team.blocks)


def _attributes(plan: RowPlan, device: Device) -> dict[str, ir.Attribute]:
    """What the assembler is told: the threads of a block, and how many blocks are to fit."""
    i32 = ir.IntegerType.get_signless(32)
    found: dict[str, ir.Attribute] = {}
    if plan.team.blocks > 1:
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
    if plan.team.blocks > 1:
        is_wide = any(isinstance(value.type, ir.F64Type) for op in inner for value in op.results)
        needed = 2 * held if is_wide else held
        return 3 if is_simple and needed <= _FEW_CLUSTER_WORDS else 2
    if threads < _SMALLEST_BOUND:
        return 1
    blocks = device.threads // threads
    if not is_simple or threads < BLOCK or plan.streams or held > _FEW_WORDS:
        return blocks // 2
    return blocks * 3 // 4 if plan.peeled else blocks
