"""How the column schedule divides an operation's iterations among threads, blocks and launches."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.mlir import arith, ir
from ...hir.index_arithmetic import Index, index_of, materialized
from ...rewriting import index_constant
from ..collective import Collective, levels_of
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, Size
from ..space import Loop, collapsed, total
from ..work import Operand, Work

SCAN = "hir.scan_loop"
THREADS = 256
# Iterations whose elements a thread has under way, for accesses of 16 bytes; and for narrow ones
# their bytes, and the most iterations.
_UNROLL = 4
_NARROW_BYTES, _MOST_UNROLL = 32, 16
# Elements of the vectors of all unrolled iterations, which are as many copies of the region.
_MOST_COPIES = 64
# Registers' worth of elements that a thread keeps from one pass to the next.
_MOST_KEPT = 64
# Where iterations are split, each block takes so many chunks at least.
_LEAST_CHUNKS = 4
# What the grid's y dimension takes (CUDA C++ Programming Guide, "Compute Capabilities").
_MOST_SPLITS = 65535


@dataclass(frozen=True)
class ColumnSpace:
    """An operation's loops, and which operands have elements all over them.

    `parallel` has the loop along which large operands lie closest last; `collective` goes in
    memory order. Neighbours are made into one.
    """

    work: Work
    parallel: tuple[Loop, ...]
    collective: tuple[Loop, ...]
    large: tuple[Operand, ...]
    levels: tuple[tuple[Collective, ...], ...]

    @property
    def lane(self) -> Loop:
        """The loop of neighbouring elements."""
        return self.parallel[-1]

    @property
    def columns(self) -> Size:
        return total(self.parallel)

    @property
    def iterations(self) -> Size:
        return total(self.collective)

    def lane_stride(self, operand: Operand) -> Size:
        return self.lane.stride_of(self.work, operand.number)

    def varies_along(self, operand: Operand, loops: tuple[Loop, ...]) -> bool:
        """Whether an operand has elements of its own in each iteration of one of the loops."""
        return any(loop.stride_of(self.work, operand.number) != ZERO for loop in loops)

    @property
    def full_outputs(self) -> list[int]:
        """The places among the outputs of those written in every iteration."""
        return [
            place
            for place, operand in enumerate(self.work.outputs)
            if self.varies_along(operand, self.collective)
        ]


def read_space(work: Work, *, scans: bool = False) -> ColumnSpace | None:
    """The loops of work that reduces, or scans, along columns; None of any other."""
    if not work.collectives or any((op.name == SCAN) != scans for op in work.collectives):
        return None
    if any(set(Collective(op).loops) != set(work.collective) for op in work.collectives):
        return None
    large = _large_operands(work)
    if not large:
        return None
    lane = _innermost(large[0], work)
    if lane in work.collective:
        return None
    others = [loop for loop in work.parallel if loop != lane]
    parallel = collapsed(work, [*_by_stride(large[0], others), lane])
    collective = collapsed(work, _by_stride(large[0], list(work.collective)))
    if not parallel or not collective:
        return None
    space = ColumnSpace(
        work,
        tuple(parallel),
        tuple(collective),
        tuple(large),
        tuple(tuple(level) for level in levels_of(work)),
    )
    # An output along some of the collective loops has elements that several iterations write.
    for place in space.full_outputs:
        if any(loop.stride_of(work, work.outputs[place].number) == ZERO for loop in collective):
            return None
    return space


def _large_operands(work: Work) -> list[Operand]:
    """Those with elements along collective and parallel loops, of most loops; inputs first."""

    def moves(operand: Operand, loops: tuple[int, ...]) -> int:
        return sum(operand.strides[loop] != ZERO and work.extents[loop] != ONE for loop in loops)

    found = [
        operand
        for operand in (*work.inputs, *work.outputs)
        if moves(operand, work.collective) and moves(operand, work.parallel)
    ]
    every = tuple(range(len(work.extents)))
    most = max((moves(operand, every) for operand in found), default=0)
    return [operand for operand in found if moves(operand, every) == most]


def _innermost(operand: Operand, work: Work) -> int:
    """The loop along which an operand's elements lie closest."""
    moving = [
        loop
        for loop, stride in enumerate(operand.strides)
        if stride != ZERO and work.extents[loop] != ONE
    ]
    return _by_stride(operand, moving)[-1]


def _by_stride(operand: Operand, loops: list[int]) -> list[int]:
    """Loops by an operand's strides, the smallest last and those that do not move it first."""

    def key(loop: int) -> tuple[bool, int, int]:
        stride = operand.strides[loop]
        return stride != ZERO, -len(stride.open), -abs(stride.known)

    return sorted(loops, key=key)


@dataclass(frozen=True)
class Split:
    """Collective iterations in `count` parts of `iterations`, the last one with what is left.

    Where there are several parts, each with all columns makes `most` elements at most.
    """

    count: Size
    iterations: Size
    most: Size


@dataclass(frozen=True)
class ColumnPlan:
    """Vectors of `width` columns; a block takes `lanes` of them, each by several threads.

    Of a block's THREADS, `THREADS / lanes` take every so many of the collective iterations of the
    same vector, `unroll` at a time.
    """

    space: ColumnSpace
    width: int
    lanes: int
    unroll: int

    @property
    def depth(self) -> int:
        """The threads that share a vector."""
        return THREADS // self.lanes

    @property
    def chunk(self) -> int:
        """The iterations that a block takes at once."""
        return self.depth * self.unroll

    @property
    def fills_blocks(self) -> bool:
        """Whether every thread certainly has a vector."""
        return self.space.columns.is_multiple_of(self.lanes * self.width)

    def is_vector(self, operand: Operand) -> bool:
        """Whether an operand's elements of a vector of columns are neighbours."""
        return self.space.lane_stride(operand) == ONE

    def alignment(self, operand: Operand) -> int:
        """The alignment in bytes of an operand's accesses."""
        size = element_bytes(operand.element)
        return min(ACCESS_BYTES, self.width * size) if self.is_vector(operand) else size

    def kept(self) -> int | None:
        """The iterations of a thread where their elements stay in registers between passes."""
        passes = len(self.space.levels) + bool(self.space.full_outputs)
        if passes == 1 or not self.space.iterations.is_known:
            return None
        count = max(1, -(-self.space.iterations.known // self.depth))
        words = sum(
            max(1, self.width * element_bytes(each.element) // 4) for each in self.space.large
        )
        fits = count * words <= _MOST_KEPT and count * self.width <= 2 * _MOST_COPIES
        return count if fits and self.space.iterations.known else None


def plan_of(space: ColumnSpace, width: int, lanes: int) -> ColumnPlan:
    """A plan with as many iterations under way as keep the memory busy."""
    size = min(element_bytes(each.element) for each in space.large)
    narrow = min(_MOST_UNROLL, _NARROW_BYTES // size)
    unroll = max(2, (_UNROLL if width > 1 else narrow) // len(space.large))
    return ColumnPlan(space, width, lanes, max(1, min(unroll, _MOST_COPIES // width)))


def widest(space: ColumnSpace) -> int:
    """The columns of an access of 16 bytes to the large operand of the smallest elements."""
    return ACCESS_BYTES // min(element_bytes(each.element) for each in space.large)


def split_of(plan: ColumnPlan, device: Device) -> Split | None:
    """Parts of the iterations that fill the device with blocks; None where one part does.

    Emits arithmetic of the host where sizes are open; the count may then turn out to be 1 or 0.
    """
    open_ = plan.space.work.open
    blocks = _ceil_divide(index_of(open_.value(plan.space.columns)), plan.lanes * plan.width)
    at_once = device.multiprocessors * _blocks_each(plan, device)
    parts = _divide(at_once, _most(blocks, 1))
    whole = index_of(open_.value(plan.space.iterations))
    parts = _least(parts, _ceil_divide(whole, plan.chunk * _LEAST_CHUNKS))
    parts = _most(_least(parts, _MOST_SPLITS), 1)
    chunks = _ceil_divide(_ceil_divide(whole, parts), plan.chunk)
    each = _times(_most(chunks, 1), plan.chunk)
    count = _ceil_divide(whole, each)
    if isinstance(count, int) and isinstance(each, int):
        most = Size(count) * plan.space.columns
        return Split(Size(count), Size(each), most) if count > 1 else None
    most = Size(at_once * plan.lanes * plan.width)
    return Split(open_.size_of(materialized(count)), open_.size_of(materialized(each)), most)


def _blocks_each(plan: ColumnPlan, device: Device) -> int:
    """The blocks of a multiprocessor that have enough bytes under way: half of what its threads
    allow at least, as registers may do.
    """
    size = sum(element_bytes(each.element) for each in plan.space.large)
    enough = 2 * device.bytes_in_flight // (THREADS * plan.unroll * plan.width * size)
    most = max(1, device.threads // THREADS)
    return min(max(enough, most // 2, 1), most)


def has_parts(plan: ColumnPlan, split: Split) -> ir.Value | None:
    """Whether there are several parts; None where that is known."""
    if split.count.is_known:
        return None
    count = plan.space.work.open.value(split.count)
    return arith.cmpi(arith.CmpIPredicate.ugt, count, index_constant(1))


def _divide(a: int, b: Index) -> Index:
    if isinstance(b, int):
        return a // b
    return arith.divui(index_constant(a), b)


def _ceil_divide(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    return arith.ceildivui(materialized(a), materialized(b))


def _times(a: Index, b: int) -> Index:
    return a * b if isinstance(a, int) else arith.muli(a, index_constant(b))


def _least(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return arith.minui(materialized(a), materialized(b))


def _most(a: Index, b: int) -> Index:
    return max(a, b) if isinstance(a, int) else arith.maxui(a, index_constant(b))
