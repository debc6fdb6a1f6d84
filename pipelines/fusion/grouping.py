"""Deciding which nodes become one operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects.mlir import ir
from .cost import objection
from .group import Group, single
from .node import Node
from .order import BlockOrder
from .spaces import unify
from .validity import obstacle

_BETWEEN = "an operation that is no part of it needs the one and makes what the other needs"


@dataclass
class Grouping:
    """The groups of one block, as far as they are made; `refused` says why two nodes are apart."""

    nodes: Sequence[Node]
    order: BlockOrder
    refused: dict[tuple[Node, Node], str] = field(default_factory=dict[tuple[Node, Node], str])

    def __post_init__(self) -> None:
        self._of = {node: single(node) for node in self.nodes}
        self._makers = {write.value: node for node in self.nodes for write in node.writes}

    @property
    def groups(self) -> list[Group]:
        """The groups, in the order of their first nodes."""
        return list({id(group): group for group in self._of.values()}.values())

    def together(self, one: Node, other: Node) -> bool:
        """Whether two nodes are in one group."""
        return self._of[one] is self._of[other]

    def group(self) -> None:
        """Merges producers with consumers, then what reads the same tensors, until none is left."""
        while self._merge_edges() or self._merge_siblings():
            pass

    def _merge_edges(self) -> bool:
        merged = False
        for node in self.nodes:
            makers = {self._makers[read.value] for read in node.reads if read.value in self._makers}
            for maker in sorted(makers, key=lambda each: -each.position):
                merged |= self._try(maker, node)
        return merged

    def _merge_siblings(self) -> bool:
        readers: dict[ir.Value, list[Node]] = {}
        for node in self.nodes:
            for read in node.reads:
                readers.setdefault(read.value, []).append(node)
        for nodes in readers.values():
            for place, one in enumerate(nodes):
                for other in nodes[place + 1 :]:
                    if self._are_siblings(one, other) and self._try(one, other):
                        return True
        return False

    def _are_siblings(self, one: Node, other: Node) -> bool:
        """Whether two nodes read a tensor over all the loops of both groups, and reduce alike."""
        first, second = self._of[one], self._of[other]
        if first is second or len(first.extents) != len(second.extents):
            return False
        if bool(first.reduced) != bool(second.reduced) or first.scanned or second.scanned:
            return False
        loops = len(first.extents)
        large = {each.value for each in first.inputs if len(set(each.loops)) == loops}
        return loops > 0 and any(
            each.value in large and len(set(each.loops)) == loops for each in second.inputs
        )

    def _try(self, one: Node, other: Node) -> bool:
        """Merges the groups of two nodes if that is possible and worth it."""
        first, second = self._of[one], self._of[other]
        if first is second:
            return False
        merged = unify(first, second)
        reason = merged if isinstance(merged, str) else obstacle(merged) or objection(merged)
        if reason is None and not self.order.can_merge(first.first, second.first):
            reason = _BETWEEN
        if isinstance(merged, str) or reason is not None:
            self.refused[one, other] = reason or ""
            return False
        self.order.merge(first.first, second.first)
        for node in merged.nodes:
            self._of[node] = merged
        return True
