"""The loops of an operation that reduces, or scans, along columns."""

from __future__ import annotations

from ....dialects.records import dataclass
from ..collective import Collective, levels_of
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, Size
from ..space import Loop, collapsed, total
from ..work import Operand, Work

SCAN = "hir.scan_loop"


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

    @property
    def has_short_iterations(self) -> bool:
        """Whether iterations are told apart by a number of 32 bits."""
        finds = any(each.is_find for level in self.levels for each in level)
        return finds or len(self.collective) > 1

    @property
    def is_light(self) -> bool:
        """Whether one sum or the like, without places, of simple values is all that is reduced."""
        every = [each for level in self.levels for each in level]
        return len(every) == 1 and not every[0].is_find and self.work.is_simple

    def lane_stride(self, operand: Operand) -> Size:
        return self.lane.stride_of(self.work, operand.number)

    def varies_along(self, operand: Operand, loops: tuple[Loop, ...]) -> bool:
        """Returns whether an operand has elements of its own along one of the loops."""
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


def widest(space: ColumnSpace) -> int:
    """The columns of an access of 16 bytes to the large operand of the smallest elements."""
    return ACCESS_BYTES // min(element_bytes(each.element) for each in space.large)


def lies_side_by_side(space: ColumnSpace) -> bool:
    """Returns whether vectors of the large operands are neighbours in memory."""
    return all(space.lane_stride(operand) in (ZERO, ONE) for operand in space.large)
