"""What is made of parts of a tensor that is computed cheaply computes these parts itself.

  %p = linalg.generic ins(%x0, %x1) { addf }                     // tensor<64x64xf32>
  %l = tensor.extract_slice %p[0, 0] [64, 62] [1, 1]
  %r = tensor.extract_slice %p[0, 2] [64, 62] [1, 1]
  %q = linalg.generic ins(%l, %r) { addf }
becomes
  %l = linalg.generic ins(slices of %x0 and %x1) { addf }        // and so %r
  %q = linalg.generic ins(%l, %r) { addf }
which are one kernel: it reads neighbouring elements of `x0` and `x1` that the cache has, where two
kernels wrote and read all of `p`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ..walking import operations_where
from .access import is_zero
from .generic import GENERIC, inputs_of
from .grouping import Grouping
from .node import Node, read_node
from .order import BlockOrder
from .sizes import Sizes

_SLICE, _EMPTY = "tensor.extract_slice", "tensor.empty"
# Reads of an element by what becomes one kernel. An H200's first-level caches serve 32 lanes that
# read vectors' elements one by one in four cycles: of f32, 9 elements allow 3.2 TB/s, 27 1.1 TB/s,
# less than three kernels do (computed).
_MOST_READS = 9
# What a region may not have: it depends on where an element is, or may fail.
_FIXED = ("linalg.index", "tensor.extract", "cf.assert")


class _Part(NamedTuple):
    """A slice without steps: where it begins, its sizes, and those of them that are open."""

    op: ir.Operation
    offsets: list[int]
    sizes: list[int]
    open: list[ir.Value]


def compute_where_sliced(block: ir.Block, nodes: Sequence[Node]) -> bool:
    """Computes parts of what nodes make where they are read; whether there were any.

    Does so where that and the readers become one operation.
    """
    order = {node.op: node for node in nodes}
    changed: set[ir.Operation] = set()
    # What stands where each operation of the block stood.
    standing = [[op.operation] for op in block]
    places = {op: place for place, (op,) in enumerate(standing) if op.name == _SLICE}
    for node in nodes:
        found = _parts(node)
        if not found or node.op in changed or any(part.op not in places for part in found):
            continue
        readers = [use.owner.operation for part in found for use in part.op.results[0].uses]
        readers = list(dict.fromkeys(readers))
        if any(reader not in order or reader in changed for reader in readers):
            continue
        # No other operation can have to come between; the last of a block stays there.
        last = max((order[reader].position for reader in readers), default=node.position)
        copies = [_computed(node, part) for part in found]
        for part, (copy, needed) in zip(found, copies, strict=True):
            part.op.results[0].replace_all_uses_with(copy.results[0])
            standing[places[part.op]] = [*reversed(needed), copy]
        around = [op for each in standing[node.position : last + 2] for op in each]
        if _are_one(block, around, [*(copy for copy, _ in copies), *readers]):
            changed.update(readers)
            standing[node.position] = []
            obsolete = [*(part.op for part in found), node.op]
        else:
            for part, (copy, _) in zip(found, copies, strict=True):
                copy.results[0].replace_all_uses_with(part.op.results[0])
                standing[places[part.op]] = [part.op]
            obsolete = [op for copy, needed in copies for op in (copy, *needed)]
        for op in obsolete:
            op.erase()
    return bool(changed)


def _parts(node: Node) -> list[_Part]:
    """Returns the slices that alone read a node's result; none where it is not to be repeated."""
    if node.collective or node.expensive is not None or len(node.op.results) != 1:
        return []
    reads = (*node.reads, *node.writes)
    if not all(isinstance(each, int) or is_zero(each) for read in reads for each in read.index):
        return []
    if operations_where(node.op, lambda op: op != node.op and _is_fixed(op)):
        return []
    makers = [value.owner for value in inputs_of(node.op) if isinstance(value, ir.OpResult)]
    if any(maker.name.startswith("linalg.") and maker.name != GENERIC for maker in makers):
        return []  # The kernel of a product may include it.
    users = [use.owner.operation for use in node.op.results[0].uses]
    found = [part for user in users if (part := _part(user)) is not None]
    if len(found) != len(users) or len(found) * len(node.reads) > _MOST_READS:
        return []
    return found


def _is_fixed(op: ir.Operation) -> bool:
    return op.name in _FIXED or len(op.regions) > 0


def _part(op: ir.Operation) -> _Part | None:
    """Returns what a slice is; None of any other, of one with steps, or that drops dims."""
    if op.name != _SLICE:
        return None
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    if DYNAMIC in offsets or set(strides) != {1}:
        return None
    if ir.RankedTensorType(op.results[0].type).rank != len(offsets):
        return None
    return _Part(op, offsets, sizes, list(op.operands)[1:])


def _computed(node: Node, part: _Part) -> tuple[ir.Operation, list[ir.Operation]]:
    """Makes a part of what a node makes; returns the operation, and what it alone needs."""
    (write,) = node.writes
    place = {loop: axis for axis, loop in enumerate(write.index) if isinstance(loop, int)}
    open_ = iter(part.open)
    values = [next(open_) if size == DYNAMIC else None for size in part.sizes]
    kind = ir.RankedTensorType(part.op.results[0].type)
    needed: list[ir.Operation] = []
    with part.op.location, ir.InsertionPoint(part.op):
        for read in node.reads:
            axes = [place[loop] if isinstance(loop, int) else None for loop in read.index]
            if axes:
                needed.append(_sliced(read.value, part, axes, values))
        asked = [value for value in values if value is not None]
        needed.append(ir.Operation.create(_EMPTY, results=[kind], operands=asked))
        copy = node.op.clone()
    slices = iter(needed)
    for number, read in enumerate(node.reads):
        if read.index:
            copy.operands[number] = next(slices).results[0]
    copy.operands[len(inputs_of(node.op))] = needed[-1].results[0]
    copy.results[0].set_type(kind)
    return copy, needed[::-1]


def _sliced(
    value: ir.Value, part: _Part, axes: Sequence[int | None], sizes: Sequence[ir.Value | None]
) -> ir.Operation:
    """Makes the part of an operand along whose dims those of the result lie, or none where they
    have one element; of a slice, of what that is a slice of.
    """
    offsets = [0 if axis is None else part.offsets[axis] for axis in axes]
    if isinstance(value, ir.OpResult):
        outer = _part(value.owner.operation)
        if outer is not None:
            offsets = [a + b for a, b in zip(offsets, outer.offsets, strict=True)]
            value = outer.op.operands[0]
    known = [1 if axis is None else part.sizes[axis] for axis in axes]
    asked = [found for axis in axes if axis is not None and (found := sizes[axis]) is not None]
    element = ir.RankedTensorType(value.type).element_type
    attributes: dict[str, ir.Attribute] = {
        "static_offsets": ir.DenseI64ArrayAttr.get(offsets),
        "static_sizes": ir.DenseI64ArrayAttr.get(known),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(axes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(asked), 0]),
    }
    return ir.Operation.create(
        _SLICE,
        results=[ir.RankedTensorType.get(known, element)],
        operands=[value, *asked],
        attributes=attributes,
    )


def _are_one(
    block: ir.Block, around: Sequence[ir.Operation], operations: Sequence[ir.Operation]
) -> bool:
    """Returns whether some operations of a block would be one kernel; `around` are those from the
    first of them to the one that comes after the last.
    """
    sizes, among = Sizes(block), set(operations)
    nodes = [read_node(op, place, sizes) for place, op in enumerate(around) if op in among]
    grouping = Grouping(nodes, BlockOrder(around))
    grouping.group()
    return len(grouping.groups) == 1
