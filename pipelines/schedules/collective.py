"""The reductions and searches of a region as running values, which are merged in steps."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.loop_operation import kind_of, loops_of
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..rewriting import constant
from .combine import combine, combine_places, neutral
from .region_operations import needed_by
from .work import COLLECTIVES, Work


@dataclass(frozen=True)
class Collective:
    """A hir.reduce_loops or hir.find_loops.

    It runs with one value, or with an extreme and its place, an i32.
    """

    op: ir.Operation

    @property
    def operand(self) -> ir.Value:
        """What is reduced."""
        return self.op.operands[0]

    @property
    def is_find(self) -> bool:
        return self.op.name == "hir.find_loops"

    @property
    def loops(self) -> list[int]:
        """The loops it goes over, as it lists them."""
        return loops_of(self.op)

    @property
    def types(self) -> list[ir.Type]:
        """The types of its running values."""
        value = self.operand.type
        return [value, ir.IntegerType.get_signless(32)] if self.is_find else [value]

    def start(self) -> list[ir.Value]:
        """The running values before any iteration."""
        first, *places = self.types
        return [neutral(kind_of(self.op), first), *(constant(place, 0) for place in places)]

    def merged(
        self, a: Sequence[ir.Value], b: Sequence[ir.Value], *, ascending: bool = False
    ) -> list[ir.Value]:
        """Two sets of running values made into one.

        `ascending` says that all places of `b` come after those of `a`.
        """
        if not self.is_find:
            return [combine(kind_of(self.op), a[0], b[0])]
        return list(
            combine_places(kind_of(self.op), (a[0], a[1]), (b[0], b[1]), ascending=ascending)
        )

    def results(self, running: Sequence[ir.Value]) -> dict[ir.Value, ir.Value]:
        """The operation's results, given the running values at the end."""
        found: dict[ir.Value, ir.Value] = {self.op.results[0]: running[0]}
        if self.is_find:
            place = self.op.results[1]
            found[place] = arith.extui(place.type, running[1])
        return found


def merged(
    level: Sequence[Collective], count: int, a: Sequence[ir.Value], b: Sequence[ir.Value]
) -> list[ir.Value]:
    """Running values of several collectives, `count` sets of each in turn, made into one."""
    found: list[ir.Value] = []
    for each in level:
        for _ in range(count):
            first, last = len(found), len(found) + len(each.types)
            found += each.merged(a[first:last], b[first:last])
    return found


def levels_of(work: Work) -> list[list[Collective]]:
    """The collectives in groups: each needs results of groups before its own alone."""
    depths: dict[ir.Operation, int] = {}

    def depth(value: ir.Value) -> int:
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation not in inside:
            return 0
        op = owner.operation
        if op not in depths:
            depths[op] = max((depth(needed) for needed in needed_by(op)), default=0)
            depths[op] += op.name in COLLECTIVES
        return depths[op]

    inside = {inner.operation for inner in work.block}
    for inner in work.block:  # In order, so that long chains need no deep stack.
        for result in inner.operation.results:
            depth(result)
    levels: list[list[Collective]] = []
    for op in work.collectives:
        while len(levels) < depths[op]:
            levels.append([])
        levels[depths[op] - 1].append(Collective(op))
    return levels
