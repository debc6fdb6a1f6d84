"""Reductions of what an operation gives, that it may compute with it."""

from __future__ import annotations

from ...dialects.hir.loop_operation import kind_of, loops_of
from ...dialects.mlir import ir
from .access import Access, is_zero
from .generic import (
    COLLECTIVE,
    GENERIC,
    accesses_of,
    inputs_of,
    loop_count,
    loop_extents,
    reducing_loops,
)
from .normalize import is_normal

_KINDS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
# Fewer results are no less to write than what is made of them.
_LEAST_REDUCED = 32
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def readers_of(op: ir.Operation) -> list[ir.Operation]:
    """Returns what reads results in the same block, in its order."""
    users = {use.owner.operation for result in op.results for use in result.uses}
    return [each.operation for each in op.block if each.operation in users]


def reduces_results(op: ir.Operation, reader: ir.Operation) -> bool:
    """Returns whether a reader reduces what it makes of results, or of a view of them, alone."""
    if not _is_plain_reader(reader) or not reducing_loops(reader):
        return False
    reduced = set(reducing_loops(reader))
    inner = [each.operation for each in reader.regions[0].blocks[0]]
    collectives = [each for each in inner if each.name in COLLECTIVE]
    if not collectives or not all(_reduces(each, reduced) for each in collectives):
        return False
    return (
        _are_independent(reader, collectives)
        and _reads_whole(op, reader)
        and _is_worth(reader, reduced)
    )


def computes_of_results(op: ir.Operation, reader: ir.Operation) -> bool:
    """Returns whether a reader makes something of each result of an operation, and no more."""
    return (
        _is_plain_reader(reader)
        and not reducing_loops(reader)
        and _reads_whole(op, reader)
        and all(set(each.loops) == set(range(loop_count(reader))) for each in _written(reader))
    )


def _is_plain_reader(op: ir.Operation) -> bool:
    if op.name != GENERIC or not is_normal(op):
        return False
    inner = [each.operation for each in op.regions[0].blocks[0]]
    return not any(
        len(each.regions) or each.name in ("linalg.index", "tensor.extract") for each in inner
    )


def _written(op: ir.Operation) -> list[Access]:
    return accesses_of(op)[len(inputs_of(op)) :]


def _reduces(op: ir.Operation, loops: set[int]) -> bool:
    return (
        op.name == "hir.reduce_loops"
        and kind_of(op) in _KINDS
        and isinstance(op.operands[0].type, ir.FloatType)
        and set(loops_of(op)) == loops
    )


def _are_independent(reader: ir.Operation, collectives: list[ir.Operation]) -> bool:
    """Returns whether no reduction needs another's result, and nothing along its loops does."""
    block = reader.regions[0].blocks[0]
    ended: set[ir.Value] = set()
    for each in block:
        inner = each.operation
        needs = any(operand in ended for operand in inner.operands)
        if inner in collectives:
            if needs:
                return False
            ended |= set(inner.results)
        elif needs and inner.name != "linalg.yield":
            ended |= set(inner.results)
    reduced = set(reducing_loops(reader))
    written = _written(reader)
    end = list(block)[-1].operation.operands
    return all(
        not (value in ended and reduced & set(each.loops))
        for value, each in zip(end, written, strict=True)
    )


def _reads_whole(op: ir.Operation, reader: ir.Operation) -> bool:
    """Returns whether each iteration of a reader is of one result of a sum, its own.

    What else it reads has one loop a dim.
    """
    loops = set(range(loop_count(reader)))
    own = set(op.results)
    accesses = accesses_of(reader)
    if not all(isinstance(at, int) or is_zero(at) for each in accesses for at in each.index):
        return False
    read = [each for each in accesses[: len(inputs_of(reader))] if each.value in own]
    return all(set(each.loops) == loops and len(each.loops) == len(loops) for each in read)


def _is_worth(reader: ir.Operation, reduced: set[int]) -> bool:
    extents = loop_extents(reader)
    count = 1
    for loop in reduced:
        size = extents.get(loop, _DYNAMIC)
        if size == _DYNAMIC:
            return True
        count *= size
    return count >= _LEAST_REDUCED
