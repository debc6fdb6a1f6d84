"""Deciding which nodes become one operation."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import field
from math import prod

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from .access import Access
from .cost import objection
from .group import Group, single
from .node import Node
from .order import BlockOrder
from .sizes import Sizes
from .spaces import unify
from .validity import obstacle, too_large

_BETWEEN = "an operation that is no part of it needs the one and makes what the other needs"
# How many groups that read the same tensor are tried with one of them. More share it through the
# cache, and trying all of them takes quadratic time.
_NEAR = 16
# Rows of a product that one kernel reads a large factor for (pipelines/schedules/few_rows).
_FEW_ROWS = 8


@dataclass
class Grouping:
    """The groups of one block, as far as they are made; `refused` says why two nodes are apart.

    What was refused is tried again only when one of the two groups has changed.
    """

    nodes: Sequence[Node]
    order: BlockOrder
    refused: dict[tuple[Node, Node], str] = field(default_factory=dict[tuple[Node, Node], str])

    def __post_init__(self) -> None:
        self._of = {node: single(node) for node in self.nodes}
        self._makers = {write.value: node for node in self.nodes for write in node.writes}
        self._places = {node: place for place, node in enumerate(self.nodes)}
        self._consumers: dict[Node, list[int]] = {node: [] for node in self.nodes}
        self._readers: dict[ir.Value, list[Node]] = {}
        for place, node in enumerate(self.nodes):
            for read in node.reads:
                self._readers.setdefault(read.value, []).append(node)
                if read.value in self._makers:
                    self._consumers[self._makers[read.value]].append(place)
        self._tensors = list(self._readers)
        places = {value: place for place, value in enumerate(self._tensors)}
        # Asked for at each merge, of each node of the group.
        self._reads = {node: {places[read.value] for read in node.reads} for node in self.nodes}
        # What is to be tried: nodes with what makes their operands, and readers of one tensor.
        self._waiting_nodes = set(range(len(self.nodes)))
        self._round: list[int] = []
        self._in_round: set[int] = set()
        self._at = len(self.nodes)
        self._waiting_tensors = set(range(len(self._tensors)))
        self._apart: set[tuple[int, int]] = set()

    @property
    def groups(self) -> list[Group]:
        """The groups, in the order of their first nodes."""
        return list({id(group): group for group in self._of.values()}.values())

    def together(self, one: Node, other: Node) -> bool:
        """Returns whether two nodes are in one group."""
        return self._of[one] is self._of[other]

    def group(self) -> None:
        """Merges producers with consumers, then what reads the same tensors, until none is left."""
        self._merge_edges()
        while self._waiting_tensors:
            waiting = sorted(self._waiting_tensors)
            self._waiting_tensors = set()
            for place in waiting:
                self._merge_readers(self._readers[self._tensors[place]])

    def _merge_edges(self) -> None:
        """Merges producers with consumers, in rounds over the nodes in their order."""
        while self._waiting_nodes:
            # Sorted, it is a heap; what changes after the node at hand is tried in the same round.
            self._round, self._waiting_nodes = sorted(self._waiting_nodes), set()
            self._in_round = set(self._round)
            while self._round:
                self._at = heapq.heappop(self._round)
                node = self.nodes[self._at]
                makers = {self._makers[r.value] for r in node.reads if r.value in self._makers}
                for maker in sorted(makers, key=lambda each: -each.position):
                    self._try(maker, node)
        self._at = len(self.nodes)

    def _wait(self, place: int) -> None:
        """Has a node tried again with what makes its operands."""
        if place <= self._at:
            self._waiting_nodes.add(place)
        elif place not in self._in_round:
            self._in_round.add(place)
            heapq.heappush(self._round, place)

    def _merge_readers(self, nodes: Sequence[Node]) -> None:
        """Merges groups that read one tensor; after each, producers with consumers again."""
        done: set[int] = set()
        for place, one in enumerate(nodes):
            while self._of[one].serial not in done:
                first = self._of[one]
                if not any(self._merges(one, other) for other in self._near(nodes, place)):
                    done.add(first.serial)

    def _near(self, nodes: Sequence[Node], place: int) -> Iterator[Node]:
        """Yields the first nodes of the next groups among `nodes`."""
        seen = {self._of[nodes[place]].serial}
        for other in nodes[place + 1 :]:
            group = self._of[other]
            if group.serial not in seen:
                seen.add(group.serial)
                yield other
            if len(seen) > _NEAR:
                return

    def _merges(self, one: Node, other: Node) -> bool:
        """Merges two groups that read a tensor alike, if they can be one."""
        if not self._are_siblings(one, other) or not self._try(one, other):
            return False
        self._merge_edges()
        return True

    def _are_siblings(self, one: Node, other: Node) -> bool:
        """Returns whether two nodes read a tensor over all the loops of both groups, or few rows of
        it over all but one, and reduce alike.
        """
        first, second = self._of[one], self._of[other]
        if (first.serial, second.serial) in self._apart:
            return False
        if first is second or len(first.extents) != len(second.extents):
            return False
        if bool(first.reduced) != bool(second.reduced) or first.scanned or second.scanned:
            return False
        loops = len(first.extents)
        large = {each.value for each in first.inputs if len(set(each.loops)) == loops}
        if loops > 0 and any(
            each.value in large and len(set(each.loops)) == loops for each in second.inputs
        ):
            return True
        rows = {each.value for each in first.inputs if _is_few_rows(first, each)}
        return any(each.value in rows and _is_few_rows(second, each) for each in second.inputs)

    def _try(self, one: Node, other: Node) -> bool:
        """Merges the groups of two nodes if that is possible and worth it."""
        first, second = self._of[one], self._of[other]
        if first is second or (first.serial, second.serial) in self._apart:
            return False
        reason = too_large(first, second)
        merged = reason or unify(first, second)
        if not isinstance(merged, str):
            reason = obstacle(merged) or objection(merged)
            if reason is None and not self.order.can_merge(first.first, second.first):
                reason = _BETWEEN
        if isinstance(merged, str) or reason is not None:
            self._apart.add((first.serial, second.serial))
            self.refused[one, other] = reason or str(merged)
            return False
        self.order.merge(first.first, second.first)
        for node in merged.nodes:
            self._of[node] = merged
            self._wait(self._places[node])
            for place in self._consumers[node]:
                self._wait(place)
            self._waiting_tensors |= self._reads[node]
        return True


def _is_few_rows(group: Group, read: Access) -> bool:
    """Returns whether a tensor is few rows that a group multiplies by a matrix of another loop.

    Sums of several matrices' products with them, as of queries, keys and values, are one kernel.
    """
    rest = set(range(len(group.extents))) - set(read.loops)
    if len(rest) != 1 or not group.reduced or not group.reduced <= set(read.loops):
        return False
    rows = [Sizes.static(group.extents[loop]) for loop in set(read.loops) - group.reduced]
    known = [size for size in rows if size is not None]
    return len(known) == len(rows) and prod(known) <= _FEW_ROWS
