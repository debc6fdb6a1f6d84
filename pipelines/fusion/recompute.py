"""Cheap operations whose results several kernels would read are done in each of them instead.

A cast or a broadcast costs less to do again than its result costs to write and read: bf16 elements
that two kernels need in f32 are read as bf16 by both, and numbers that are made of places alone are
made where they are read. So may a transpose, where what the kernels read and write says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from ...dialects.mlir import ir
from .access import Access, Coordinate
from .cost import objection
from .group import Group, single
from .grouping import Grouping
from .node import Node
from .order import BlockOrder
from .sizes import Sizes
from .spaces import unify
from .validity import obstacle, too_large

# The operations of numbers that are made of places alone: more are made once.
_MOST_REPEATED = 8


def repeat_cheap_work(grouping: Grouping) -> bool:
    """Gives every kernel its own copy of what is cheaper done again; whether there was any.

    The grouping is of no use then: there are more operations than it knows.
    """
    copied = False
    groups = grouping.groups
    places = {node.op: place for place, group in enumerate(groups) for node in group.nodes}
    for group in groups:
        for work in _cheap_work(group):
            readers = _readers(groups, places, group, work)
            if readers and all(_fits(work, to) for to in readers):
                for reader in readers:
                    _copy(work, reader)
                if work is group:
                    # Or all but the last would be work still, for the last.
                    for node in reversed(work.nodes):
                        node.op.erase()
                copied = True
    return copied


def repeat_reorderings(grouping: Grouping, block: ir.Block) -> bool:
    """Gives every reader its own copy of what puts elements into another order, where as many or
    fewer kernels then move less memory; whether there was any. The grouping is of no use then.

      %t = transpose %x;  %s = sum(%t * %t);  return %t / %s
    was a kernel that writes %t and its squares, and one that reads both: now one that adds squares
    of %x in the order in which they lie, and one that divides.
    """
    groups = grouping.groups
    places = {node.op: place for place, group in enumerate(groups) for node in group.nodes}
    inside = _Inside(block)
    changed: set[int] = set()
    for place, group in enumerate(groups):
        written = {each.value for each in group.outputs}
        for node in group.nodes:
            if not _reorders(node) or node.writes[0].value not in written:
                continue
            readers = list(dict.fromkeys(use.owner.operation for use in node.writes[0].value.uses))
            near = {place, *(places.get(each, -1) for each in readers)}
            if len(readers) == 1 or -1 in near or near & changed:
                continue
            if _repeated_apart(node, readers, [groups[each] for each in near], inside):
                changed |= near
    return bool(changed)


def _reorders(node: Node) -> bool:
    """Returns whether a node cheaply writes what it reads, in another order."""
    if node.collective or node.expensive is not None:
        return False
    if len(node.reads) != 1 or len(node.writes) != 1:
        return False
    (read,), (write,) = node.reads, node.writes
    return set(read.loops) == set(write.loops) and read.loops != write.loops


class _Inside:
    """The operations of a block in their order, and copies of some, each before the one it is of.

    A copy and its readers are nodes without another reading of the block: their loops go over what
    they went over before.
    """

    def __init__(self, block: ir.Block) -> None:
        self._operations = [op.operation for op in block]
        self._copies: dict[int, list[ir.Operation]] = {}

    def insert(self, position: int, copies: list[ir.Operation]) -> None:
        """Puts copies before an operation, of which there were none."""
        self._copies[position] = copies

    def remove(self, position: int) -> None:
        """Takes the copies before an operation away."""
        del self._copies[position]

    def grouped(self, repeated: Node, nodes: Sequence[Node]) -> list[Group]:
        """Returns the groups that nodes would be, with the copies of one of them."""
        positions = [node.position for node in nodes]
        # What comes between two of them is between the first and the last. The end of a block has a
        # place in its order that is not theirs.
        first, end = min(positions), max(positions) + 2
        near = [
            op
            for position in range(first, end)
            for op in (*self._copies.get(position, ()), self._operations[position])
        ]
        places = {op: place for place, op in enumerate(near)}
        copies = self._copies[repeated.position]
        found = [_read_again(repeated, copy, places[copy]) for copy in copies]
        found += [_read_again(node, node.op, places[node.op]) for node in nodes]
        found.sort(key=lambda node: node.position)
        grouping = Grouping(found, BlockOrder(near))
        grouping.group()
        return grouping.groups


def _read_again(node: Node, op: ir.Operation, position: int) -> Node:
    """Returns a node with the operands and results that an operation has now."""
    count = len(node.reads)
    reads = tuple(
        Access(value, each.index)
        for value, each in zip(list(op.operands)[:count], node.reads, strict=True)
    )
    writes = tuple(
        Access(value, each.index) for value, each in zip(op.results, node.writes, strict=True)
    )
    return Node(
        op,
        position,
        reads,
        writes,
        node.extents,
        node.reduced,
        node.scanned,
        node.expensive,
        node.captured,
        node.operations,
    )


def _repeated_apart(
    node: Node, readers: Sequence[ir.Operation], groups: Sequence[Group], inside: _Inside
) -> bool:
    """Copies a node for each reader but the last, if the kernels of `groups` are better so."""
    (write,) = node.writes
    before = _traffic(groups)
    old = {reader: list(reader.operands) for reader in readers}
    copies: list[ir.Operation] = []
    for reader in readers[:-1]:
        with node.op.location, ir.InsertionPoint(node.op):
            copies.append(node.op.clone())
        for place, value in enumerate(old[reader]):
            if value == write.value:
                reader.operands[place] = copies[-1].results[0]
    inside.insert(node.position, copies)
    after = inside.grouped(node, [each for group in groups for each in group.nodes])
    if len(after) <= len(groups) and _is_less(_traffic(after), before):
        return True
    for reader, operands in old.items():
        for place, value in enumerate(operands):
            reader.operands[place] = value
    inside.remove(node.position)
    for copy in copies:
        copy.erase()
    return False


def _traffic(groups: Sequence[Group]) -> Counter[int]:
    """Returns the bits that kernels read and write: for each number of open sizes those of the
    tensors that have so many, as multiples of these.
    """
    found: Counter[int] = Counter()
    for group in groups:
        for each in (*group.inputs, *group.outputs):
            if isinstance(each.value.type, ir.RankedTensorType):
                known = [Sizes.static(group.extents[loop]) for loop in each.loops]
                bits = _bits(each.value) * prod(size for size in known if size is not None)
                found[known.count(None)] += bits
    return found


def _is_less(one: Counter[int], other: Counter[int]) -> bool:
    """Returns whether less memory is moved, where open sizes are large."""
    ranks = sorted(one.keys() | other.keys(), reverse=True)
    return [one[rank] for rank in ranks] < [other[rank] for rank in ranks]


def _cheap_work(group: Group) -> Iterator[Group]:
    """Yields what may be done again: single nodes, and a whole group that reads nothing."""
    for node in group.nodes:
        work = single(node)
        if len(work.outputs) == 1 and _saves_memory(group, work):
            yield work
    if not 1 < len(group.nodes) <= _MOST_REPEATED or len(group.outputs) != 1 or group.inputs:
        return
    if _saves_memory(group, group):
        yield group


def _readers(
    groups: list[Group], places: dict[ir.Operation, int], group: Group, work: Group
) -> list[Group]:
    """Returns the other groups that read a result, if nothing but groups of several read it."""
    (given,) = work.outputs
    inside = {node.op for node in work.nodes}
    users = {use.owner.operation for use in given.value.uses} - inside
    if not all(user in places for user in users):
        return []
    found = sorted({places[user] for user in users})
    return [groups[place] for place in found if groups[place] is not group]


def _saves_memory(group: Group, work: Group) -> bool:
    """Returns whether to read what the work reads costs no more than to read its result."""
    nodes = work.nodes
    if any(node.collective or node.expensive is not None for node in nodes):
        return False
    if any(len(node.writes) != 1 for node in nodes):
        return False
    if group is not work and any(read.value in group.writes for read in work.inputs):
        return False
    (given,) = work.outputs
    loops = len(set(given.loops))
    large = [read for read in work.inputs if len(set(read.loops)) == loops]
    small = len(work.inputs) - len(large)
    return small <= 1 and sum(_bits(each.value) for each in large) <= _bits(given.value)


def _fits(work: Group, group: Group) -> bool:
    """Returns whether a copy of the work would be fused with what reads its result."""
    if too_large(work, group) is not None:
        return False
    (given,) = work.outputs
    reads = {each for each in group.reads if each.value == given.value}
    if not work.inputs and len(reads) > 1:
        # A place among others, as of rows and of columns: there is a copy for each.
        return all(len(set(each.loops)) == len(each.index) for each in reads)
    both = unify(work, group)
    if not isinstance(both, Group):
        return False
    both = replace(both, copied=frozenset(work.writes))
    return obstacle(both) is None and objection(both) is None


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


def _copy(work: Group, group: Group) -> None:
    """Has a group read copies of a result, one for each place at which it reads it."""
    (given,) = work.outputs
    copies: dict[tuple[Coordinate, ...], ir.Value] = {}
    for reader, name in zip(group.nodes, group.names, strict=True):
        for place, read in enumerate(reader.in_loops(name).reads):
            if read.value != given.value:
                continue
            if read.index not in copies:
                copies[read.index] = _copied(work)[given.value]
            reader.op.operands[place] = copies[read.index]


def _copied(work: Group) -> dict[ir.Value, ir.Value]:
    """Does the work again; returns the new results by those that they are copies of."""
    found: dict[ir.Value, ir.Value] = {}
    for node in work.nodes:
        with node.op.location, ir.InsertionPoint(node.op):
            copy = node.op.clone()
        for place, operand in enumerate(node.op.operands):
            copy.operands[place] = found.get(operand, operand)
        found |= dict(zip(node.op.results, copy.results, strict=True))
    return found
