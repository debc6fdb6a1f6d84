"""The row schedule: reductions along memory, and what is computed of rows with them.

Sums of rows, softmax, norms, arguments of extremes. A team of threads takes a row: some lanes of a
warp, a block, or the blocks of a cluster. Rows that fit are kept in registers; others are read once
for each reduction that needs the result of another, and once more for outputs along the row.
"""

from __future__ import annotations

from ...dialects.mlir import arith, ir
from ..lane_reduction import WARP_LANES
from ..rewriting import index_constant
from .alternatives import Alternative, Conditions
from .device import Device
from .kernels import Kernels
from .launch import emit_launch, operation_name
from .parameters import Parameters
from .region import Region
from .row_held import emit_held
from .row_plan import RowPlan, plans
from .row_space import RowSpace, read_rows
from .row_stages import plan_stages
from .row_streamed import emit_streamed
from .work import Work


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Kernels for classes of lengths and alignments, or None where rows do not lie along memory."""
    space = read_rows(work)
    if space is None:
        return None
    region = Region(work, Parameters(work.block, work.open))
    has_one_stage = len(plan_stages(work, region, merge=True).stages) == 1
    return [
        _alternative(plan, kernels, device)
        for plan in plans(space, device, has_one_stage=has_one_stage)
    ]


def _alternative(plan: RowPlan, kernels: Kernels, device: Device) -> Alternative:
    def conditions(found: Conditions) -> None:
        plan.require(found)

    return conditions, lambda: _launch(plan, kernels, device)


def _launch(plan: RowPlan, kernels: Kernels, device: Device) -> None:
    work, team = plan.space.work, plan.team
    made: list[Parameters] = []

    def emit(entry: ir.Block) -> None:
        parameters = Parameters(entry, work.open)
        made.append(parameters)
        (emit_streamed if plan.streams else emit_held)(plan, parameters)

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
    threads = team.threads if team.threads is not None else _threads(plan.space, plan)
    emit_launch(kernel, blocks, threads, made[0].arguments(), cluster=team.blocks)


def _threads(space: RowSpace, plan: RowPlan) -> ir.Value:
    """The threads of a block for rows whose length is open: as many as a row needs."""
    a_warp = WARP_LANES * plan.width * plan.vectors * plan.team.blocks
    warps = arith.ceildivui(space.work.open.value(space.length), index_constant(a_warp))
    warps = arith.maxui(warps, index_constant(1))
    warps = arith.minui(warps, index_constant(plan.most_threads // WARP_LANES))
    return arith.muli(warps, index_constant(WARP_LANES))


def _attributes(plan: RowPlan, device: Device) -> dict[str, ir.Attribute]:
    """What the assembler is told: the threads of a block, and how many blocks are to fit."""
    i32 = ir.IntegerType.get_signless(32)
    found: dict[str, ir.Attribute] = {}
    if plan.team.threads is None:
        found["nvvm.maxntid"] = ir.DenseI32ArrayAttr.get([plan.most_threads])
    if plan.team.blocks > 1:
        found["nvvm.cluster_dim"] = ir.DenseI32ArrayAttr.get([plan.team.blocks, 1, 1])
    fit = device.threads // plan.most_threads // 2
    if plan.most_threads >= 512 and fit > 1:
        found["nvvm.minctasm"] = ir.IntegerAttr.get(i32, fit)
    return found
