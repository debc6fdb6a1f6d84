"""The order of a block's operations: which may become one, and where that one then stands."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from ...dialects.mlir import ir
from ..walking import operations_where

_PURE = ("arith.", "math.", "tensor.", "linalg.", "complex.", "index.", "affine.apply")


class BlockOrder:
    """The operations of a block by their positions, and what must come before what.

    Positions that were merged are one; merging keeps an order possible.
    """

    def __init__(self, operations: Sequence[ir.Operation]) -> None:
        self._count = len(operations)
        self._members = [{position} for position in range(self._count)]
        self._of = list(range(self._count))
        self._after: list[set[int]] = [set() for _ in operations]
        places = {op: position for position, op in enumerate(operations)}
        last_effect: int | None = None
        for position, op in enumerate(operations):
            for inner in operations_where(op, lambda _: True):
                for value in inner.operands:
                    owner = value.owner
                    before = None if isinstance(owner, ir.Block) else places.get(owner.operation)
                    if before is not None:
                        self._after[before].add(position)
            if not op.name.startswith(_PURE):
                if last_effect is not None:
                    self._after[last_effect].add(position)
                last_effect = position
        # The end of the block stays there.
        for position in range(self._count - 1):
            self._after[position].add(self._count - 1)
        self._ranks = list(range(self._count))

    def can_merge(self, one: int, other: int) -> bool:
        """Whether no operation must come between those merged with one position and the other."""
        first, second = self._of[one], self._of[other]
        both = {first, second}
        if first == second:
            return True
        end = max(self._ranks[first], self._ranks[second])
        waiting = [each for group in both for each in self._next(group) if each not in both]
        seen = set(waiting)
        while waiting:
            for each in self._next(waiting.pop()):
                if each in both:
                    return False
                if each not in seen and self._ranks[each] < end:
                    seen.add(each)
                    waiting.append(each)
        return True

    def merge(self, one: int, other: int) -> None:
        """Makes the operations at two positions stand together; can_merge says whether they can."""
        first, second = self._of[one], self._of[other]
        if first == second:
            return
        for position in self._members[second]:
            self._of[position] = first
        self._members[first] |= self._members[second]
        self._members[second] = set()
        for rank, group in enumerate(self._sorted()):
            self._ranks[group] = rank

    def sorted(self) -> list[list[int]]:
        """The positions in an order that is possible, those merged together.

        Each stands as near as can be to where its last operation stood.
        """
        return [sorted(self._members[group]) for group in self._sorted()]

    def _next(self, group: int) -> set[int]:
        return {
            self._of[after]
            for position in self._members[group]
            for after in self._after[position]
            if self._of[after] != group
        }

    def _sorted(self) -> list[int]:
        waits = dict.fromkeys(set(self._of), 0)
        following = {group: self._next(group) for group in waits}
        for after in following.values():
            for group in after:
                waits[group] += 1
        ready = [(max(self._members[group]), group) for group, count in waits.items() if not count]
        heapq.heapify(ready)
        found: list[int] = []
        while ready:
            _, group = heapq.heappop(ready)
            found.append(group)
            for after in following[group]:
                waits[after] -= 1
                if not waits[after]:
                    heapq.heappush(ready, (max(self._members[after]), after))
        return found
