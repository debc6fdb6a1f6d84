"""Where the operands of a sum of products lie: read behind what only moves their elements.

That is padding with zeros, and elements set apart among zeros. What is read so becomes a
tensor.extract in the region, under the condition that an element is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..fusion.access import Access, expression, linear_terms, loops_in, reassociation, zero
from ..fusion.fills import filled_with
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    loop_count,
    loop_extents,
    make_generic,
    reducing_loops,
)
from ..generics import element_or, loop_index
from ..products.fills import is_plus_zero
from ..rewriting import constant, index_constant
from ..tensors import dim_of, fill, padded
from ..walking import is_used, made_by

_DYNAMIC = ir.ShapedType.get_dynamic_size()
# More places along windows than the bits that the schedule has for them stay in memory.
MOST_PLACES = 30


@dataclass(frozen=True)
class _Axis:
    """One dim of a source: its size, if it is known, and how many zeros are before and between its
    elements.
    """

    size: int | None
    before: int
    by: int
    is_whole: bool


@dataclass(frozen=True)
class _Source:
    """A tensor of which the elements at `index` are read, as they lie along the axes.

    Where there is none is `padding`, or 0 without it.
    """

    value: ir.Value
    index: tuple[ir.AffineExpr, ...]
    axes: tuple[_Axis, ...]
    padding: ir.Attribute | None = None


def read_behind(
    op: ir.Operation, *, apart: bool = True, out_of_order: bool = False
) -> ir.Operation:
    """Returns the operation that reads its factors from where they come; the same one where it
    does.

    Left are open sizes but that of the first dim, and windows of more places than schedules can
    tell apart; unless `apart`, elements that are set apart. If `out_of_order`, images are read in
    place of copies that reorder their dims, where neighbouring results then read neighbours.
    """
    if out_of_order:
        op = _read_in_order(op)
    for number in range(len(inputs_of(op))):
        if not _is_factor(op, number):
            continue
        source = _source(accesses_of(op)[number], loop_count(op))
        if source is None or (not apart and any(axis.by != 1 for axis in source.axes)):
            continue
        if out_of_order:
            source = _source_before_copy(op, source)
        if _can_read(op, number, source):
            new = _read(op, number, source)
            return read_behind(new, apart=apart, out_of_order=out_of_order)
    return op


def _source_before_copy(op: ir.Operation, source: _Source) -> _Source:
    """Returns the input of a copy that reorders dims in place of it, where neighbouring results
    then read neighbours.
    """
    copy = made_by(source.value, GENERIC)
    if copy is None or not _is_copy(copy):
        return source
    read, written = accesses_of(copy)
    places = {each: dim for dim, each in enumerate(written.index) if isinstance(each, int)}
    # Others have one place, which padding does not lie around.
    alone = [axis for dim, axis in enumerate(source.axes) if dim not in places.values()]
    if not all(axis.is_whole for axis in alone):
        return source
    one = _Axis(1, 0, 1, is_whole=True)
    dims = [places[each] if isinstance(each, int) else None for each in read.index]
    index = tuple(zero() if dim is None else source.index[dim] for dim in dims)
    axes = tuple(one if dim is None else source.axes[dim] for dim in dims)
    result = accesses_of(op)[len(inputs_of(op))]
    if not result.index or not loops_in(result.index[-1]) <= loops_in(index[-1]):
        return source
    return _Source(read.value, index, axes, source.padding)


def is_set_apart(op: ir.Operation, number: int) -> bool:
    """Returns whether an input's elements are others with zeros between them."""
    source = _source(accesses_of(op)[number], loop_count(op))
    return source is not None and any(axis.by != 1 for axis in source.axes)


@dataclass(frozen=True)
class SetApart:
    """How a dim's elements lie in a tensor: `before` zeros are before them, `by` - 1 between."""

    before: int
    by: int


def set_apart(value: ir.Value) -> list[SetApart] | None:
    """Returns how a tensor's elements lie among zeros, by dims; None where none are between them.

    A reshape may split dims along which there are none.
    """
    inserted = made_by(value, "tensor.insert_slice")
    if inserted is not None:
        found = _inserted(inserted)
        if found is None or all(axis.by == 1 for axis in found[1]):
            return None
        return [SetApart(axis.before, axis.by) for axis in found[1]]
    reshape = made_by(value, "tensor.expand_shape")
    if reshape is None:
        return None
    source = reshape.operands[0]
    inner, whole = set_apart(source), made_by(source, "tensor.insert_slice")
    found = None if whole is None else _inserted(whole)
    if inner is None or found is None:
        return None
    dims: list[SetApart] = []
    for group, apart, axis in zip(reassociation(reshape), inner, found[1], strict=True):
        if len(group) > 1 and not (axis.is_whole and axis.by == 1):
            return None
        dims += [apart] * len(group)
    return dims


def padded_behind(value: ir.Value, more: Sequence[int]) -> ir.Value:
    """Returns a tensor of known sizes with so many zeros more behind each dim.

    Zeros that are there already, around it or behind dims that a reshape does not split, are the
    same operation's.
    """
    kind = ir.RankedTensorType(value.type)
    shape = [size + each for size, each in zip(kind.shape, more, strict=True)]
    made = ir.RankedTensorType.get(shape, kind.element_type)
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is not None and op.name == "tensor.expand_shape":
        groups = reassociation(op)
        if all(len(dims) == 1 or not any(more[dim] for dim in dims) for dims in groups):
            inner = [sum(more[dim] for dim in dims) for dims in groups]
            attributes: dict[str, ir.Attribute] = {
                "reassociation": op.attributes["reassociation"],
                "static_output_shape": ir.DenseI64ArrayAttr.get(shape),
            }
            source = padded_behind(op.operands[0], inner)
            return ir.Operation.create(op.name, [made], [source], attributes).results[0]
    if op is not None and _moved(op) is not None:
        if op.name == "tensor.insert_slice":
            room = ir.Operation.create("tensor.empty", results=[made]).results[0]
            zeros = fill(constant(kind.element_type, 0), room)
            copy = op.clone()
            copy.operands[1] = zeros
            copy.results[0].set_type(made)
            return copy.results[0]
        highs = [high + each for high, each in zip(_numbers(op, "static_high"), more, strict=True)]
        copy = op.clone()
        copy.attributes["static_high"] = ir.DenseI64ArrayAttr.get(highs)
        copy.results[0].set_type(made)
        return copy.results[0]
    return padded(value, made, [0] * made.rank, more, constant(kind.element_type, 0))


def read_behind_padding(op: ir.Operation) -> ir.Operation:
    """Returns a reduction of windows that reads padded inputs in place, whatever the padding.

    It reads parts of them in place too, as what no window reaches is cut off, and inputs of copies
    that reorder dims. Returns `op` where there is none of these.
    """
    op = _read_in_order(op)
    for number, read in enumerate(accesses_of(op)[: len(inputs_of(op))]):
        value, index = _before_slices(read.value, [expression(each) for each in read.index])
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "tensor.pad":
            continue
        pad = value.owner.operation
        found, padding = _moved_by(pad, is_open=True), _padding(pad)
        if found is None or padding is None or all(axis.is_whole for axis in found[1]):
            continue
        index = _simplified(index, loop_count(op))
        source = _Source(found[0], index, found[1], padding)
        if _can_read(op, number, source):
            return read_behind_padding(_read(op, number, source))
    return op


def _before_slices(
    value: ir.Value, index: Sequence[ir.AffineExpr]
) -> tuple[ir.Value, Sequence[ir.AffineExpr]]:
    """Returns what a tensor is part of after part, and where in it the element at `index` lies.

    Parts with steps, of fewer dims or that begin at open places are as they are.
    """
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name != "tensor.extract_slice":
            break
        offsets, rank = _numbers(op, "static_offsets"), ir.RankedTensorType(value.type).rank
        if (
            _DYNAMIC in offsets
            or rank != len(offsets)
            or set(_numbers(op, "static_strides")) != {1}
        ):
            break
        index = [each + offset for each, offset in zip(index, offsets, strict=True)]
        value = op.operands[0]
    return value, index


def _read_in_order(op: ir.Operation) -> ir.Operation:
    """Returns an operation that reads the inputs of copies that reorder dims, not the copies.

    It keeps copies that make elements which neighbouring results read neighbours in memory.
    """
    accesses, inputs = accesses_of(op), len(inputs_of(op))
    found = [
        read if (source := _before_copy(read)) is None or not _is_along(op, source) else source
        for read in accesses[:inputs]
    ]
    if found == accesses[:inputs]:
        return op
    with op.location, ir.InsertionPoint(op):
        loops, block = loop_count(op), op.regions[0].blocks[0]
        new = make_generic(found, accesses[inputs:], loops, reducing_loops(op), block, of=[op])
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def _before_copy(read: Access) -> Access | None:
    """Returns the access to the input of a copy that reorders dims; None for other operations."""
    owner = read.value.owner
    if isinstance(owner, ir.Block) or not _is_copy(owner.operation):
        return None
    source, copy = accesses_of(owner.operation)
    places = {
        loop: at for loop, at in zip(copy.index, read.index, strict=True) if isinstance(loop, int)
    }
    index = (places[each] if isinstance(each, int) else each for each in source.index)
    return Access(source.value, tuple(index))


def _is_copy(op: ir.Operation) -> bool:
    if op.name != GENERIC or not has_tensors_only(op):
        return False
    accesses, block = accesses_of(op), op.regions[0].blocks[0]
    (*work, end) = [inner.operation for inner in block]
    return (
        not work
        and len(accesses) == 2
        and len(inputs_of(op)) == 1
        and list(end.operands) == [block.arguments[0]]
        and all(each.is_whole and len(each.loops) == loop_count(op) for each in accesses)
    )


def _is_along(op: ir.Operation, read: Access) -> bool:
    """Returns whether neighbours in the first result read elements that are neighbours."""
    written = accesses_of(op)[len(inputs_of(op))]
    return not written.index or loops_in(written.index[-1]) <= loops_in(read.index[-1])


def _padding(pad: ir.Operation) -> ir.Attribute | None:
    """Returns the number that a tensor is padded with, where it is known."""
    owner = list(pad.regions[0].blocks[0])[-1].operation.operands[0].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return owner.operation.attributes["value"]


def _is_factor(op: ir.Operation, number: int) -> bool:
    read = accesses_of(op)[number]
    return bool({loop for each in read.index for loop in loops_in(each)} & set(reducing_loops(op)))


def _source(read: Access, loops: int) -> _Source | None:
    """Returns what a tensor is made of by moving elements, through reshapes that split dims."""
    value = read.value
    index = tuple(expression(each) for each in read.index)
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        found = _moved(op)
        if found is not None:
            source, axes = found
            return _Source(source, _simplified(index, loops), axes)
        if op.name != "tensor.expand_shape":
            return None
        shape = ir.RankedTensorType(op.results[0].type).shape
        if any(shape[dim] == _DYNAMIC for dims in reassociation(op) for dim in dims[1:]):
            return None
        index = tuple(
            reduce(
                lambda sum_, each: sum_ + each,
                [
                    index[dim] * prod(shape[inner] for inner in dims[place + 1 :])
                    for place, dim in enumerate(dims)
                ],
            )
            for dims in reassociation(op)
        )
        value = op.operands[0]
    return None


def _simplified(index: Sequence[ir.AffineExpr], loops: int) -> tuple[ir.AffineExpr, ...]:
    """Returns the same expressions: as results of a map they are simple, and of
    their own classes.
    """
    return tuple(ir.AffineMap.get(loops, 0, list(index)).results)


def _moved(op: ir.Operation) -> tuple[ir.Value, tuple[_Axis, ...]] | None:
    """Returns what is padded with zeros, or set into zeros, and how it lies among them."""
    if op.name == "tensor.pad":
        return _padded(op)
    if op.name == "tensor.insert_slice":
        return _inserted(op)
    return None


def _padded(op: ir.Operation) -> tuple[ir.Value, tuple[_Axis, ...]] | None:
    value = list(op.regions[0].blocks[0])[-1].operation.operands[0]
    return _moved_by(op) if _is_zero(value) else None


def _moved_by(
    op: ir.Operation, *, is_open: bool = False
) -> tuple[ir.Value, tuple[_Axis, ...]] | None:
    """Returns the source of a tensor.pad, and how each dim of it lies in the result.

    Returns None where it cannot be read in place: where an amount of padding is open or negative,
    or, unless `is_open`, where a size is open other than the number of images, which is not padded.
    """
    source = ir.RankedTensorType(op.operands[0].type)
    lows, highs = (list(_numbers(op, f"static_{at}")) for at in ("low", "high"))
    if len(op.operands) != 1 or any(each < 0 for each in (*lows, *highs)):
        return None
    is_padded = source.rank > 0 and source.is_dynamic_dim(0) and lows[0] + highs[0]
    if not is_open and (_DYNAMIC in source.shape[1:] or is_padded):
        return None
    return op.operands[0], tuple(
        _Axis(None if size == _DYNAMIC else size, low, 1, low == high == 0)
        for size, low, high in zip(source.shape, lows, highs, strict=True)
    )


def _inserted(op: ir.Operation) -> tuple[ir.Value, tuple[_Axis, ...]] | None:
    source = ir.RankedTensorType(op.operands[0].type)
    into = ir.RankedTensorType(op.operands[1].type)
    if len(op.operands) != 2 or not source.has_static_shape or not into.has_static_shape:
        return None
    if source.rank != into.rank:
        return None
    filling = filled_with(op.operands[1])
    if filling is None or not _is_zero(filling):
        return None
    offsets, steps = (_numbers(op, f"static_{name}") for name in ("offsets", "strides"))
    return op.operands[0], tuple(
        _Axis(size, offset, step, offset == 0 and size == whole)
        for size, whole, offset, step in zip(source.shape, into.shape, offsets, steps, strict=True)
    )


def _numbers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _is_zero(value: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    attribute = value.owner.operation.attributes["value"]
    if isinstance(attribute, ir.FloatAttr):
        return is_plus_zero(attribute)
    return isinstance(attribute, ir.IntegerAttr) and attribute.value == 0


def _can_read(op: ir.Operation, number: int, source: _Source) -> bool:
    accesses = accesses_of(op)
    others = {loop for place, each in enumerate(accesses) if place != number for loop in each.loops}
    if not set(accesses[number].loops) <= others:
        return False  # Nothing else would say how far these loops go.
    if not is_used(op.regions[0].blocks[0].arguments[number]):
        return False
    places, extents = 0, loop_extents(op)
    for axis, each in zip(source.axes, source.index, strict=True):
        linear = linear_terms(each)
        if linear is None:
            return False
        if axis.is_whole and axis.by == 1:
            continue
        along = [loop for loop in linear[1] if loop in reducing_loops(op)]
        if len(along) > 1 or any(extents.get(loop, _DYNAMIC) == _DYNAMIC for loop in along):
            return False
        places += extents[along[0]] if along else 1
        if axis.by == 1:
            continue
        # A schedule is to know which places of a term are those of elements, by the row's.
        rest = [loop for loop in linear[1] if loop not in along]
        if len(rest) != 1 or linear[1][rest[0]] != 1:
            return False
    return places <= MOST_PLACES


def _read(op: ir.Operation, number: int, source: _Source) -> ir.Operation:
    accesses, inputs = accesses_of(op), len(inputs_of(op))
    block = op.regions[0].blocks[0]
    argument = block.arguments[number]
    extents = loop_extents(op)
    with op.location, ir.InsertionPoint(op):
        sizes = [
            dim_of(source.value, number) if axis.size is None else index_constant(axis.size)
            for number, axis in enumerate(source.axes)
        ]
        with ir.InsertionPoint.at_block_begin(block):
            element = _element(source, sizes, argument.type, extents)
        argument.replace_all_uses_with(element)
        block.erase_argument(number)
        kept = [each for place, each in enumerate(accesses[:inputs]) if place != number]
        new = make_generic(
            kept, accesses[inputs:], loop_count(op), reducing_loops(op), block, of=[op]
        )
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def _element(
    source: _Source, sizes: Sequence[ir.Value], kind: ir.Type, extents: dict[int, int]
) -> ir.Value:
    """Emits the element read of a source of these `sizes`, or the padding where it has none."""
    conditions: list[ir.Value] = []
    places: list[ir.Value] = []
    for axis, size, each in zip(source.axes, sizes, source.index, strict=True):
        linear = linear_terms(each)
        assert linear is not None
        constant, factors = linear[0] - axis.before, linear[1]
        less = 0
        if axis.by != 1:
            # Quotients are of numbers without sign.
            lowest = constant + sum(
                min(factor, 0) * (extents[loop] - 1) for loop, factor in factors.items()
            )
            less = max(-(lowest // axis.by), 0)
        place = _sum(constant + less * axis.by, factors)
        if axis.by != 1:
            by = index_constant(axis.by)
            rest = arith.remui(place, by)
            conditions.append(arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))
            place = arith.divui(place, by)
            if less:
                place = arith.subi(place, index_constant(less))
        if not axis.is_whole or axis.by != 1:
            conditions.append(arith.cmpi(arith.CmpIPredicate.ult, place, size))
        places.append(place)
    padding = source.padding
    if padding is None:
        is_float = isinstance(kind, ir.FloatType)
        padding = ir.FloatAttr.get(kind, 0.0) if is_float else ir.IntegerAttr.get(kind, 0)
    nothing = ir.Operation.create(
        "arith.constant",
        results=[kind],
        attributes={"value": padding},
    ).results[0]
    return element_or(reduce(arith.andi, conditions), source.value, places, nothing)


def _sum(constant: int, factors: dict[int, int]) -> ir.Value:
    """Returns an index of the region."""
    found: ir.Value | None = None
    for loop, factor in factors.items():
        step = loop_index(loop)
        if factor == -1 and found is not None:
            found = arith.subi(found, step)
            continue
        if factor != 1:
            step = arith.muli(step, index_constant(factor))
        found = step if found is None else arith.addi(found, step)
    if found is None:
        return index_constant(constant)
    if constant < 0:
        return arith.subi(found, index_constant(-constant))
    return found if constant == 0 else arith.addi(found, index_constant(constant))
