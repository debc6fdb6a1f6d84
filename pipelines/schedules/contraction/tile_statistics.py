"""What threads do with statistics of the results that they compute (see statistics.py)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ....dialects.mlir import arith, gpu, ir, scf
from ....dialects.records import dataclass
from ...rewriting import constant
from ..combine import combine, neutral
from ..elements import address, element_bytes, store
from ..warp_matrices import LANES
from .indices import Indices, Places, add, multiply, number
from .statistics import Partials


@contextmanager
def inside(condition: ir.Value | None) -> Generator[None]:
    """Inserts where a condition holds; None always does."""
    if condition is None:
        yield
        return
    with ir.InsertionPoint(scf.IfOp(condition).then_block):
        yield
        scf.YieldOp([])


@dataclass(frozen=True)
class Stored:
    """Partials of statistics, and the buffer that a kernel stores them in."""

    partials: Partials
    buffer: ir.Value

    def start(self) -> ir.Value:
        """Returns what changes no value that is combined with it."""
        return neutral(self.partials.kind, self.partials.statistic.operand.element)

    def store(
        self,
        numbers: Places,
        outer: Indices,
        high: ir.Value,
        low: ir.Value,
        value: ir.Value,
        holds: ir.Value | None,
    ) -> None:
        """Stores one at its places along both sides, if it is there."""
        steps, sides = self.partials.strides
        at = add(multiply(high, numbers.size(sides[0])), low)
        for loop, step in steps.items():
            at = add(multiply(outer[loop], numbers.size(step)), at)
        element = self.partials.statistic.operand.element
        pointer = numbers.parameters.pointer(self.buffer)
        with inside(holds):
            where = address(pointer, element, at)
            store(where, element, [value], element_bytes(element))


def where_there(kind: str, value: ir.Value, holds: ir.Value | None) -> ir.Value:
    """Returns a value, or where it is none what changes nothing."""
    return value if holds is None else arith.select(holds, value, neutral(kind, value.type))


def all_of(one: ir.Value | None, other: ir.Value | None) -> ir.Value | None:
    """Returns whether two conditions hold; None always does."""
    if one is None or other is None:
        return other if one is None else one
    return arith.andi(one, other)


def merge(
    kind: str, found: dict[tuple[int, int], ir.Value], key: tuple[int, int], value: ir.Value
) -> None:
    """Adds a value to those of a key."""
    found[key] = combine(kind, found[key], value) if key in found else value


@dataclass(frozen=True)
class Left:
    """What is left to some lanes of values that were combined: with which number it began."""

    value: ir.Value
    number: ir.Value
    holds: ir.Value | None


def fold(
    kind: str, values: Sequence[tuple[ir.Value, ir.Value]], lane: ir.Value, bits: Sequence[int]
) -> list[Left]:
    """Combines each of numbered values with those of the lanes whose number differs in some bits.

    Lanes give each other halves of the values, so that each has fewer of them with each bit.
    """
    found: list[Left] = []
    rest = list(values)
    while rest:
        count = 1
        while 2 * count <= len(rest) and 2 * count <= 1 << len(bits):
            count *= 2
        found.append(_folded(kind, rest[:count], lane, bits))
        rest = rest[count:]
    return found


def _folded(
    kind: str, values: Sequence[tuple[ir.Value, ir.Value]], lane: ir.Value, bits: Sequence[int]
) -> Left:
    left, holds = list(values), None
    for bit in bits:
        is_set = arith.cmpi(arith.CmpIPredicate.ne, arith.andi(lane, number(1 << bit)), number(0))
        if len(left) == 1:
            ((value, at),) = left
            left = [(combine(kind, value, _other(value, bit)), at)]
            is_unset = arith.xori(is_set, _true())
            holds = all_of(holds, is_unset)
            continue
        halves = list(zip(left[::2], left[1::2], strict=True))
        left = []
        for (one, first), (other, second) in halves:
            given, kept = arith.select(is_set, one, other), arith.select(is_set, other, one)
            left.append(
                (combine(kind, kept, _other(given, bit)), arith.select(is_set, second, first))
            )
    ((value, at),) = left
    return Left(value, at, holds)


def _other(value: ir.Value, bit: int) -> ir.Value:
    """What the lane has whose number differs in a bit."""
    return gpu.ShuffleOp(value, number(1 << bit), number(LANES), gpu.ShuffleMode.XOR).shuffleResult


def _true() -> ir.Value:
    return constant(ir.IntegerType.get_signless(1), 1)
