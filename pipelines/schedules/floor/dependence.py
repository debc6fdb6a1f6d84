"""Which loops the values of a fused linalg.generic depend on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ....dialects.hir.loop_operation import loops_of
from ....dialects.mlir import ir
from ...walking import operations_where

REDUCTIONS = ("hir.reduce_loops", "hir.find_loops")
SCAN = "hir.scan_loop"


class Dependence:
    """The loops that each value of a region depends on; along all others it is uniform.

    `maps` has the map of each operand.
    """

    def __init__(self, op: ir.Operation, maps: Sequence[ir.AffineMap]) -> None:
        self._loops: dict[ir.Value, frozenset[int]] = {}
        self._effects: dict[ir.Operation, frozenset[int]] = {}
        block = op.regions[0].blocks[0]
        for argument, map_ in zip(block.arguments, maps, strict=True):
            self._loops[argument] = loops_in(map_)
        self.work = [each.operation for each in block][:-1]
        for inner in self.work:
            self._add(inner)

    def _add(self, op: ir.Operation) -> None:
        used = self.operands(op)
        found = frozenset[int]().union(*(self.loops(value) for value in used))
        for index in operations_where(op, lambda each: each.name == "linalg.index"):
            found |= {ir.IntegerAttr(index.attributes["dim"]).value}
        if op.name in REDUCTIONS:
            found -= set(loops_of(op))
        elif op.name == SCAN:
            found |= set(loops_of(op))
        for result in op.results:
            self._loops[result] = found
        if not len(op.results):
            self._effects[op] = found

    def loops(self, value: ir.Value) -> frozenset[int]:
        """The loops that a value depends on; none of one from outside the region."""
        return self._loops.get(value, frozenset())

    @property
    def effects(self) -> dict[ir.Operation, frozenset[int]]:
        """The operations without results, such as cf.assert, and the loops that they depend on."""
        return self._effects

    def operands(self, op: ir.Operation) -> list[ir.Value]:
        """The values of the region that an operation and what lies in it use."""
        used = [
            value
            for inner in operations_where(op, lambda _: True)
            for value in inner.operands
            if value in self._loops
        ]
        return list(dict.fromkeys(used))

    def needed(
        self, values: Sequence[ir.Value], along: Collection[int] | None = None
    ) -> list[ir.Operation]:
        """The operations that values come from, in the region's order.

        With `along`, what a collective operation takes is left out where its result is uniform
        along all of these loops.
        """
        wanted = {value.owner for value in values if not isinstance(value.owner, ir.Block)}
        found: list[ir.Operation] = []
        for op in reversed(self.work):
            if op not in wanted:
                continue
            found.append(op)
            is_collective = op.name in REDUCTIONS or op.name == SCAN
            if not is_collective or along is None or self.loops(op.results[0]) & set(along):
                for value in self.operands(op):
                    if not isinstance(value.owner, ir.Block):
                        wanted.add(value.owner)
        return found[::-1]


def loops_in(map_: ir.AffineMap) -> frozenset[int]:
    """The loops that a map uses."""
    return frozenset(loop for result in map_.results for loop in _used(result))


def _used(expression: ir.AffineExpr) -> set[int]:
    if isinstance(expression, ir.AffineBinaryExpr):
        return _used(expression.lhs) | _used(expression.rhs)
    if isinstance(expression, ir.AffineDimExpr):
        return {ir.AffineDimExpr(expression).position}
    return set()
