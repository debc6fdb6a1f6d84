"""Elements read at computed places of what an operation makes are computed there instead.

Where the only readers of a result are tensor.extracts, and making an element takes a few cheap
operations, it is made for the elements that are read, and the tensor never is.

  %d = linalg.generic ... ins(%x, %m) { subf }               // tensor<?x?xf32>
  %p = linalg.generic ... ins(%t) { tensor.extract %d[%i, %place] }
becomes
  %p = linalg.generic ... ins(%t, %m) { subf of tensor.extract %x[%i, %place] and %m's element }
"""

from __future__ import annotations

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir
from ..generics import element_or
from ..rewriting import constant, index_constant
from ..walking import defining_operation, is_used, operations_where
from .access import Access, Coordinate, is_zero, zero
from .generic import carry_configuration, loop_count, make_generic, outs_of, reducing_loops
from .node import Node, read_node
from .region import Region
from .sizes import Sizes

_EXTRACT, _SLICE = "tensor.extract", "tensor.extract_slice"


def is_computed_where_read(node: Node, makers: dict[ir.Value, Node]) -> bool:
    """Returns whether an operation's only result is read by tensor.extracts in the regions of
    others.

    Others of `makers`, the nodes by what they make, may read one too that only puts elements into
    another order, rows staying rows: they read what it reads.
    """
    if len(node.op.results) != 1:
        return False
    users = [use.owner.operation for use in node.op.results[0].uses]
    extracts = [user for user in users if user.name == _EXTRACT]
    if not extracts or not _is_cheap(node):
        return False
    around = [found for each in extracts if (found := _generic_around(each)) is not None]
    if len(around) < len(extracts):
        return False
    if len(extracts) == len(users):
        return not _is_made_of_several(node, makers)
    nodes = {maker.op for maker in makers.values()}
    return _reorders(node) and all(user.name == _EXTRACT or user in nodes for user in users)


def _is_made_of_several(node: Node, makers: dict[ir.Value, Node]) -> bool:
    """Returns whether several tensors would have to be there in place of one: as large results of
    work that is not done again.
    """
    given: set[ir.Value] = set()
    seen, waiting = {node.op}, [node]
    while waiting and len(given) < 2:
        made = waiting.pop()
        for read in made.reads:
            maker = makers.get(read.value)
            if maker is None or len(set(read.loops)) < node.loops:
                continue
            if not _is_cheap(maker):
                given.add(read.value)
            elif maker.op not in seen:
                seen.add(maker.op)
                waiting.append(maker)
    return len(given) > 1


def read_behind_slices(block: ir.Block, makers: dict[ir.Value, Node]) -> None:
    """Lets tensor.extracts of parts of what a node makes cheaply read the whole."""
    for op in [each.operation for each in block]:
        if op.name != _SLICE or op.operands[0] not in makers:
            continue
        offsets = _offsets(op)
        if offsets is None or not _is_cheap(makers[op.operands[0]]):
            continue
        for use in list(op.results[0].uses):
            extract = use.owner.operation
            if extract.name == _EXTRACT:
                with extract.location, ir.InsertionPoint(_guard(extract) or extract):
                    for place, offset in enumerate(offsets, 1):
                        if offset:
                            extract.operands[place] = arith.addi(
                                extract.operands[place], index_constant(offset)
                            )
                    extract.operands[0] = op.operands[0]
        if not is_used(op.results[0]):
            op.erase()


def compute_where_read(node: Node, makers: dict[ir.Value, Node]) -> list[ir.Operation]:
    """Replaces every tensor.extract of what a node makes; returns the operations that have them.

    `makers` are the nodes by what they make: what they compute cheaply is computed there too.
    """
    users: list[ir.Operation] = []
    readers = [use.owner.operation for use in node.op.results[0].uses]
    waiting = [reader for reader in readers if reader.name == _EXTRACT]
    while waiting:
        extract = waiting.pop()
        maker = makers[extract.operands[0]]
        around = _generic_around(extract)
        if around is not None:
            carry_configuration([maker.op, around], around)
            if around not in users:
                users.append(around)
        guard = _guard(extract)
        with extract.location, ir.InsertionPoint(guard or extract):
            value, made = _at(maker, guard, *extract.operands)
            if guard is not None:
                (end,) = guard.regions[1].blocks[0]
                otherwise = end.operation.operands[0]
                value = arith.select(guard.operands[0], value, otherwise)
        replaced = extract if guard is None else guard
        replaced.results[0].replace_all_uses_with(value)
        replaced.erase()
        waiting += [
            each
            for each in made
            if each.operands[0] in makers and _is_cheap(makers[each.operands[0]])
        ]
    return users


def with_operands(op: ir.Operation, sizes: Sizes) -> ir.Operation | None:
    """Returns the operation with what it extracts in order as operands; None where there is no
    such.

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
        new = make_generic(region.inputs, outputs, loops, reducing_loops(op), region.block, of=[op])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    return new


def _generic_around(op: ir.Operation) -> ir.Operation | None:
    """Returns the linalg.generic in whose region, or in a branch there, an operation is."""
    around = op.parent
    while around is not None and around.name == "scf.if":
        around = around.operation.parent
    return around.operation if around is not None and around.name == "linalg.generic" else None


def _offsets(op: ir.Operation) -> list[int] | None:
    """Where a tensor.extract_slice begins, None where that is open or it leaves out elements."""
    offsets, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("static_offsets", "static_strides")
    )
    kept = ir.RankedTensorType(op.results[0].type).rank
    is_plain = kept == len(offsets) and DYNAMIC not in offsets and set(strides) <= {1}
    return offsets if is_plain else None


def _reorders(node: Node) -> bool:
    """Returns whether a node only reads a tensor in another order of all dims but the last."""
    (*work, end) = [inner.operation for inner in node.op.regions[0].blocks[0]]
    if work or len(node.reads) != 1 or len(node.writes) != 1:
        return False
    read, write = node.reads[0].index, node.writes[0].index
    return (
        end.operands[0] == node.op.regions[0].blocks[0].arguments[0]
        and read[-1:] == write[-1:]
        and len(read) == len(write)
    )


def _is_cheap(node: Node) -> bool:
    """Returns whether an element is made by cheap operations from elements at plain places."""
    reads = (*node.reads, *node.writes)
    return (
        not node.collective
        and node.expensive is None
        and all(isinstance(each, int) or is_zero(each) for read in reads for each in read.index)
        and not operations_where(node.op, lambda inner: inner != node.op and len(inner.regions) > 0)
        and not operations_where(node.op, lambda inner: inner.name == "cf.assert")
    )


def _guard(extract: ir.Operation) -> ir.Operation | None:
    """Returns the scf.if that gives an element where there is one, and else what is there anyway.

    All that is made of the element can be made outside of it, if of 0 where there is none.
    """
    op = extract.parent
    if op is None or op.name != "scf.if" or len(op.operation.results) != 1:
        return None
    then, other = (
        [each.operation for each in region.blocks[0]] if len(region.blocks) else []
        for region in op.operation.regions
    )
    is_plain = isinstance(extract.results[0].type, ir.FloatType | ir.IntegerType)
    is_guard = len(then) == 2 and len(other) == 1 and is_plain
    return op.operation if is_guard and then[1].operands[0] == extract.results[0] else None


def _at(
    node: Node, guard: ir.Operation | None, tensor: ir.Value, *place: ir.Value
) -> tuple[ir.Value, list[ir.Operation]]:
    """Returns the element at a place of what a node makes, and the tensor.extracts it is made from.

    With a guard these are within such as it is.
    """
    result = ir.OpResult(tensor).result_number
    write = node.writes[result]
    indices = {
        loop: index for loop, index in zip(write.index, place, strict=True) if isinstance(loop, int)
    }
    block = node.op.regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = {}
    made: list[ir.Operation] = []
    for argument, read in zip(block.arguments, node.reads, strict=False):
        places = [_index(each, indices) for each in read.index]
        if guard is None:
            values[argument] = ir.Operation.create(
                _EXTRACT, results=[argument.type], operands=[read.value, *places]
            ).results[0]
            made.append(defining_operation(values[argument]))
        else:
            nothing = constant(argument.type, 0)
            values[argument] = element_or(guard.operands[0], read.value, places, nothing)
            made.append(
                defining_operation(values[argument]).regions[0].blocks[0].operations[0].operation
            )
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
    """Returns the access that a tensor.extract is where its indices are loops of the
    same extents.
    """
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
