"""Reduces large windows that overlap along one dim after the other.

  %y = linalg.generic ... ins(%x) { hir.reduce_loops maximumf of x[h + i, w + j] over i and j }
becomes
  %r = linalg.generic ... ins(%x) { hir.reduce_loops maximumf of x[h, w + j] over j }
  %y = linalg.generic ... ins(%r) { hir.reduce_loops maximumf of r[h + i, w] over i }

so that of 13 by 13 elements 26 are read for each result. What f16 and bf16 are summed in is kept
between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from ...dialects.hir.loop_operation import kind_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..generics import emit_generic, reduce_over
from ..tensors import dim_of, empty
from ..walking import defining_op, is_used
from .access import Access, expression, is_zero, linear_terms
from .accumulators import truncated
from .generic import (
    COLLECTIVE_MARK,
    CONFIGURATION,
    accesses_of,
    inputs_of,
    loop_count,
    loop_extents,
    reducing_loops,
)
from .nested_reductions import only_reduction

# Windows of so many elements, of which so many have each element, take less time along one dim
# after the other: of fewer a thread keeps what its results have in common (schedules/windows).
_LEAST_ELEMENTS, _LEAST_SHARED = 100, 16
_CASTS = ("arith.extf", "arith.truncf")
_Cast = Callable[[ir.Value], ir.Value]


@dataclass(frozen=True)
class _Dim:
    """A dim of what is read, through which a window goes: by `step` from result to result."""

    axis: int
    result: int
    loop: int
    step: int


@dataclass(frozen=True)
class _Reduction:
    """What a region reduces: its operation, the casts before it, and those after it."""

    op: ir.Operation
    before: list[ir.Operation]
    after: list[ir.Operation]

    @property
    def is_exact(self) -> bool:
        """Whether what it gives is one of the elements."""
        return kind_of(self.op) not in ("addf", "mulf")


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


def _reduction(op: ir.Operation) -> _Reduction | None:
    """Returns the reduction of a region that has no other operations than it and casts."""
    found = only_reduction(op)
    if found is None or len(op.results) != 1 or len(reducing_loops(op)) < 2:
        return None
    (given,) = list(op.regions[0].blocks[0])[-1].operation.operands
    before, after = _casts(found.operands[0], None), _casts(given, found.results[0])
    return None if before is None or after is None else _Reduction(found, before, after)


def _casts(value: ir.Value, source: ir.Value | None) -> list[ir.Operation] | None:
    """Returns the casts that make a value of another one, or of a region's argument, in order."""
    found: list[ir.Operation] = []
    while source is None or value != source:
        op = defining_op(value)
        if op is None:
            return found if source is None else None
        if op.name not in _CASTS:
            return None
        found.insert(0, op)
        value = op.operands[0]
    return found


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
    reduction: _Reduction,
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
    between = source.element_type if reduction.is_exact else reduction.op.operands[0].type
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
        reduction.op,
        lambda value: _cloned(reduction.before, value),
        lambda value: truncated(value, between),
        Access(read.value, tuple(places)).renamed(names),
        {len(loops): size},
        Access(room, tuple(written)).renamed(names),
        len(loops) + 1,
    )
    index = [first.result if axis == first.axis else each for axis, each in enumerate(read.index)]
    return Access(made.results[0], tuple(index))


def _along_others(
    op: ir.Operation, reduction: _Reduction, read: Access, first: _Dim, sizes: Mapping[int, int]
) -> ir.Operation:
    """Emits the reduction along the other dims."""
    loops = [loop for loop in range(loop_count(op)) if loop != first.loop]
    names = _numbers(op, loops)
    left = {loops.index(loop): sizes[loop] for loop in reducing_loops(op) if loop in loops}
    result = accesses_of(op)[-1].renamed(names)
    return _reduce(
        reduction.op,
        lambda value: _cloned(reduction.before if reduction.is_exact else [], value),
        lambda value: _cloned(reduction.after, value),
        read.renamed(names),
        left,
        result,
        len(loops),
    )


def _numbers(op: ir.Operation, loops: Sequence[int]) -> list[int | None]:
    """Returns the new number of each of an operation's loops, of which there are these."""
    return [loops.index(loop) if loop in loops else None for loop in range(loop_count(op))]


def _reduce(
    reduction: ir.Operation,
    before: _Cast,
    after: _Cast,
    read: Access,
    sizes: Mapping[int, int],
    result: Access,
    loops: int,
) -> ir.Operation:
    """Emits a reduction of the same kind over loops of these sizes, which a tensor says."""
    window = Access(empty(list(sizes.values()), reduction.operands[0].type), tuple(sizes))
    inputs = [(each.value, each.map(loops)) for each in (read, window)]

    def body(elements: Sequence[ir.Value]) -> list[ir.Value]:
        return [after(reduce_over(list(sizes), kind_of(reduction), before(elements[0])))]

    made = emit_generic(loops, sizes, inputs, [(result.value, result.map(loops))], body)
    made.attributes[COLLECTIVE_MARK] = ir.UnitAttr.get()
    return made


def _cloned(casts: Sequence[ir.Operation], value: ir.Value) -> ir.Value:
    """Emits casts again, of another value."""
    for cast in casts:
        clone = cast.clone()
        clone.operands[0] = value
        value = clone.results[0]
    return value


def _size(value: ir.Value, axis: int) -> int | ir.Value:
    kind = ir.RankedTensorType(value.type)
    return dim_of(value, axis) if kind.is_dynamic_dim(axis) else kind.shape[axis]
