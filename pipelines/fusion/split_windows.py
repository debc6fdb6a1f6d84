"""Reduces large windows that overlap along one dim after the other.

  %y = linalg.generic ... ins(%x) { hir.reduce_loops maximumf of x[h + i, w + j] over i and j }
becomes
  %r = linalg.generic ... ins(%x) { hir.reduce_loops maximumf of x[h, w + j] over j }
  %y = linalg.generic ... ins(%r) { hir.reduce_loops maximumf of r[h + i, w] over i }

so that of 13 by 13 elements 26 are read for each result. What f16 and bf16 are summed in is kept
between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ...dialects.hir.loop_operation import kind_of, loops_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..generics import bare_generic, reduce_over
from ..tensors import dim_of, empty
from ..walking import defining_operation, is_used
from .access import Access, expression, is_zero, linear_terms
from .accumulators import MARK
from .generic import (
    COLLECTIVE_MARK,
    CONFIGURATION,
    accesses_of,
    inputs_of,
    loop_count,
    loop_extents,
    reducing_loops,
)

# Windows of so many elements, of which so many have each element, take less time along one dim
# after the other: of fewer a thread keeps what its results have in common (schedules/windows).
_LEAST_ELEMENTS, _LEAST_SHARED = 100, 16
_CASTS = ("arith.extf", "arith.truncf")


@dataclass(frozen=True)
class _Dim:
    """A dim of what is read, through which a window goes: by `step` from result to result."""

    axis: int
    result: int
    loop: int
    step: int


def split_windows(op: ir.Operation) -> None:
    """Puts several reductions in the place of one over large windows, in normal form."""
    reduction, read = _reduction(op), _read(op)
    if reduction is None or read is None or CONFIGURATION in op.attributes:
        return
    dims, sizes = _dims(op, read), loop_extents(op)
    if dims is None or not all(dim.loop in sizes for dim in dims):
        return
    elements = prod(sizes[dim.loop] for dim in dims)
    if elements < _LEAST_ELEMENTS or elements < _LEAST_SHARED * prod(dim.step for dim in dims):
        return
    # The dim that leaves fewest elements; of several the one whose neighbours lie together.
    first = max(dims, key=lambda dim: (dim.step, dim.axis))
    with op.location, ir.InsertionPoint(op):
        part = _along_one(op, reduction, read, first, dims, sizes[first.loop])
        rest = _along_others(op, reduction, part, first, sizes)
    op.results[0].replace_all_uses_with(rest.results[0])
    op.erase()
    split_windows(rest)


def _reduction(op: ir.Operation) -> ir.Operation | None:
    """Returns the only operation of a region, but for casts to it and from it."""
    ops = [each.operation for each in op.regions[0].blocks[0]][:-1]
    found = [each for each in ops if each.name == "hir.reduce_loops"]
    if len(found) != 1 or len(op.results) != 1 or len(reducing_loops(op)) < 2:
        return None
    if any(each.name not in _CASTS for each in ops if each != found[0]):
        return None
    return found[0] if sorted(loops_of(found[0])) == list(reducing_loops(op)) else None


def _read(op: ir.Operation) -> Access | None:
    """Returns what a region reads, if that is one tensor, and the result one without gaps."""
    arguments = list(op.regions[0].blocks[0].arguments)
    used = [number for number, each in enumerate(arguments) if is_used(each)]
    accesses = accesses_of(op)
    if len(used) != 1 or used[0] >= len(inputs_of(op)) or not accesses[-1].is_whole:
        return None
    read = accesses[used[0]]
    return read if isinstance(read.value.type, ir.RankedTensorType) else None


def _dims(op: ir.Operation, read: Access) -> list[_Dim] | None:
    """Returns the dims through which windows go; None where these go otherwise through any."""
    reducing, found = {*reducing_loops(op)}, list[_Dim]()
    for axis, each in enumerate(read.index):
        linear = linear_terms(expression(each))
        if linear is None:
            return None
        _, factors = linear
        inner, outer = factors.keys() & reducing, factors.keys() - reducing
        if not inner:
            continue
        if len(inner) != 1 or len(outer) != 1:
            return None
        (loop,), (result,) = inner, outer
        found.append(_Dim(axis, result, loop, factors[result]))
    whole = len(found) == len(reducing) and {dim.loop for dim in found} == reducing
    axes = {dim.axis for dim in found}
    others = [each for axis, each in enumerate(read.index) if axis not in axes]
    plain = [each for each in others if isinstance(each, int)]
    loops = [*plain, *(dim.result for dim in found)]
    is_once = len(set(loops)) == len(loops) and len(plain) == sum(not is_zero(e) for e in others)
    return found if whole and is_once else None


def _along_one(
    op: ir.Operation,
    reduction: ir.Operation,
    read: Access,
    first: _Dim,
    dims: Sequence[_Dim],
    size: int,
) -> Access:
    """Emits the reduction along one dim; returns what the other one reads of its result."""
    others = {dim.axis: dim.result for dim in dims if dim != first}
    places = [others.get(axis, each) for axis, each in enumerate(read.index)]
    written = [first.result if axis == first.axis else each for axis, each in enumerate(places)]
    loops = [each for each in written if isinstance(each, int)]
    names = _numbers(op, [*loops, first.loop])
    source = ir.RankedTensorType(read.value.type)
    narrow, wide = source.element_type, reduction.operands[0].type
    # What is greatest or least is an element.
    between = wide if kind_of(reduction) in ("addf", "mulf") else narrow
    result = accesses_of(op)[-1]
    # As the result has them where it does: what is read may become part of the operation.
    sizes = [
        _size(read.value, axis)
        if axis in others or each not in result.index
        else _size(result.value, result.index.index(each))
        for axis, each in enumerate(written)
    ]
    room = empty(sizes, between)
    made = _reduce(
        reduction,
        Access(read.value, tuple(places)).renamed(names),
        {len(loops): size},
        Access(room, tuple(written)).renamed(names),
        len(loops) + 1,
    )
    index = [first.result if axis == first.axis else each for axis, each in enumerate(read.index)]
    return Access(made.results[0], tuple(index))


def _along_others(
    op: ir.Operation, reduction: ir.Operation, read: Access, first: _Dim, sizes: Mapping[int, int]
) -> ir.Operation:
    """Emits the reduction along the other dims."""
    loops = [loop for loop in range(loop_count(op)) if loop != first.loop]
    names = _numbers(op, loops)
    left = {loops.index(loop): sizes[loop] for loop in reducing_loops(op) if loop in loops}
    result = accesses_of(op)[-1].renamed(names)
    return _reduce(reduction, read.renamed(names), left, result, len(loops))


def _numbers(op: ir.Operation, loops: Sequence[int]) -> list[int | None]:
    """Returns the new number of each of an operation's loops, of which there are these."""
    return [loops.index(loop) if loop in loops else None for loop in range(loop_count(op))]


def _reduce(
    reduction: ir.Operation, read: Access, sizes: Mapping[int, int], result: Access, loops: int
) -> ir.Operation:
    """Emits a reduction of the same kind over loops of these sizes, which a tensor says."""
    kind, wide = kind_of(reduction), reduction.operands[0].type
    window = Access(empty(list(sizes.values()), wide), tuple(sizes))
    made = bare_generic(
        loops,
        sizes,
        [(each.value, each.map(loops)) for each in (read, window)],
        [(result.value, result.map(loops))],
    )
    made.attributes[COLLECTIVE_MARK] = ir.UnitAttr.get()
    elements = [ir.RankedTensorType(each.type).element_type for each in made.operands]
    block = made.regions[0].blocks.append(*elements)
    with ir.InsertionPoint(block):
        value = reduce_over(list(sizes), kind, _cast(block.arguments[0], wide))
        narrow = _cast(value, elements[-1])
        if narrow != value:
            # Another operation takes what it was rounded from.
            defining_operation(narrow).attributes[MARK] = ir.UnitAttr.get()
        ir.Operation.create("linalg.yield", operands=[narrow])
    return made


def _size(value: ir.Value, axis: int) -> int | ir.Value:
    kind = ir.RankedTensorType(value.type)
    return dim_of(value, axis) if kind.is_dynamic_dim(axis) else kind.shape[axis]


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    """Returns a float as one of another type, wider or narrower."""
    if value.type == kind:
        return value
    is_wider = ir.FloatType(kind).width > ir.FloatType(value.type).width
    name = "arith.extf" if is_wider else "arith.truncf"
    return ir.Operation.create(name, results=[kind], operands=[value]).results[0]
