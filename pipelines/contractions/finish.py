"""A sum of products in one operation with what it begins with and what is made of it."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..fusion.build import build
from ..fusion.generic import GENERIC, inputs_of, loop_count, outs_of, reducing_loops
from ..fusion.group import Group, single
from ..fusion.node import read_node
from ..fusion.normalize import is_normal
from ..fusion.sizes import Sizes
from ..fusion.spaces import unify
from ..fusion.validity import obstacle, too_large
from ..walking import is_used


def fuse_neighbours(op: ir.Operation, sizes: Sizes) -> ir.Operation:
    """The operation that does what `op`, which sums, its start and its only reader do.

    The start is made element by element of less than it has; the reader works so on the result.
    """
    makers = [value.owner.operation for value in inputs_of(op) if _is_start(value, op)]
    makers = list(dict.fromkeys(makers))
    for number, value in enumerate(outs_of(op), len(inputs_of(op))):
        for maker in makers:
            # Elements of an output do not matter before they are written.
            if maker.results[0] == value:
                op.operands[number] = outs_of(maker)[0]
    for maker in makers:
        op = _fused(maker, op, op, sizes) or op
    reader = _reader(op)
    if reader is not None:
        op = _fused(op, reader, reader, sizes) or op
    for maker in makers:
        if not any(map(is_used, maker.results)):
            maker.erase()
    return op


def _fused(
    one: ir.Operation, other: ir.Operation, place: ir.Operation, sizes: Sizes
) -> ir.Operation | None:
    """Both as one operation at the place of the later, or None where they cannot be one."""
    clone = one if reducing_loops(one) else None
    with ir.InsertionPoint(place):
        # What others read too is computed again.
        maker = one if clone is not None else one.clone()
        for old, new in zip(one.results, maker.results, strict=True):
            for number, operand in enumerate(other.operands):
                if operand == old:
                    other.operands[number] = new
        first = single(read_node(maker, 0, sizes))
        second = single(read_node(other, 1, sizes))
        merged = too_large(first, second) or unify(first, second)
        is_one = isinstance(merged, Group) and not obstacle(merged)
        if not isinstance(merged, Group) or not is_one or not _keeps_loops(merged, maker, other):
            if maker != one:
                for old, new in zip(one.results, maker.results, strict=True):
                    new.replace_all_uses_with(old)
                maker.erase()
            return None
        made = build(merged)
    other.erase()
    maker.erase()
    return made


def _keeps_loops(merged: Group, one: ir.Operation, other: ir.Operation) -> bool:
    """Whether the sums are not computed again in more loops."""
    sums = one if reducing_loops(one) else other
    return len(merged.extents) == loop_count(sums)


def _is_start(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a tensor is made element by element, of less than it has itself."""
    if isinstance(value.owner, ir.Block) or not isinstance(value.type, ir.RankedTensorType):
        return False
    maker = value.owner.operation
    if maker.name != GENERIC or maker.block != op.block or not is_normal(maker):
        return False
    if reducing_loops(maker) or len(maker.results) != 1:
        return False
    inner = [each.operation.name for each in maker.regions[0].blocks[0]]
    reads = [each.type for each in inputs_of(maker)]
    is_small = all(
        ir.RankedTensorType(each).rank < value.type.rank
        for each in reads
        if isinstance(each, ir.RankedTensorType)
    )
    return is_small and inner == ["linalg.yield"]


def _reader(op: ir.Operation) -> ir.Operation | None:
    """The one elementwise operation that reads what is summed."""
    uses = [use.owner.operation for result in op.results for use in result.uses]
    readers = list(dict.fromkeys(uses))
    if len(readers) != 1:
        return None
    (reader,) = readers
    if reader.name != GENERIC or reader.block != op.block or reducing_loops(reader):
        return None
    return reader if is_normal(reader) else None
