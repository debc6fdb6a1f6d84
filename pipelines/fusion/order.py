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
        self._before: list[set[int]] = [set() for _ in operations]
        for position, following in enumerate(self._after):
            for after in following:
                self._before[after].add(position)
        # Those of groups; what comes before another has a lower one.
        self._ranks = list(range(self._count))

    def can_merge(self, one: int, other: int) -> bool:
        """Returns whether no operation must come between those merged with one position and the
        other.
        """
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
        low, high = sorted((first, second), key=lambda group: self._ranks[group])
        earlier = self._reached(high, self._before, self._ranks[low])
        later = self._reached(low, self._after, self._ranks[high])
        for position in self._members[second]:
            self._of[position] = first
        self._members[first] |= self._members[second]
        self._members[second] = set()
        # Only what is between them moves: what they need before them, what needs them after.
        moved = [*sorted(earlier, key=self._ranks.__getitem__), first]
        moved += sorted(later, key=self._ranks.__getitem__)
        ranks = sorted(self._ranks[group] for group in {*moved, low, high})
        ranks.pop(len(earlier))
        for group, rank in zip(moved, ranks, strict=True):
            self._ranks[group] = rank

    def sorted(self) -> list[list[int]]:
        """Returns the positions in an order that is possible, those merged together.

        Each stands as near as can be to where its last operation stood.
        """
        return [sorted(self._members[group]) for group in self._sorted()]

    def _reached(self, start: int, edges: list[set[int]], end: int) -> set[int]:
        """Returns what `edges` lead to from one of two groups, between the ranks of both."""
        low, high = sorted((self._ranks[start], end))
        waiting, seen = [start], set[int]()
        while waiting:
            for each in self._along(edges, waiting.pop()):
                if low < self._ranks[each] < high and each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return seen

    def _next(self, group: int) -> set[int]:
        return self._along(self._after, group)

    def _along(self, edges: list[set[int]], group: int) -> set[int]:
        """Returns the other groups that edges of a group's positions lead to."""
        return {
            self._of[to]
            for position in self._members[group]
            for to in edges[position]
            if self._of[to] != group
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
