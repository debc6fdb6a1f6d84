"""Padding as part of the operation that reads it: an element where there is one, else the zero."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from ...dialects.mlir import arith, ir
from ..fusion.access import Access, reassociation
from ..fusion.generic import accesses_of, inputs_of, make_generic, reducing_loops
from ..picked_elements import element_or, loop_index
from ..products.fills import is_plus_zero
from ..rewriting import index_constant
from ..schedules.work import linear_terms

_DYNAMIC = ir.ShapedType.get_dynamic_size()
# More places along a window than the bits that the schedule has for them stay padded in memory.
MOST_PLACES = 30


def fold_padding(op: ir.Operation) -> ir.Operation:
    """The operation that reads behind tensor.pad with zeros; the same one where there is none.

    Left are open sizes, and windows of more places than schedules can tell apart.
    """
    for number, read in enumerate(accesses_of(op)[: len(inputs_of(op))]):
        found = _behind(read)
        if found is None:
            continue
        source, pad = found
        if _can_fold(op, number, source, pad):
            return fold_padding(_fold(op, number, source, pad))
    return op


def _behind(read: Access) -> tuple[tuple[ir.AffineExpr, ...], ir.Operation] | None:
    """A tensor.pad that is read, and at which places, through reshapes that split dims."""
    value = read.value
    index = tuple(_expression(each) for each in read.index)
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == "tensor.pad":
            return index, op
        if op.name != "tensor.expand_shape":
            return None
        shape = ir.RankedTensorType(op.results[0].type).shape
        if _DYNAMIC in shape:
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


def _expression(each: int | ir.AffineExpr) -> ir.AffineExpr:
    return ir.AffineExpr.get_dim(each) if isinstance(each, int) else each


def _can_fold(
    op: ir.Operation, number: int, index: Sequence[ir.AffineExpr], pad: ir.Operation
) -> bool:
    source = ir.RankedTensorType(pad.operands[0].type)
    lows, highs = _amounts(pad)
    if not source.has_static_shape or len(pad.operands) != 1 or _DYNAMIC in (*lows, *highs):
        return False
    if any(each < 0 for each in (*lows, *highs)) or not _pads_zero(pad):
        return False
    accesses = accesses_of(op)
    others = {loop for place, each in enumerate(accesses) if place != number for loop in each.loops}
    if not set(accesses[number].loops) <= others:
        return False  # Nothing else would say how far these loops go.
    places = 0
    extents = _extents(op)
    for low, high, expression in zip(lows, highs, index, strict=True):
        linear = linear_terms(expression)
        if linear is None:
            return False
        if low == high == 0:
            continue
        along = [loop for loop in linear[1] if loop in reducing_loops(op)]
        if len(along) > 1 or any(extents.get(loop, _DYNAMIC) == _DYNAMIC for loop in along):
            return False
        places += extents[along[0]] if along else 1
    return places <= MOST_PLACES


def _extents(op: ir.Operation) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in accesses_of(op):
        if isinstance(each.value.type, ir.RankedTensorType):
            for loop, size in zip(each.index, each.value.type.shape, strict=True):
                if isinstance(loop, int):
                    found[loop] = size
    return found


def _pads_zero(pad: ir.Operation) -> bool:
    block = pad.regions[0].blocks[0]
    value = list(block)[-1].operation.operands[0]
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    return is_plus_zero(value.owner.operation.attributes["value"])


def _fold(
    op: ir.Operation, number: int, index: Sequence[ir.AffineExpr], pad: ir.Operation
) -> ir.Operation:
    accesses = accesses_of(op)
    inputs = len(inputs_of(op))
    source = pad.operands[0]
    sizes = ir.RankedTensorType(source.type).shape
    lows, highs = _amounts(pad)
    block = op.regions[0].blocks[0]
    argument = block.arguments[number]
    with op.location, ir.InsertionPoint(op):
        with ir.InsertionPoint.at_block_begin(block):
            zero = ir.Operation.create(
                "arith.constant",
                results=[argument.type],
                attributes={"value": _zero(argument.type)},
            ).results[0]
            places = [_place(expression, low) for expression, low in zip(index, lows, strict=True)]
            within = [
                arith.cmpi(arith.CmpIPredicate.ult, place, index_constant(size))
                for place, size, low, high in zip(places, sizes, lows, highs, strict=True)
                if low or high
            ]
            if within:
                element = element_or(reduce(arith.andi, within), source, places, zero)
            else:
                element = ir.Operation.create(
                    "tensor.extract", results=[argument.type], operands=[source, *places]
                ).results[0]
        argument.replace_all_uses_with(element)
        block.erase_argument(number)
        loops = len(ir.ArrayAttr(op.attributes["iterator_types"]))
        kept = [each for place, each in enumerate(accesses[:inputs]) if place != number]
        new = make_generic(kept, accesses[inputs:], loops, reducing_loops(op), block)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def _amounts(pad: ir.Operation) -> tuple[list[int], list[int]]:
    """How many elements go before and after each dim's."""
    lows, highs = (ir.DenseI64ArrayAttr(pad.attributes[f"static_{at}"]) for at in ("low", "high"))
    return list(lows), list(highs)


def _zero(kind: ir.Type) -> ir.Attribute:
    if isinstance(kind, ir.FloatType):
        return ir.FloatAttr.get(kind, 0.0)
    return ir.IntegerAttr.get(kind, 0)


def _place(expression: ir.AffineExpr, low: int) -> ir.Value:
    """An index of the source, in the region."""
    linear = linear_terms(expression)
    assert linear is not None
    constant, factors = linear
    found: ir.Value | None = None
    for loop, factor in factors.items():
        step = loop_index(loop)
        if factor != 1:
            step = arith.muli(step, index_constant(factor))
        found = step if found is None else arith.addi(found, step)
    if found is None:
        return index_constant(constant - low)
    if constant != low:
        found = arith.subi(found, index_constant(low - constant))
    return found
