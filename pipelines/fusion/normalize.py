"""One form for every linalg.generic on tensors, which what follows understands.

Loops of one iteration are gone; what is read through casts and reshapes by dims of size 1 is read
from behind them; operands whose elements are all one scalar are that scalar; outputs are not read;
reductions are collective operations; and outputs that nothing uses are dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ..walking import has_operation, is_used
from .access import Access, loops_in, through_views
from .fills import filled_with, unfilled
from .generic import (
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    loop_count,
    make_generic,
    outs_of,
    reducing_loops,
    sums_products,
)
from .reductions import Found, emit, recognize
from .region import Region

# Marks products of matrices that are reductions like others, however often an element is read.
SMALL_PRODUCT = "hir.small_product"


def normalize(op: ir.Operation, normal: set[ir.Operation]) -> ir.Operation | None:
    """Returns the operation that replaces a linalg.generic, which is to be erased.

    None where it is left as it is: what it does has no such form. `normal` are those in the form.
    """
    if not is_plain(op) or not any(is_used(result) for result in op.results):
        return None
    found = recognize(op) if reducing_loops(op) else []
    if found is None:
        return None
    with op.location, ir.InsertionPoint(op):
        return _rebuild(op, found, normal)


def reduces_nothing(op: ir.Operation) -> bool:
    """Returns whether types say that a linalg.generic on tensors reduces no elements."""
    reducing = set(reducing_loops(op))
    return any(
        size == 0 and index in reducing
        for read in accesses_of(op)
        if isinstance(read.value.type, ir.RankedTensorType)
        for index, size in zip(read.index, read.value.type.shape, strict=True)
        if isinstance(index, int)
    )


def is_plain(op: ir.Operation) -> bool:
    """Returns whether each iteration of a linalg.generic writes elements of its own.

    Those that reduce are plain too, where each of the other loops does.
    """
    if op.name != GENERIC or not has_tensors_only(op) or _has_collectives(op):
        return False
    reducing = set(reducing_loops(op))
    parallel = [loop for loop in range(loop_count(op)) if loop not in reducing]
    outputs = accesses_of(op)[len(inputs_of(op)) :]
    if any(sorted(each.loops) != parallel or not each.is_whole for each in outputs):
        return False
    return SMALL_PRODUCT in op.attributes or not is_contraction(op)


def is_normal(op: ir.Operation) -> bool:
    """Returns whether a linalg.generic on tensors is in the form that fusion works on.

    It does not read its outputs, whose every element belongs to one iteration of the loops that
    are no reduction's; and these loops are all there is, or are gone over by collective operations.
    """
    return normal_accesses(op) is not None


def normal_accesses(op: ir.Operation) -> list[Access] | None:
    """Returns the accesses of an operation in that form; None where it is not."""
    if op.name != GENERIC or not has_tensors_only(op):
        return None
    inputs = len(inputs_of(op))
    if any(is_used(each) for each in list(op.regions[0].blocks[0].arguments)[inputs:]):
        return None
    accesses = accesses_of(op)
    along = set(reducing_loops(op))
    parallel = set(range(loop_count(op))) - along
    for output in accesses[inputs:]:
        loops = output.loops
        if not output.is_whole or not parallel <= set(loops):
            return None
        if set(loops) & along and not along <= set(loops):
            return None
    return accesses if not along or _has_collectives(op) else None


def is_contraction(op: ir.Operation) -> bool:
    """Returns whether it is like a product of matrices: operands that each lack a loop of the
    result.

    A convolution is too, though as a depthwise one it has weights alone that lack any.
    """
    reducing = set(reducing_loops(op))
    parallel = set(range(loop_count(op))) - reducing
    if not reducing:
        return False
    if sums_products(op) and any(
        reducing & loops_in(each)
        for read in accesses_of(op)[: len(inputs_of(op))]
        for each in read.index
        if not isinstance(each, int)
    ):
        return True
    lacking = [
        parallel - set(read.loops)
        for read in accesses_of(op)[: len(inputs_of(op))]
        if reducing & set(read.loops)
    ]
    return any(first - second and second - first for first in lacking for second in lacking)


def finishes_product(op: ir.Operation, normal: Collection[ir.Operation] = ()) -> bool:
    """Returns whether an operation reads the result of a product or convolution.

    The kernel of that may include the operation in its present shape. `normal` are some that are
    known to be in the normal form.
    """
    makers = [value.owner.operation for value in inputs_of(op) if isinstance(value, ir.OpResult)]
    return any(
        each.name.startswith("linalg.")
        and (each.name != GENERIC or not (each in normal or is_normal(each)))
        for each in makers
    )


def _has_collectives(op: ir.Operation) -> bool:
    return has_operation(op, lambda inner: inner.name.startswith("hir."))


def _rebuild(op: ir.Operation, found: Sequence[Found], normal: set[ir.Operation]) -> ir.Operation:
    inputs = len(inputs_of(op))
    units = _unit_loops(op)
    kept = [loop for loop in range(loop_count(op)) if loop not in units]
    names = [kept.index(loop) if loop in kept else None for loop in range(loop_count(op))]
    reducing = [loop for loop in reducing_loops(op) if loop in kept]
    used = [number for number, result in enumerate(op.results) if is_used(result)]
    reads = [_read(each, names) for each in accesses_of(op)]
    writes = accesses_of(op)[inputs:]
    outputs = [
        Access(_begin(writes[number].value, normal), writes[number].renamed(names).index)
        for number in used
    ]
    region = Region()
    given = {loop for each in outputs for loop in each.loops}
    arguments = _arguments(op, reads[:inputs], given, region, len(kept))
    end = list(op.regions[0].blocks[0])[-1].operation
    starts = _Values(reads[inputs:], region, len(kept))
    with ir.InsertionPoint(end):
        if found:
            yielded = emit(found, used, reducing, starts.of)
            arguments += [None] * len(writes)
        else:
            yielded = [end.operands[number] for number in used]
            read = [is_used(each) for each in list(op.regions[0].blocks[0].arguments)[inputs:]]
            arguments += [starts.of(number) if each else None for number, each in enumerate(read)]
        ir.Operation.create("linalg.yield", operands=yielded)
    end.erase()
    yielded = region.absorb(op, arguments, names)
    region.finish(outputs, yielded)
    loops = [kept.index(loop) for loop in reducing]
    new = make_generic(region.inputs, outputs, len(kept), loops, region.block, of=[op])
    for number, result in zip(used, new.results, strict=True):
        op.results[number].replace_all_uses_with(result)
    return new


class _Values:
    """Elements of tensors as values of a region."""

    def __init__(self, reads: Sequence[Access], region: Region, loops: int) -> None:
        self._reads = reads
        self._region = region
        self._loops = loops

    def of(self, number: int) -> ir.Value:
        read = self._reads[number]
        scalar = filled_with(read.value)
        return self._region.input(read, self._loops) if scalar is None else scalar


def _read(each: Access, names: Sequence[int | None]) -> Access:
    is_tensor = isinstance(each.value.type, ir.RankedTensorType)
    return through_views(each.renamed(names)) if is_tensor else each


def _unit_loops(op: ir.Operation) -> set[int]:
    """Returns the loops that a type gives a single iteration.

    Those of an output's open dims are kept: that it is written as a whole would be seen no more.
    So are those without which a dim would be read along one loop that does not go over all of it,
    as by the only window of a pooling.
    """
    accesses = accesses_of(op)
    found = _loops_of_size(accesses, 1) - _loops_of_size(accesses[len(inputs_of(op)) :], DYNAMIC)
    names = [None if loop in found else loop for loop in range(loop_count(op))]
    for read in accesses:
        for old, new, dim in zip(
            read.index, read.renamed(names).index, range(len(read.index)), strict=True
        ):
            if isinstance(old, int) or not isinstance(new, int):
                continue
            size = ir.RankedTensorType(read.value.type).shape[dim]
            if size == DYNAMIC or new not in _loops_of_size(accesses, size):
                found -= loops_in(old)
    return found


def _loops_of_size(accesses: Sequence[Access], wanted: int) -> set[int]:
    return {
        each
        for read in accesses
        if isinstance(read.value.type, ir.RankedTensorType)
        for each, size in zip(read.index, read.value.type.shape, strict=True)
        if isinstance(each, int) and size == wanted
    }


def _begin(value: ir.Value, normal: set[ir.Operation]) -> ir.Value:
    """Returns what an output begins as: its elements do not matter, but its buffer
    may be reused.
    """
    while True:
        value = unfilled(value)
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation not in normal:
            return value
        begun = outs_of(owner.operation)[ir.OpResult(value).result_number]
        if begun.type != value.type:
            return value
        value = begun


def _arguments(
    op: ir.Operation, reads: Sequence[Access], given: set[int], region: Region, loops: int
) -> list[ir.Value | None]:
    """Returns what each input's block argument stands for in the new region.

    An input that is all one scalar, or not used, is an operand only if it alone has the extent of
    a loop; `given` are those that outputs have.
    """
    given = set(given)
    scalars: dict[int, ir.Value | None] = {}
    block = op.regions[0].blocks[0]
    for number, read in enumerate(reads):
        if not isinstance(read.value.type, ir.RankedTensorType):
            scalars[number] = read.value
        elif not is_used(block.arguments[number]):
            scalars[number] = None
        else:
            scalar = filled_with(read.value)
            if scalar is None:
                given |= set(read.loops)
            else:
                scalars[number] = scalar
    arguments: list[ir.Value | None] = []
    for number, read in enumerate(reads):
        if number not in scalars:
            arguments.append(region.input(read, loops))
            continue
        is_tensor = isinstance(read.value.type, ir.RankedTensorType)
        if is_tensor and not set(read.loops) <= given:
            given |= set(read.loops)
            region.input(read, loops)
        arguments.append(scalars[number])
    return arguments
