"""Parts of the collective iterations where columns alone do not fill the device."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...hir.index_arithmetic import Index, index_of, materialized
from ...rewriting import index_constant
from ..device import Device
from ..launch import power_of_two
from ..size import ONE, Size, product
from .plan import ColumnPlan

# What the grid's y dimension takes (CUDA C++ Programming Guide, "Compute Capabilities").
_MOST_SPLITS = 65535


@dataclass(frozen=True)
class Split:
    """Collective iterations in `count` parts of `iterations`, the last one with what is left.

    Where there are several parts, each with all columns makes `most` elements at most.
    """

    count: Size
    iterations: Size
    most: Size


def split_of(plan: ColumnPlan, device: Device) -> Split | None:
    """Parts of the iterations that fill the device with blocks; None where one part does.

    Emits arithmetic of the host where sizes are open; the count may then turn out to be 1 or 0.
    """
    open_ = plan.space.work.open
    at_once = device.multiprocessors * _blocks_each(plan, device)
    parts = _divide(at_once, _most(column_blocks(plan), 1))
    whole = index_of(open_.value(plan.space.iterations))
    chunk: Index = plan.chunk
    if plan.open:
        chunk = arith.divui(index_constant(plan.threads * plan.unroll), open_lanes(plan))
    parts = _least(parts, _ceil_divide(whole, _times(chunk, plan.table.least_chunks)))
    parts = _most(_least(parts, _MOST_SPLITS), 1)
    chunks = _ceil_divide(_ceil_divide(whole, parts), chunk)
    each = _product(_most(chunks, 1), chunk)
    count = _ceil_divide(whole, each)
    if isinstance(count, int) and isinstance(each, int):
        most = Size(count) * plan.space.columns
        return Split(Size(count), Size(each), most) if count > 1 else None
    most = Size(at_once * plan.block_columns)
    return Split(open_.size_of(materialized(count)), open_.size_of(materialized(each)), most)


def column_blocks(plan: ColumnPlan) -> Index:
    """The blocks that take all columns; emits arithmetic of the host where sizes are open.

    Vectors are numbered through, but a block of skewed ones keeps to the innermost loop.
    """
    space, open_ = plan.space, plan.space.work.open
    if plan.open:
        block = _times(open_lanes(plan), plan.width)
        return _ceil_divide(index_of(open_.value(space.columns)), block)
    if not plan.skewed:
        return _ceil_divide(index_of(open_.value(space.columns)), plan.block_columns)
    inner = _ceil_divide(index_of(open_.value(space.lane.extent)), plan.block_columns)
    outer = product([loop.extent for loop in space.parallel[:-1]])
    if outer == ONE:
        return inner
    times = index_of(open_.value(outer))
    if isinstance(times, int):
        return _times(inner, times)
    return arith.muli(times, materialized(inner))


def least_lanes(plan: ColumnPlan, vectors: int, iterations: int) -> int:
    """Returns the lanes that a block has at least: those of the `vectors` that lie side by side,
    and so many that its threads have iterations as often as they take several at once.
    """
    return max(vectors, -(-plan.threads * plan.unroll // max(iterations, 1)))


def open_lanes(plan: ColumnPlan) -> ir.Value:
    """Emits the lanes of an open plan's blocks: of a power of two that is no larger than its own,
    as `least_lanes`, but no more than there are vectors.
    """
    space, value = plan.space, plan.space.work.open.value
    width = index_constant(plan.width)
    iterations = arith.maxui(value(space.iterations), index_constant(1))
    together = arith.ceildivui(value(space.lane.extent), width)
    wanted = arith.ceildivui(index_constant(plan.threads * plan.unroll), iterations)
    there = arith.ceildivui(value(space.columns), width)
    least = arith.minui(arith.maxui(together, wanted), there)
    return power_of_two(least, plan.lanes)


def fills_device(plan: ColumnPlan, device: Device) -> bool | ir.Value:
    """Whether blocks that take all iterations keep the memory busy to the end.

    So they do where those that a multiprocessor holds at once, and those left in the end, load
    half as much again as Little's law asks for, or where there are many. Emits arithmetic of the
    host where sizes are open.
    """
    needed = device.multiprocessors * device.bytes_in_flight * 3 // 2
    enough = -(-needed // plan.bytes_under_way)
    at_once = device.multiprocessors * plan.resident_blocks(device)
    many, least = plan.table.many_times * at_once, plan.table.least_chunks * plan.chunk
    blocks, whole = column_blocks(plan), index_of(plan.space.work.open.value(plan.space.iterations))
    if isinstance(blocks, int) and (isinstance(whole, int) or blocks < enough):
        are_left = (blocks - 1) % at_once >= enough - 1 or blocks >= many
        return are_left and isinstance(whole, int) and whole >= least
    if isinstance(whole, int) and whole < least:
        return False
    last = arith.subi(materialized(blocks), index_constant(1))
    left = arith.remui(last, index_constant(at_once))
    are_left = arith.ori(_is_least(left, enough - 1), _is_least(materialized(blocks), many))
    return arith.andi(are_left, _is_least(materialized(whole), least))


def has_parts(plan: ColumnPlan, split: Split) -> ir.Value | None:
    """Whether there are several parts; None where that is known."""
    if split.count.is_known:
        return None
    count = plan.space.work.open.value(split.count)
    return arith.cmpi(arith.CmpIPredicate.ugt, count, index_constant(1))


def _blocks_each(plan: ColumnPlan, device: Device) -> int:
    """The blocks of a multiprocessor, in all, that keep the memory busy.

    Of aligned rows those with enough bytes under way, half of what threads allow at least, as
    registers may do. Of others, two for each that is held at once: the next begins while
    others still load; but one where just one is held.
    """
    if plan.skewed:
        held = plan.resident_blocks(device)
        return 2 * held if held > 1 else 1
    most = max(1, device.threads // plan.threads)
    return min(max(2 * device.bytes_in_flight // plan.bytes_under_way, most // 2, 1), most)


def _is_least(number: ir.Value, least: int) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.uge, number, index_constant(least))


def _divide(a: int, b: Index) -> Index:
    if isinstance(b, int):
        return a // b
    return arith.divui(index_constant(a), b)


def _ceil_divide(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    return arith.ceildivui(materialized(a), materialized(b))


def _product(a: Index, b: Index) -> Index:
    if isinstance(b, int):
        return _times(a, b)
    return arith.muli(materialized(a), b)


def _times(a: Index, b: int) -> Index:
    return a * b if isinstance(a, int) else arith.muli(a, index_constant(b))


def _least(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return arith.minui(materialized(a), materialized(b))


def _most(a: Index, b: int) -> Index:
    return max(a, b) if isinstance(a, int) else arith.maxui(a, index_constant(b))
