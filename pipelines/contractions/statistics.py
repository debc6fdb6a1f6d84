"""Reductions of a sum of products in one operation with it: the kernel has what they reduce.

  %y = linalg.generic ins(%x, %w) { mulf, hir.reduce_loops addf over k, addf }
  %s = linalg.generic ins(%y) { mulf, hir.reduce_loops addf over j, divf }
becomes
  %y, %s = linalg.generic ins(%x, %w) {
    mulf, hir.reduce_loops addf over k, addf, mulf, hir.reduce_loops addf over j, divf
  }

where %y is a result only if something else reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.loop_operation import loops_of
from ...dialects.mlir import ir
from ..fusion.access import Access, is_zero, loops_in, reassociation
from ..fusion.build import build
from ..fusion.generic import (
    COLLECTIVE,
    accesses_of,
    inputs_of,
    loop_count,
    loop_extents,
    make_generic,
    reducing_loops,
)
from ..fusion.group import Group, single
from ..fusion.node import read_node
from ..fusion.region import Region
from ..fusion.sizes import Sizes
from ..fusion.spaces import unify
from ..fusion.statistics import computes_of_results, readers_of, reduces_results
from ..fusion.validity import MAX_OPERANDS, too_large
from ..tensors import dim_of
from ..walking import is_used
from .split_loops import split_loops

_EXPAND, _COLLAPSE = "tensor.expand_shape", "tensor.collapse_shape"
# What a reader may take along.
_MOVED = ("tensor.empty", "arith.constant")
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def fuse_statistics(op: ir.Operation, sizes: Sizes) -> tuple[ir.Operation, bool]:
    """Returns the operation that also reduces the results of `op`, which sums, as others do; and
    whether there are any.
    """
    if any(reduces_results(op, reader) for reader in readers_of(op)):
        op = _without_single_loops(op)
    found, is_any = op, False
    if not any(_is_reduced_in_tiles(op, reader) for reader in readers_of(op)):
        return op, False
    made: ir.Operation | None = op
    while made is not None:
        found, made = made, None
        for reader in readers_of(found):
            is_reduced = _is_reduced_in_tiles(found, reader)
            if is_reduced or computes_of_results(found, reader):
                made = _joined(found, reader, sizes)
            if made is not None:
                is_any = is_any or is_reduced
                break
    return found, is_any


def _without_single_loops(op: ir.Operation) -> ir.Operation:
    """Returns an operation without loops of one iteration along its results."""
    extents, reduced = loop_extents(op), reducing_loops(op)
    names: list[int | None] = []
    for loop in range(loop_count(op)):
        is_single = loop not in reduced and extents.get(loop) == 1
        names.append(None if is_single else sum(each is not None for each in names))
    count = sum(each is not None for each in names)
    if count == len(names):
        return op
    inputs = len(inputs_of(op))
    accesses = [
        each.renamed(names) if isinstance(each.value.type, ir.RankedTensorType) else each
        for each in accesses_of(op)
    ]
    with op.location, ir.InsertionPoint(op):
        region = Region()
        given = [region.input(each, count) for each in accesses[:inputs]]
        outputs = accesses[inputs:]
        yielded = region.absorb(op, [*given, *[None] * len(outputs)], names)
        region.finish(outputs, yielded)
        along = [name for loop in reduced if (name := names[loop]) is not None]
        new = make_generic(region.inputs, outputs, count, along, region.block, of=[op])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def in_loops_of_statistics(op: ir.Operation) -> ir.Operation:
    """Returns the operation, which sums, in the loops in which others reduce its result.

    These read it through a reshape, which they or it are made without.
    """
    if len(op.results) != 1:
        return op
    for view in readers_of(op):
        if view.name == _EXPAND and _is_reduced(view):
            return _expanded(op, view)
        if view.name == _COLLAPSE:
            for reader in readers_of(view):
                _divide(reader, view)
            if not is_used(view.results[0]):
                view.erase()
    return op


def _is_reduced(view: ir.Operation) -> bool:
    """Returns whether a sum in more dims is reduced."""
    return any(reduces_results(view, reader) for reader in readers_of(view))


def _expanded(op: ir.Operation, view: ir.Operation) -> ir.Operation:
    """Returns a sum in the loops of a view with more dims; those of one element are left out.

    What reduces the view reads the sum itself.
    """
    shape = ir.RankedTensorType(view.results[0].type).shape
    if _DYNAMIC in shape:
        return op
    groups = reassociation(view)
    kept = [[dim for dim in dims if shape[dim] != 1] or dims[:1] for dims in groups]
    sizes = {
        loop: [shape[dim] for dim in dims]
        for loop, dims in zip(accesses_of(op)[-1].index, kept, strict=True)
        if isinstance(loop, int)
    }
    if any(len(dims) > 1 for dims in kept):
        made = split_loops(op, sizes, {})
        if made is None:
            return op
        op = made
        if kept == groups:
            return op
    readers = [each for each in readers_of(view) if reduces_results(view, each)]
    for reader in readers:
        _read_instead(
            reader, view.results[0], op.results[0], [dim for each in kept for dim in each]
        )
    if not is_used(view.results[0]):
        view.erase()
    return op


def _read_instead(reader: ir.Operation, old: ir.Value, new: ir.Value, kept: Sequence[int]) -> None:
    """Lets an operation read another tensor, which has the dims of one that are `kept` alone."""
    maps = list(ir.ArrayAttr(reader.attributes["indexing_maps"]))
    for number, read in enumerate(accesses_of(reader)):
        dropped = [at for dim, at in enumerate(read.index) if dim not in kept]
        if read.value != old or not all(map(is_zero, dropped)):
            continue
        found = Access(new, tuple(read.index[dim] for dim in kept))
        maps[number] = ir.AffineMapAttr.get(found.map(loop_count(reader)))
        reader.operands[number] = new
    reader.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)


def _divide(reader: ir.Operation, view: ir.Operation) -> None:
    """Makes what reduces a sum in fewer dims reduce the sum itself."""
    shape = ir.RankedTensorType(view.operands[0].type).shape
    if _DYNAMIC in shape or not reduces_results(view, reader):
        return
    (read, *_) = (each for each in accesses_of(reader) if each.value == view.results[0])
    sizes = {
        loop: [shape[dim] for dim in dims]
        for loop, dims in zip(read.index, reassociation(view), strict=True)
        if isinstance(loop, int)
    }
    split_loops(reader, sizes, {view.results[0]: view.operands[0]})


def _is_reduced_in_tiles(op: ir.Operation, reader: ir.Operation) -> bool:
    """Returns whether a reader reduces results of which tiles have several.

    That is where it reduces the innermost loops of one factor alone, if any of these.
    """
    if not reduces_results(op, reader):
        return False
    (read, *_) = reads = [each for each in accesses_of(reader) if each.value in set(op.results)]
    if any(_is_of_statistics(op, each.value) for each in reads):
        return False
    loops = _result_loops(op, read.value)
    if len(loops) != len(read.loops):
        return False
    names = dict(zip(read.loops, loops, strict=True))
    reduced = {names[loop] for loop in reducing_loops(reader)}
    found = False
    for side in _sides(op):
        pattern = [loop in reduced for loop in loops if loop in side]
        if pattern != sorted(pattern):
            return False
        found = found or any(pattern)
    return found


def _is_of_statistics(op: ir.Operation, result: ir.Value) -> bool:
    """Returns whether a result is made of what an operation reduces of its sum."""
    _, *reductions = (each for each in _operations_in(op) if each.name in COLLECTIVE)
    found = {each for reduction in reductions for each in reduction.results}
    for each in _operations_in(op):
        if any(operand in found for operand in each.operands):
            found |= set(each.results)
    ends = _operations_in(op)[-1].operands
    return ends[ir.OpResult(result).result_number] in found


def _operations_in(op: ir.Operation) -> list[ir.Operation]:
    return [each.operation for each in op.regions[0].blocks[0]]


def _result_loops(op: ir.Operation, result: ir.Value) -> tuple[int, ...]:
    """Returns the loops of a result's dims, outermost first."""
    return accesses_of(op)[len(inputs_of(op)) + ir.OpResult(result).result_number].loops


def _sides(op: ir.Operation) -> list[set[int]]:
    """Returns the loops of results that one factor has alone, of each.

    Of a factor that is read at computed places, these are those that the other lacks.
    """
    total = next(each for each in _operations_in(op) if each.name in COLLECTIVE)
    summed = set(loops_of(total))
    reads = [
        {loop for at in each.index for loop in loops_in(at)}
        for each in accesses_of(op)[: len(inputs_of(op))]
    ]
    factors = [loops - summed for loops in reads if loops & summed]
    if len(factors) == 2:
        return [factors[0] - factors[1], factors[1] - factors[0]]
    others = set(range(loop_count(op))) - summed
    return [factors[0], others - factors[0]] if factors else [others]


def _joined(op: ir.Operation, reader: ir.Operation, sizes: Sizes) -> ir.Operation | None:
    merged = _merged(op, reader, sizes)
    if merged is None or not _moves_up(op, reader, sizes):
        return None
    missing = _missing(merged)
    if missing:
        # As where an image is read at computed places, and no result is left.
        op = _with_extents(op, missing)
        merged = _merged(op, reader, sizes)
        assert merged is not None
    with ir.InsertionPoint(reader):
        made = build(merged)
    reader.erase()
    op.erase()
    return made


def _moves_up(op: ir.Operation, reader: ir.Operation, sizes: Sizes) -> bool:
    """Moves a reader to just after what it reads, before all others that do; returns whether it
    can be there.
    """
    places = {each.operation: place for place, each in enumerate(op.block)}
    between: list[ir.Operation] = []
    captured = read_node(reader, 0, sizes).captured
    for operand in [*reader.operands, *captured]:
        if isinstance(operand.owner, ir.Block) or operand.owner.operation == op:
            continue
        maker = operand.owner.operation
        if places.get(maker, -1) < places[op]:
            continue
        if maker.name not in _MOVED or len(maker.operands):
            return readers_of(op)[0] == reader
        between.append(maker)
    for maker in dict.fromkeys(between):
        maker.move_before(op)
    reader.move_after(op)
    return True


def _merged(op: ir.Operation, reader: ir.Operation, sizes: Sizes) -> Group | None:
    """Returns a sum and what reduces it as one, in the loops of the sum; None where it cannot be.

    Some operand is to have the extent of each loop.
    """
    first, second = single(read_node(op, 0, sizes)), single(read_node(reader, 1, sizes))
    merged = too_large(first, second) or unify(first, second)
    if not isinstance(merged, Group) or len(merged.extents) != loop_count(op):
        return None
    captured = {value for node in merged.nodes for value in node.captured}
    count = len(merged.inputs) + len(merged.outputs) + bool(_missing(merged))
    is_too_large = count > MAX_OPERANDS
    return None if is_too_large or captured & set(merged.writes) else merged


def _missing(group: Group) -> list[int]:
    """Returns the loops whose extents no operand has that is left."""
    given = {loop for each in (*group.inputs, *group.outputs) for loop in each.loops}
    return sorted(set(range(len(group.extents))) - given)


def _with_extents(op: ir.Operation, loops: Sequence[int]) -> ir.Operation:
    """Returns an operation that also has an empty tensor of such extents, and does not read it."""
    accesses, inputs, count = accesses_of(op), len(inputs_of(op)), loop_count(op)
    with op.location, ir.InsertionPoint(op):
        shape, open_ = list[int](), list[ir.Value]()
        for loop in loops:
            written = next(each for each in accesses[inputs:] if loop in each.index)
            axis = written.index.index(loop)
            shape.append(ir.RankedTensorType(written.value.type).shape[axis])
            if shape[-1] == _DYNAMIC:
                open_.append(dim_of(written.value, axis))
        kind = ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(8))
        empty = ir.Operation.create("tensor.empty", results=[kind], operands=open_).results[0]
        region = Region()
        given = [region.input(each, count) for each in accesses[:inputs]]
        region.input(Access(empty, tuple(loops)), count)
        outputs = accesses[inputs:]
        yielded = region.absorb(op, [*given, *[None] * len(outputs)], range(count))
        region.finish(outputs, yielded)
        new = make_generic(region.inputs, outputs, count, reducing_loops(op), region.block, of=[op])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new
