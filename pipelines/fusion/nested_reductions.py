"""Merges a reduction of a reduction of the same kind into one, over the loops of both.

  %r = linalg.generic ... ins(%x) { hir.reduce_loops maximumf over loop 1 }    // tensor<?xf32>
  %y = linalg.generic ... ins(%r) { hir.reduce_loops maximumf over loop 0 }    // tensor<f32>
becomes
  %y = linalg.generic ... ins(%x) { hir.reduce_loops maximumf over loops 0 and 1 }

torch-mlir writes extremes along several dims like that. Sums and products of floats stay apart: the
values between them may be rounded.
"""

from __future__ import annotations

from ...dialects.hir.loop_operation import kind_of, loops_of
from ...dialects.mlir import ir
from ..walking import is_used
from .access import Access, Coordinate
from .generic import (
    COLLECTIVE,
    accesses_of,
    has_tensors_only,
    inputs_of,
    loop_count,
    make_generic,
    reducing_loops,
)
from .region import Region

_ROUNDED = ("addf", "mulf")
_REDUCTION = "hir.reduce_loops"


def merge_nested(op: ir.Operation, normal: set[ir.Operation]) -> ir.Operation | None:
    """Returns the reduction that replaces `op` and the reduction that it reads; erases both.

    Returns None where `op` reads no such reduction, or something else reads it too. `normal` has
    the operations that may be merged; the new one is added to it.
    """
    outer = only_reduction(op)
    if outer is None or kind_of(outer) in _ROUNDED:
        return None
    argument = _before_cast(outer.operands[0], "arith.extf")
    for number, read in enumerate(accesses_of(op)[: len(inputs_of(op))]):
        owner = read.value.owner
        if isinstance(owner, ir.Block) or owner.operation not in normal:
            continue
        inner = owner.operation
        if op.regions[0].blocks[0].arguments[number] != argument or not _is_lone(inner, op, read):
            continue
        loops = _loops(inner, op, read)
        if loops is None or not _gives(inner, kind_of(outer)):
            continue
        if _has_extents(op, number, inner, loops):
            normal -= {op, inner}
            new = _merged(op, number, outer, inner, loops)
            normal.add(new)
            return new
    return None


def only_reduction(op: ir.Operation) -> ir.Operation | None:
    """Returns the only collective operation of a region if it reduces over all its loops."""
    if not has_tensors_only(op):
        return None
    found = [
        each.operation for each in op.regions[0].blocks[0] if each.operation.name in COLLECTIVE
    ]
    if len(found) != 1 or found[0].name != _REDUCTION:
        return None
    return found[0] if sorted(loops_of(found[0])) == list(reducing_loops(op)) else None


def _before_cast(value: ir.Value, name: str) -> ir.Value:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != name:
        return value
    return value.owner.operation.operands[0]


def _gives(op: ir.Operation, kind: str) -> bool:
    """Returns whether an operation's only result is a plain reduction of this kind."""
    found = only_reduction(op)
    if found is None or len(op.results) != 1 or kind_of(found) != kind:
        return False
    (given,) = list(op.regions[0].blocks[0])[-1].operation.operands
    if given == found.results[0]:
        return True
    # What is read has the type that is rounded to: nothing is.
    read = _before_cast(found.operands[0], "arith.extf")
    return _before_cast(given, "arith.truncf") == found.results[0] and read.type == given.type


def _is_lone(inner: ir.Operation, op: ir.Operation, read: Access) -> bool:
    """Returns whether only `op` reads a result, once."""
    users = [use.owner.operation for use in read.value.uses]
    return [each for each in users if not _is_idle(each)] == [op] and inner.block == op.block


def _is_idle(op: ir.Operation) -> bool:
    """Returns whether an operation is an unused view."""
    return op.name.startswith("tensor.") and not any(map(is_used, op.results))


def _loops(inner: ir.Operation, op: ir.Operation, read: Access) -> list[int] | None:
    """Returns the merged operation's loop for each loop of the inner one; None if none fits."""
    written = accesses_of(inner)[len(inputs_of(inner))]
    found: dict[int, Coordinate] = {
        loop: at
        for loop, at in zip(written.index, read.index, strict=True)
        if isinstance(loop, int)
    }
    first = loop_count(op)
    found |= {loop: first + at for at, loop in enumerate(reducing_loops(inner))}
    loops = [found.get(loop) for loop in range(loop_count(inner))]
    kept = [loop for loop in loops if isinstance(loop, int)]
    return kept if len(set(kept)) == len(loops) else None


def _has_extents(op: ir.Operation, number: int, inner: ir.Operation, loops: list[int]) -> bool:
    """Returns whether each loop goes through a dim of what is left.

    The places of windows are sums of loops where the inner operation reads, and lie in the result
    alone that is there no more.
    """
    left = [each for at, each in enumerate(accesses_of(op)) if at != number]
    inside = [_renamed(each, loops) for each in accesses_of(inner)[: len(inputs_of(inner))]]
    count = loop_count(op) + len(reducing_loops(inner))
    return {loop for each in (*left, *inside) for loop in each.loops} == set(range(count))


def _merged(
    op: ir.Operation, number: int, outer: ir.Operation, inner: ir.Operation, loops: list[int]
) -> ir.Operation:
    first, count = len(inputs_of(op)), loop_count(op) + len(reducing_loops(inner))
    accesses, inside = accesses_of(op), accesses_of(inner)[: len(inputs_of(inner))]
    along = [*reducing_loops(op), *range(loop_count(op), count)]
    with op.location, ir.InsertionPoint(op):
        region = Region()
        arguments: list[ir.Value | None] = [
            region.input(_renamed(each, loops), count) for each in inside
        ]
        (value,) = region.absorb(inner, [*arguments, None], loops)
        given = [
            value if place == number else region.input(each, count)
            for place, each in enumerate(accesses[:first])
        ]
        reduced = _before_cast(value, "arith.truncf").owner
        assert not isinstance(reduced, ir.Block)
        outer.operands[0] = reduced.operation.operands[0]
        outputs = accesses[first:]
        yielded = region.absorb(op, [*given, *[None] * len(outputs)], range(loop_count(op)))
        outer.attributes["loops"] = ir.DenseI64ArrayAttr.get(along)
        region.finish(outputs, yielded)
        new = make_generic(region.inputs, outputs, count, along, region.block, of=[inner, op])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    for use in list(inner.results[0].uses):
        use.owner.operation.erase()
    inner.erase()
    return new


def _renamed(read: Access, loops: list[int]) -> Access:
    if not isinstance(read.value.type, ir.RankedTensorType):
        return read
    return read.renamed(loops)
