"""A sum of products in one operation with what it begins with and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from ...dialects.mlir import ir
from ..fusion.access import (
    Access,
    Coordinate,
    expression,
    is_zero,
    loops_in,
    reassociation,
    zero,
)
from ..fusion.build import build
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    inputs_of,
    loop_count,
    make_generic,
    outs_of,
    reducing_loops,
)
from ..fusion.group import Group, single
from ..fusion.node import read_node
from ..fusion.normalize import is_normal
from ..fusion.sizes import Sizes
from ..fusion.spaces import unify
from ..fusion.validity import obstacle, too_large
from ..tensors import collapsed, dims_in_runs, expanded
from ..walking import operations_where

_COLLAPSE = "tensor.collapse_shape"
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def fuse_neighbours(op: ir.Operation, sizes: Sizes) -> ir.Operation:
    """Returns the operation that does what `op`, which sums, its start and its only reader do.

    The start repeats a smaller tensor; the reader works element by element, on the result or on
    its elements in fewer dims.
    """
    for number, read in enumerate(accesses_of(op)[: len(inputs_of(op))]):
        repeated = _repeated(read, loop_count(op))
        if repeated is None:
            continue
        source, maker = repeated
        is_factor = any(loops_in(each) & set(reducing_loops(op)) for each in read.index)
        if _is_copy(maker) or not is_factor:  # Tiles take factors as they lie in memory.
            _replace_read(op, number, source, maker)
    _drop_starts(op)
    reader = _reader(op.results[0])
    if reader is None:
        reader = _expanded_reader(op)
    if reader is not None:
        op = _fused(op, reader, sizes)
        _drop_starts(op)
    return op


def _repeated(read: Access, loops: int) -> tuple[Access, ir.Operation] | None:
    """Returns the element of the smaller tensor that a tensor repeats, through split dims, and the
    operation that makes the one of the other.
    """
    value = read.value
    index = [expression(each) for each in read.index]
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name == (
        "tensor.expand_shape"
    ):
        op = value.owner.operation
        shape = ir.RankedTensorType(op.results[0].type).shape
        if _DYNAMIC in shape:
            return None
        index = [
            reduce(
                lambda sum_, each: sum_ + each,
                [
                    index[dim] * prod(shape[inner] for inner in dims[place + 1 :])
                    for place, dim in enumerate(dims)
                ],
            )
            for dims in reassociation(op)
        ]
        value = op.operands[0]
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != GENERIC:
        return None
    maker = value.owner.operation
    if not _repeats(maker):
        return None
    given, made = accesses_of(maker)
    places = dict(zip(made.index, index, strict=True))
    found = ir.AffineMap.get(
        loops,
        0,
        [places[each] if isinstance(each, int) else each for each in given.index],
    )
    return Access(given.value, tuple(_plain(each) for each in found.results)), maker


def _repeats(op: ir.Operation) -> bool:
    """Returns whether an operation repeats what it makes of each element of a tensor of fewer
    dims, such as the same in a wider type.
    """
    if not is_normal(op) or reducing_loops(op) or len(op.operands) != 2 or len(op.results) != 1:
        return False
    given, made = accesses_of(op)
    if not isinstance(given.value.type, ir.RankedTensorType):
        return False
    inner = [each.operation for each in op.regions[0].blocks[0]]
    return (
        ir.RankedTensorType(given.value.type).rank < ir.RankedTensorType(made.value.type).rank
        and not any(each.name == "linalg.index" or len(each.regions) for each in inner)
        and all(isinstance(each, int) or is_zero(each) for each in made.index)
        and set(given.loops) <= set(made.loops)
        and len(given.loops) == len(given.index)
    )


def _is_copy(op: ir.Operation) -> bool:
    (end,) = (each.operation for each in list(op.regions[0].blocks[0])[-1:])
    return end.operands[0] == op.regions[0].blocks[0].arguments[0]


def _plain(each: ir.AffineExpr) -> Coordinate:
    return each.position if isinstance(each, ir.AffineDimExpr) else each


def _replace_read(op: ir.Operation, number: int, read: Access, maker: ir.Operation) -> None:
    """Lets `op` read an element and make of it what `maker` does."""
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    maps[number] = ir.AffineMapAttr.get(read.map(loop_count(op)))
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    op.operands[number] = read.value
    block, making = op.regions[0].blocks[0], maker.regions[0].blocks[0]
    argument = block.arguments[number]
    uses = [(use.owner, use.operand_number) for use in argument.uses]
    argument.set_type(ir.RankedTensorType(read.value.type).element_type)
    known: dict[ir.Value, ir.Value] = {making.arguments[0]: argument}
    *inner, end = [each.operation for each in making]
    with ir.InsertionPoint.at_block_begin(block):
        for each in inner:
            copy = each.clone()
            for place, operand in enumerate(each.operands):
                copy.operands[place] = known.get(operand, operand)
            known.update(zip(each.results, copy.results, strict=True))
    (value,) = end.operands
    for user, place in uses:
        user.operands[place] = known.get(value, value)


def _drop_starts(op: ir.Operation) -> None:
    """Lets outputs begin in memory that nothing was written to: their elements do not matter."""
    for number, value in enumerate(outs_of(op), len(inputs_of(op))):
        if isinstance(value.owner, ir.Block):
            continue
        maker, result = value.owner.operation, op.results[number - len(inputs_of(op))]
        if ir.RankedTensorType(value.type).has_static_shape:
            if maker.name != "tensor.empty" or _is_collapsed(result):
                with op.location, ir.InsertionPoint(op):
                    op.operands[number] = _empty(result)
        elif maker.name == GENERIC and len(maker.results) == 1:
            op.operands[number] = outs_of(maker)[0]


def _is_collapsed(result: ir.Value) -> bool:
    """Returns whether a result is read in fewer dims alone."""
    return [use.owner.operation.name for use in result.uses] == [_COLLAPSE]


def _empty(result: ir.Value) -> ir.Value:
    """Memory for a result: that of the shape in which it is read, if that is one."""
    kind = ir.RankedTensorType(result.type)
    if not _is_collapsed(result):
        return ir.Operation.create("tensor.empty", results=[kind]).results[0]
    (use,) = result.uses
    reader = use.owner.operation
    empty = ir.Operation.create("tensor.empty", results=[reader.results[0].type]).results[0]
    return expanded(empty, kind, reassociation(reader))


def _reader(value: ir.Value) -> ir.Operation | None:
    """Returns the one elementwise operation that reads a tensor."""
    readers = list(dict.fromkeys(use.owner.operation for use in value.uses))
    if len(readers) != 1 or isinstance(value.owner, ir.Block):
        return None
    (reader,) = readers
    if reader.name != GENERIC or reader.block != value.owner.operation.block:
        return None
    return reader if is_normal(reader) and not reducing_loops(reader) else None


def _expanded_reader(op: ir.Operation) -> ir.Operation | None:
    """Returns the reader of the result in fewer dims, made one of the result itself."""
    uses = list(dict.fromkeys(use.owner.operation for use in op.results[0].uses))
    if len(uses) != 1 or uses[0].name != _COLLAPSE:
        return None
    collapse = uses[0]
    reader = _reader(collapse.results[0])
    if reader is None or operations_where(reader, lambda inner: inner.name == "linalg.index"):
        return None
    shape = ir.RankedTensorType(op.results[0].type).shape
    reads = [each for each in accesses_of(reader) if each.value == collapse.results[0]]
    if _DYNAMIC in shape or len(reads) != 1:
        return None
    sizes = {
        loop: [shape[dim] for dim in dims]
        for loop, dims in zip(reads[0].index, reassociation(collapse), strict=True)
        if isinstance(loop, int)
    }
    if sorted(sizes) != list(range(loop_count(reader))):
        return None
    names: dict[int, list[int]] = {}
    for loop in range(loop_count(reader)):
        first = sum(map(len, names.values()))
        names[loop] = list(range(first, first + len(sizes[loop])))
    accesses = accesses_of(reader)
    coordinates = [each for read in accesses for each in read.index]
    if any(not isinstance(each, int) and not is_zero(each) for each in coordinates):
        return None
    with reader.location, ir.InsertionPoint(reader):
        made = [
            Access(op.results[0], _of_groups(each, names, reassociation(collapse)))
            if each.value == collapse.results[0]
            else _split(each, names, sizes)
            for each in accesses
        ]
        count = len(inputs_of(reader))
        block = reader.regions[0].blocks[0]
        loops = sum(map(len, names.values()))
        new = make_generic(made[:count], made[count:], loops, [], block, of=[reader])
        for old, result in zip(reader.results, new.results, strict=True):
            whole = _collapsed(result, old.type, accesses[count:], old, sizes)
            old.replace_all_uses_with(whole)
    reader.erase()
    collapse.erase()
    return new


def _of_groups(
    read: Access, names: dict[int, list[int]], groups: Sequence[Sequence[int]]
) -> tuple[Coordinate, ...]:
    """Returns the coordinates of what was collapsed by groups of dims."""
    return tuple(
        each
        for loop, dims in zip(read.index, groups, strict=True)
        for each in (names[loop] if isinstance(loop, int) else [zero()] * len(dims))
    )


def _split(read: Access, names: dict[int, list[int]], sizes: dict[int, list[int]]) -> Access:
    """Returns the same elements in the loops that others are split into."""
    index = tuple(
        each for loop in read.index for each in (names[loop] if isinstance(loop, int) else [loop])
    )
    kind = read.value.type
    is_whole = all(len(sizes[loop]) == 1 for loop in read.loops)
    if not isinstance(kind, ir.RankedTensorType) or is_whole:
        return Access(read.value, index)
    split = [sizes[loop] if isinstance(loop, int) else [1] for loop in read.index]
    shape = [size for each in split for size in each]
    result = ir.RankedTensorType.get(shape, kind.element_type)
    return Access(expanded(read.value, result, dims_in_runs(list(map(len, split)))), index)


def _collapsed(
    value: ir.Value,
    kind: ir.Type,
    outputs: Sequence[Access],
    old: ir.Value,
    sizes: dict[int, list[int]],
) -> ir.Value:
    """Returns a result of split dims in the shape that its readers know."""
    read = outputs[ir.OpResult(old).result_number]
    counts = [len(sizes[loop]) if isinstance(loop, int) else 1 for loop in read.index]
    return collapsed(value, kind, dims_in_runs(counts))


def _fused(op: ir.Operation, reader: ir.Operation, sizes: Sizes) -> ir.Operation:
    """Both as one operation in the reader's place; `op` where they cannot be one."""
    first, second = single(read_node(op, 0, sizes)), single(read_node(reader, 1, sizes))
    merged = too_large(first, second) or unify(first, second)
    if not isinstance(merged, Group) or obstacle(merged):
        return op
    if len(merged.extents) != loop_count(op):
        return op  # Sums would be computed again in more loops.
    with ir.InsertionPoint(reader):
        made = build(merged)
    reader.erase()
    op.erase()
    return made
