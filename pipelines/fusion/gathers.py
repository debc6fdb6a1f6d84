"""Elements read at computed places of what an operation makes are computed there instead.

Where the only readers of a result are tensor.extracts, and making an element takes a few cheap
operations, it is made for the elements that are read, and the tensor never is.

  %d = linalg.generic ... ins(%x, %m) { subf }               // tensor<?x?xf32>
  %p = linalg.generic ... ins(%t) { tensor.extract %d[%i, %place] }
becomes
  %p = linalg.generic ... ins(%t, %m) { subf of tensor.extract %x[%i, %place] and %m's element }
"""

from __future__ import annotations

from ...dialects.mlir import ir
from ..rewriting import index_constant
from ..walking import operations_where
from .access import Access, Coordinate, is_zero, zero
from .generic import loop_count, make_generic, outs_of, reducing_loops
from .node import Node, read_node
from .region import Region
from .sizes import Sizes

_EXTRACT = "tensor.extract"


def is_computed_where_read(node: Node) -> bool:
    """Whether all that reads an operation's only result are tensor.extracts in other regions."""
    if len(node.op.results) != 1 or not _is_cheap(node):
        return False
    users = [use.owner.operation for use in node.op.results[0].uses]
    return bool(users) and all(
        user.name == _EXTRACT and user.block.owner.operation.name == "linalg.generic"
        for user in users
    )


def compute_where_read(node: Node, makers: dict[ir.Value, Node]) -> list[ir.Operation]:
    """Replaces every tensor.extract of what a node makes; returns the operations that have them.

    `makers` are the nodes by what they make: what they compute cheaply is computed there too.
    """
    users: list[ir.Operation] = []
    waiting = [use.owner.operation for use in node.op.results[0].uses]
    while waiting:
        extract = waiting.pop()
        maker = makers[extract.operands[0]]
        around = extract.block.owner.operation
        if around not in users:
            users.append(around)
        with extract.location, ir.InsertionPoint(extract):
            value, made = _at(maker, *extract.operands)
        extract.results[0].replace_all_uses_with(value)
        extract.erase()
        waiting += [
            each
            for each in made
            if each.operands[0] in makers and _is_cheap(makers[each.operands[0]])
        ]
    return users


def with_operands(op: ir.Operation, sizes: Sizes) -> ir.Operation | None:
    """The operation with what it extracts in order as operands; None where there is no such.

    It replaces `op`, which is to be erased.
    """
    node = read_node(op, 0, sizes)
    found = [
        (extract, read)
        for extract in operations_where(op, lambda inner: inner.name == _EXTRACT)
        if (read := _in_order(extract, node, sizes)) is not None
    ]
    if not found:
        return None
    loops = loop_count(op)
    with op.location, ir.InsertionPoint(op):
        region = Region()
        arguments: list[ir.Value | None] = [region.input(read, loops) for read in node.reads]
        for extract, read in found:
            extract.results[0].replace_all_uses_with(region.input(read, loops))
            extract.erase()
        outputs = [
            Access(out, write.index) for out, write in zip(outs_of(op), node.writes, strict=True)
        ]
        arguments += [None] * len(outputs)
        yielded = region.absorb(op, arguments, range(loops))
        region.finish(outputs, yielded)
        new = make_generic(region.inputs, outputs, loops, reducing_loops(op), region.block)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    return new


def _is_cheap(node: Node) -> bool:
    """Whether an element is made by cheap operations from elements at plain places."""
    reads = (*node.reads, *node.writes)
    return (
        not node.collective
        and node.expensive is None
        and all(isinstance(each, int) or is_zero(each) for read in reads for each in read.index)
        and not operations_where(node.op, lambda inner: inner != node.op and len(inner.regions) > 0)
        and not operations_where(node.op, lambda inner: inner.name == "cf.assert")
    )


def _at(node: Node, tensor: ir.Value, *place: ir.Value) -> tuple[ir.Value, list[ir.Operation]]:
    """The element at a place of what a node makes, and the tensor.extracts it is made from."""
    result = ir.OpResult(tensor).result_number
    write = node.writes[result]
    indices = {
        loop: index for loop, index in zip(write.index, place, strict=True) if isinstance(loop, int)
    }
    block = node.op.regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = {}
    made: list[ir.Operation] = []
    for argument, read in zip(block.arguments, node.reads, strict=False):
        extract = ir.Operation.create(
            _EXTRACT,
            results=[argument.type],
            operands=[read.value, *(_index(each, indices) for each in read.index)],
        )
        made.append(extract)
        values[argument] = extract.results[0]
    *work, end = [inner.operation for inner in block]
    for inner in work:
        if inner.name == "linalg.index":
            values[inner.results[0]] = indices[ir.IntegerAttr(inner.attributes["dim"]).value]
            continue
        copy = inner.clone()
        for number, operand in enumerate(inner.operands):
            copy.operands[number] = values.get(operand, operand)
        values.update(zip(inner.results, copy.results, strict=True))
    element = end.operands[result]
    return values.get(element, element), made


def _index(each: Coordinate, indices: dict[int, ir.Value]) -> ir.Value:
    return indices[each] if isinstance(each, int) else index_constant(0)


def _in_order(extract: ir.Operation, node: Node, sizes: Sizes) -> Access | None:
    """The access that a tensor.extract is where its indices are loops of the same extents."""
    value, *indices = extract.operands
    if extract.block.owner.operation != node.op:
        return None
    index: list[Coordinate] = []
    for axis, each in enumerate(indices):
        if ir.RankedTensorType(value.type).shape[axis] == 1:
            index.append(zero())
            continue
        loop = _loop(each)
        if loop is None or node.extents[loop] != sizes.of(value, axis):
            return None
        index.append(loop)
    return Access(value, tuple(index))


def _loop(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.index":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["dim"]).value
