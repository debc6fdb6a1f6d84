"""The scan schedule: running reductions along one loop, any number of them side by side.

Along memory a block takes a row, along an outer loop some columns; both in chunks whose threads
scan what they hold, then across the warp by shuffles and across the block by shared memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..collective import Collective, levels_of
from ..columns.plan import THREADS, ColumnPlan
from ..columns.schedule import MOST, require_vectors
from ..columns.space import SCAN, ColumnSpace, lies_side_by_side, read_space, widest
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..rows.space import RowSpace
from ..shared import SharedMemory
from ..size import ONE, ZERO, Size
from ..space import Loop, collapsed
from ..work import Work
from .columns import ScanColumns
from .rows import ScanRowPlan, ScanRows

# Threads of a block for rows, and the vectors of each: as many as a warp can scan the sums of.
_MOST_THREADS, _LEAST_THREADS = 512, 32
_SEGMENTS = 2
# Iterations of a thread along an outer loop; lanes of a block where columns are few and many.
_UNROLL = 4
_FEW_LANES, _LANES = 8, 32


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Kernels for rows or columns, or None where a region does not only scan, along one loop."""
    if not work.collectives or any(op.name != SCAN for op in work.collectives):
        return None
    if len(work.collective) != 1 or len(levels_of(work)) != 1:
        return None
    reverse = {"reverse" in op.attributes for op in work.collectives}
    (loop,) = work.collective
    if len(reverse) > 1 or work.extents[loop] == ONE:
        return None
    if any(operand.strides[loop] == ZERO for operand in work.outputs):
        return None
    space = read_space(work, scans=True)
    if space is not None:
        return _columns(space, reverse.pop(), kernels, device)
    return _rows(work, reverse.pop(), kernels)


def _columns(
    space: ColumnSpace, is_reverse: bool, kernels: Kernels, device: Device
) -> list[Alternative]:
    found: list[Alternative] = []
    wide = widest(space)
    for width in [wide, 1] if wide > 1 and lies_side_by_side(space) else [1]:
        lanes = _FEW_LANES
        columns = space.columns
        if columns.is_known and columns.known >= 2 * device.multiprocessors * _LANES * width:
            lanes = _LANES
        plan = ColumnPlan(space, width, lanes, _UNROLL if width > 1 else 2 * _UNROLL)
        found.append(_column_alternative(plan, is_reverse, kernels))
    return found


def _column_alternative(plan: ColumnPlan, is_reverse: bool, kernels: Kernels) -> Alternative:
    space = plan.space

    def conditions(found: Conditions) -> None:
        found.require(space.work.layouts_hold())
        found.require_at_most(space.iterations, MOST)
        found.require_at_most(space.columns, MOST)
        if plan.width > 1:
            require_vectors(plan, found)

    def body(parameters: Parameters, shared: SharedMemory) -> _Body:
        return ScanColumns(plan, is_reverse, parameters, shared)

    def launch() -> None:
        columns = space.work.open.value(space.columns)
        blocks = arith.ceildivui(columns, index_constant(plan.lanes * plan.width))
        _launch(space.work, blocks, THREADS, body, kernels)

    return conditions, launch


def _rows(work: Work, is_reverse: bool, kernels: Kernels) -> list[Alternative] | None:
    (loop,) = work.collective
    strides = tuple(operand.strides[loop] for operand in work.operands)
    inner = Loop((loop,), work.extents[loop], strides)
    space = RowSpace(work, tuple(collapsed(work, work.parallel)), (inner,))
    sizes = [element_bytes(operand.element) for operand in space.along]
    width = ACCESS_BYTES // min(sizes)
    are_near = all(space.is_contiguous(operand) for operand in space.along)
    scans = tuple(Collective(op) for op in work.collectives)
    found: list[Alternative] = []
    for is_whole in [True, False] if are_near else [False]:
        width = ACCESS_BYTES // min(sizes) if is_whole else min(4, ACCESS_BYTES // min(sizes))
        for threads, segments in _blocks(space.length, width, is_whole):
            length, chunk = space.length, threads * segments * width
            is_one = 0 < length.known <= chunk if length.is_known else threads < _MOST_THREADS
            plan = ScanRowPlan(space, scans, is_reverse, threads, segments, width, is_whole, is_one)
            found.append(_row_alternative(plan, kernels))
    return found


def _blocks(length: Size, width: int, is_whole: bool) -> list[tuple[int, int]]:
    """Threads and segments for rows of a length; where it is open, for short rows and for any."""
    if not length.is_known:
        middle = [(_MOST_THREADS // 2, _SEGMENTS)] if is_whole else []
        return [(128, 1), *middle, (_MOST_THREADS, _SEGMENTS)]
    vectors = -(-length.known // width)
    threads = _LEAST_THREADS
    while threads < _MOST_THREADS and threads * _SEGMENTS < vectors:
        threads *= 2
    return [(threads, 1 if vectors <= threads else _SEGMENTS)]


def _row_alternative(plan: ScanRowPlan, kernels: Kernels) -> Alternative:
    space = plan.space

    def conditions(found: Conditions) -> None:
        found.require(space.work.layouts_hold())
        found.require_at_most(space.count, MOST)
        if plan.is_one_chunk:
            found.require_at_least(space.length, 1)
            found.require_at_most(space.length, plan.chunk)
        if not plan.is_whole:
            return
        found.require_multiple(space.length, plan.width)
        for operand in space.along:
            size = element_bytes(operand.element)
            alignment = min(ACCESS_BYTES, plan.width * size)
            found.require_aligned(operand, alignment)
            for loop in space.rows:
                found.require_multiple(space.stride(operand, loop), alignment // size)

    def body(parameters: Parameters, shared: SharedMemory) -> _Body:
        return ScanRows(plan, parameters, shared)

    def launch() -> None:
        blocks = space.work.open.value(space.count)
        _launch(space.work, blocks, plan.threads, body, kernels)

    return conditions, launch


class _Body(Protocol):
    """What emits a kernel's body."""

    def emit(self) -> None: ...


def _launch(
    work: Work,
    blocks: ir.Value,
    threads: int,
    body: Callable[[Parameters, SharedMemory], _Body],
    kernels: Kernels,
) -> None:
    made: list[tuple[Parameters, SharedMemory]] = []

    def emit(entry: ir.Block) -> None:
        parameters, shared = Parameters(entry, work.open), SharedMemory()
        made.append((parameters, shared))
        body(parameters, shared).emit()

    kernel = kernels.build(operation_name(work.op), threads, emit, work.op.location)
    ((parameters, shared),) = made
    emit_launch(kernel, blocks, threads, parameters.arguments(), shared.bytes)
