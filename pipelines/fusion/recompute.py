"""Cheap operations whose results several kernels would read are done in each of them instead.

A cast or a broadcast costs less to do again than its result costs to write and read: bf16 elements
that two kernels need in f32 are read as bf16 by both.
"""

from __future__ import annotations

from ...dialects.mlir import ir
from .cost import objection
from .group import Group, single
from .grouping import Grouping
from .node import Node
from .spaces import unify
from .validity import obstacle


def repeat_cheap_work(grouping: Grouping) -> bool:
    """Gives every kernel its own copy of what is cheaper done again; whether there was any.

    The grouping is of no use then: there are more operations than it knows.
    """
    copied = False
    groups = grouping.groups
    places = {node.op: place for place, group in enumerate(groups) for node in group.nodes}
    for group in groups:
        for node in group.nodes:
            readers = _readers(groups, places, group, node)
            if readers and _saves_memory(group, node) and all(_fits(node, to) for to in readers):
                _copy(node, readers)
                copied = True
    return copied


def _readers(
    groups: list[Group], places: dict[ir.Operation, int], group: Group, node: Node
) -> list[Group]:
    """Returns the other groups that read a node's result, if nothing but groups of
    several read it.
    """
    users = {use.owner.operation for write in node.writes for use in write.value.uses}
    if not all(user in places for user in users):
        return []
    found = sorted({places[user] for user in users})
    return [groups[place] for place in found if groups[place] is not group]


def _saves_memory(group: Group, node: Node) -> bool:
    """Returns whether to read what the node reads costs no more than to read its result."""
    if node.collective or node.expensive is not None or len(node.writes) != 1:
        return False
    if any(read.value in group.writes for read in node.reads):
        return False
    loops = len(set(node.writes[0].loops))
    large = [read for read in node.reads if len(set(read.loops)) == loops]
    small = len(node.reads) - len(large)
    return small <= 1 and sum(_bits(each.value) for each in large) <= _bits(node.writes[0].value)


def _fits(node: Node, group: Group) -> bool:
    """Returns whether the work would be fused with what reads its result."""
    both = unify(single(node), group)
    return isinstance(both, Group) and obstacle(both) is None and objection(both) is None


def _bits(value: ir.Value) -> int:
    element = ir.RankedTensorType(value.type).element_type
    if isinstance(element, ir.ComplexType):
        return 2 * _width(element.element_type)
    return _width(element)


def _width(element: ir.Type) -> int:
    if isinstance(element, ir.FloatType | ir.IntegerType):
        return element.width
    # An index.
    return 64


def _copy(node: Node, readers: list[Group]) -> None:
    (write,) = node.writes
    for group in readers:
        with node.op.location, ir.InsertionPoint(node.op):
            copy = node.op.clone()
        for reader in group.nodes:
            for place, value in enumerate(list(reader.op.operands)):
                if value == write.value:
                    reader.op.operands[place] = copy.results[0]
