"""Iteration spaces with neighbouring loops made into one where every operand lies so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .size import ONE, ZERO, Size, product
from .work import Work


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


def collapsed(work: Work, loops: Sequence[int]) -> list[Loop]:
    """The given loops, outermost first, with neighbours made into one where that is the same.

    Loops of one iteration are left out; without any other there is none.
    """
    result: list[Loop] = []
    for number in loops:
        extent = work.extents[number]
        if extent == ONE:
            continue
        strides = tuple(operand.strides[number] for operand in work.operands)
        inner = Loop((number,), extent, strides)
        if result and _continues(result[-1], inner):
            outer = result.pop()
            inner = Loop((*outer.parts, number), outer.extent * extent, strides)
        result.append(inner)
    return result


def _continues(outer: Loop, inner: Loop) -> bool:
    """Whether one step of `outer` is as far as all of `inner`, for every operand."""
    return all(
        (far == ZERO and near == ZERO) or (near != ZERO and far == near * inner.extent)
        for far, near in zip(outer.strides, inner.strides, strict=True)
    )


def in_memory_order(work: Work, loops: Sequence[int]) -> list[int]:
    """The loops by the first output's strides, the smallest last; the others first."""
    outputs = work.outputs
    if not outputs:
        return list(loops)

    def key(loop: int) -> tuple[bool, int, int]:
        for operand in outputs:
            stride = operand.strides[loop]
            if stride != ZERO:
                return (True, -len(stride.open), -stride.known)
        return (False, 0, 0)

    return sorted(loops, key=key)


def total(loops: Sequence[Loop]) -> Size:
    """The iterations of all of them."""
    return product([loop.extent for loop in loops])
