"""The column schedule: reductions whose neighbouring elements belong to different results.

A thread takes a vector of neighbouring columns, a block some of them side by side, each by several
threads that share the collective iterations and merge what they have found in shared memory. Where
columns alone do not fill the device, the iterations are split over the grid's rows too: partial
results go to a scratch buffer, and the next kernel merges them, always in the same order. Where a
reduction needs the result of another, the threads pass over their columns again.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..device import Device
from ..elements import element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..scratch import allocate_scratch, free_scratch
from ..shared import SharedMemory
from ..size import ONE, ZERO
from ..work import Work
from .kernel import ColumnKernel, Stage
from .plan import (
    THREADS,
    ColumnPlan,
    ColumnSpace,
    Split,
    has_parts,
    plan_of,
    read_space,
    split_of,
    widest,
)

# Vectors and iterations are counted in 32 bits, which divide faster than 64.
MOST = 2**31 - 1
# So few iterations that a thread takes them all.
_FEW_ITERATIONS = 16
_LANES = 32


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Wide and narrow accesses, split and whole, or None for work that is not of this kind."""
    space = read_space(work)
    if space is None:
        return None
    return [
        _alternative(plan, split, most, kernels) for plan, split, most in _choices(space, device)
    ]


def _choices(space: ColumnSpace, device: Device) -> Iterator[tuple[ColumnPlan, Split | None, int]]:
    """Plans from the most special to the one that takes everything, each for so many iterations.

    Where sizes are open, special ones are for wide accesses and a single pass alone: each is code.
    """
    wide = widest(space)
    has_one_pass = len(space.levels) == 1 and not space.full_outputs
    for width in [wide, 1] if wide > 1 and lies_side_by_side(space) else [1]:
        is_wide = width == wide
        if space.iterations.is_known or (is_wide and has_one_pass):
            yield plan_of(space, width, THREADS), None, _FEW_ITERATIONS
        lanes = _LANES
        if space.lane.extent.is_known:
            lanes = min(_LANES, _power_of_two(-(-space.lane.extent.known // width)))
        plan = plan_of(space, width, lanes)
        split = split_of(plan, device)
        if split is not None and (split.count.is_known or is_wide or has_one_pass):
            yield plan, split, MOST
        if split is None or not split.count.is_known:
            yield plan, None, MOST


def _power_of_two(number: int) -> int:
    """The least one that is no less than a number."""
    return 1 << max(number - 1, 0).bit_length()


def lies_side_by_side(space: ColumnSpace) -> bool:
    """Whether vectors of the large operands are neighbours in memory."""
    return all(space.lane_stride(operand) in (ZERO, ONE) for operand in space.large)


def _alternative(plan: ColumnPlan, split: Split | None, most: int, kernels: Kernels) -> Alternative:
    space = plan.space

    def conditions(found: Conditions) -> None:
        found.require(space.work.layouts_hold())
        found.require_at_most(space.iterations, most)
        found.require_at_most(space.columns, MOST)
        if plan.width > 1:
            require_vectors(plan, found)
        if split is not None:
            found.require(has_parts(plan, split))

    return conditions, lambda: _launch(plan, split, kernels)


def require_vectors(plan: ColumnPlan, found: Conditions) -> None:
    """Every vector of an operand that has neighbours is aligned."""
    space = plan.space
    found.require_multiple(space.lane.extent, plan.width)
    for operand in space.work.operands:
        if not plan.is_vector(operand):
            continue
        alignment = plan.alignment(operand)
        found.require_aligned(operand, alignment)
        for loop in (*space.parallel[:-1], *space.collective):
            stride = loop.stride_of(space.work, operand.number)
            found.require_multiple(stride, alignment // element_bytes(operand.element))


def _launch(plan: ColumnPlan, split: Split | None, kernels: Kernels) -> None:
    """One kernel, or one for each level and one for the outputs."""
    levels = tuple(range(len(plan.space.levels)))
    if split is None:
        _launch_stage(plan, Stage((), levels, True, None, {}), kernels)
        return
    scratch: dict[int, list[ir.Value]] = {}
    for level in levels:
        scratch[level] = [
            allocate_scratch(split.most, kind, plan.space.work.open)
            for each in plan.space.levels[level]
            for kind in each.types
        ]
        _launch_stage(plan, Stage(levels[:level], (level,), False, split, dict(scratch)), kernels)
    _launch_stage(plan, Stage(levels, (), True, split, scratch), kernels)
    free_scratch(buffer for buffers in scratch.values() for buffer in buffers)


def _launch_stage(plan: ColumnPlan, stage: Stage, kernels: Kernels) -> None:
    space = plan.space
    made: list[tuple[Parameters, SharedMemory]] = []

    def emit(entry: ir.Block) -> None:
        parameters, shared = Parameters(entry, space.work.open), SharedMemory()
        made.append((parameters, shared))
        ColumnKernel(plan, stage, parameters, shared).emit()

    name = operation_name(space.work.op)
    if not stage.stores:
        name += "_part"
    kernel = kernels.build(name, THREADS, emit, space.work.op.location)
    (parameters, shared) = made[0]
    columns = space.work.open.value(space.columns)
    blocks = arith.ceildivui(columns, index_constant(plan.lanes * plan.width))
    rows = None
    if stage.split is not None and (stage.reduces or space.full_outputs):
        rows = space.work.open.value(stage.split.count)
    emit_launch(kernel, blocks, THREADS, parameters.arguments(), shared.bytes, rows)
