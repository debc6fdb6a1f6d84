"""Iteration spaces with neighbouring loops made into one where every operand lies so."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..rewriting import index_constant
from .parameters import Parameters
from .size import ONE, ZERO, Size, product
from .work import Operand, Work


@dataclass(frozen=True)
class Loop:
    """A loop of a schedule, made of some of the operation's, outermost first.

    `strides` has one entry for each of Work.operands.
    """

    parts: tuple[int, ...]
    extent: Size
    strides: tuple[Size, ...]

    def stride_of(self, work: Work, number: int) -> Size:
        """The stride of the operand of that number."""
        for operand, stride in zip(work.operands, self.strides, strict=True):
            if operand.number == number:
                return stride
        raise KeyError(number)


def collapsed(work: Work, loops: Sequence[int], apart: Collection[int] = frozenset()) -> list[Loop]:
    """The given loops, outermost first, with neighbours made into one where that is the same.

    Loops of one iteration are left out; without any other there is none. Those of `apart` are not
    made into one with what is around them.
    """
    result: list[Loop] = []
    for number in loops:
        extent = work.extents[number]
        if extent == ONE:
            continue
        strides = tuple(operand.strides[number] for operand in work.operands)
        inner = Loop((number,), extent, strides)
        if number not in apart and result and _continues(result[-1], inner):
            outer = result.pop()
            inner = Loop((*outer.parts, number), outer.extent * extent, strides)
        result.append(inner)
    return result


def _continues(outer: Loop, inner: Loop) -> bool:
    """Returns whether one step of `outer` is as far as all of `inner`, for every operand."""
    return all(
        (far == ZERO and near == ZERO) or (near != ZERO and far == near * inner.extent)
        for far, near in zip(outer.strides, inner.strides, strict=True)
    )


def in_memory_order(work: Work, loops: Sequence[int]) -> list[int]:
    """Returns the loops by the first output's strides, the smallest last; loops without come first.

    Where elements are written at computed positions, the strides are the inputs', those that move
    along most loops first: updates, not positions. Open strides are assumed to descend, dim by dim.
    """

    def still(operand: Operand) -> int:
        return operand.strides.count(ZERO)

    outputs = work.outputs or sorted(work.inputs, key=still)

    def key(loop: int) -> tuple[bool, int, int, tuple[int, ...]]:
        for operand in outputs:
            stride = operand.strides[loop]
            if stride != ZERO:
                # Open numbers are in the order of the dims that they are read from.
                return (True, -len(stride.open), -stride.known, stride.open)
        return (False, 0, 0, ())

    return sorted(loops, key=key)


def is_flat(work: Work, operand: Operand, loops: Sequence[Loop]) -> bool:
    """Returns whether elements follow one another without a gap, in the order of the loops."""
    wanted = ONE
    for loop in reversed(loops):
        if loop.stride_of(work, operand.number) != wanted:
            return False
        wanted = wanted * loop.extent
    return True


def total(loops: Sequence[Loop]) -> Size:
    """The iterations of all of them."""
    return product([loop.extent for loop in loops])


def part_index(
    work: Work, loop: Loop, at: ir.Value, number: int, parameters: Parameters
) -> ir.Value:
    """The index of one of the operation's own loops, which is a part of `loop`, in a kernel."""
    for part in reversed(loop.parts):
        if part == loop.parts[0] == number:
            return at
        extent = parameters.size(work.extents[part])
        if part == number:
            return arith.remui(at, extent)
        at = arith.divui(at, extent)
    return index_constant(0)
