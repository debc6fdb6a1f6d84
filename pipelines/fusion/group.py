"""Nodes that are to become one operation, over common loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import count

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from .access import Access
from .node import Node
from .sizes import Size

_serials = count()


@dataclass(frozen=True, eq=False)
class Group:
    """`nodes` in the order of the program; loop i of nodes[k] is loop names[k][i] of the group.

    No other group has its `serial`. The results `copied` are read within the group alone, whatever
    the program says: they stand for those of copies.
    """

    nodes: tuple[Node, ...]
    names: tuple[tuple[int, ...], ...]
    extents: tuple[Size, ...]
    copied: frozenset[ir.Value] = frozenset()
    serial: int = field(default_factory=_serials.__next__)

    @cached_property
    def operations(self) -> int:
        """The number of operations in its nodes' regions."""
        return sum(node.operations for node in self.nodes)

    @cached_property
    def reduced(self) -> frozenset[int]:
        """The loops that some node reduces over."""
        return frozenset(
            name[loop]
            for node, name in zip(self.nodes, self.names, strict=True)
            for loop in node.reduced
        )

    @cached_property
    def scanned(self) -> frozenset[int]:
        """The loops that some node scans along."""
        return frozenset(
            name[loop]
            for node, name in zip(self.nodes, self.names, strict=True)
            for loop in node.scanned
        )

    @cached_property
    def writes(self) -> dict[ir.Value, Access]:
        """Where each result of its nodes is written, in the group's loops."""
        return {
            each.value: each
            for node, name in zip(self.nodes, self.names, strict=True)
            for each in node.in_loops(name).writes
        }

    @cached_property
    def reads(self) -> list[Access]:
        """What its nodes read of each other and of others, in the group's loops."""
        return [
            each
            for node, name in zip(self.nodes, self.names, strict=True)
            for each in node.in_loops(name).reads
        ]

    @cached_property
    def inputs(self) -> list[Access]:
        """What it reads of others, each once."""
        writes = self.writes
        return list(dict.fromkeys(each for each in self.reads if each.value not in writes))

    @cached_property
    def outputs(self) -> list[Access]:
        """What is written because something outside the group uses it."""
        inside = {node.op for node in self.nodes}
        return [
            each
            for value, each in self.writes.items()
            if value not in self.copied
            and any(use.owner.operation not in inside for use in value.uses)
        ]

    @cached_property
    def unsized(self) -> list[int]:
        """The loops whose extents no operand has."""
        sized = {loop for each in (*self.inputs, *self.outputs) for loop in each.loops}
        return [loop for loop in range(len(self.extents)) if loop not in sized]

    @property
    def first(self) -> int:
        return self.nodes[0].position

    @property
    def last(self) -> int:
        return self.nodes[-1].position


def single(node: Node) -> Group:
    """Returns a group of one node."""
    return Group((node,), (tuple(range(node.loops)),), node.extents)


def joined(one: Group, other: Group, renamed: Sequence[int], extents: tuple[Size, ...]) -> Group:
    """Both groups' nodes in the loops of `one` and more: loop i of `other` is renamed[i]."""
    pairs = [
        *zip(one.nodes, one.names, strict=True),
        *(
            (node, tuple(renamed[loop] for loop in name))
            for node, name in zip(other.nodes, other.names, strict=True)
        ),
    ]
    pairs.sort(key=lambda pair: pair[0].position)
    return Group(tuple(node for node, _ in pairs), tuple(name for _, name in pairs), extents)
