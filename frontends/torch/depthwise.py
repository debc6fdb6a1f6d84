"""Depthwise convolutions as linalg: those that torch-mlir does not lower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import SymInt
from torch.fx import Node

from ...dialects.mlir import arith, ir
from ...pipelines.generics import each_place, loop_index
from ...pipelines.rewriting import constant, index_constant

_SMALL = ("f16", "bf16")
# Of so many dims torch-mlir has no depthwise convolution.
_UNKNOWN_RANK = 3


@dataclass(frozen=True)
class Depthwise:
    """A depthwise convolution of known sizes, with one result a channel."""

    transposed: bool
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    more: tuple[int, ...]

    def attribute(self) -> ir.Attribute:
        """Returns what a function has of it until it is defined."""
        parts = (self.stride, self.padding, self.dilation, self.more)
        numbers = [int(self.transposed), *(number for part in parts for number in part)]
        return ir.DenseI64ArrayAttr.get(numbers)

    @staticmethod
    def of(attribute: ir.Attribute) -> Depthwise:
        """Returns what `attribute` gave."""
        transposed, *rest = list(ir.DenseI64ArrayAttr(attribute))
        rank = len(rest) // 4
        parts = [tuple(rest[first : first + rank]) for first in range(0, len(rest), rank)]
        return Depthwise(bool(transposed), *parts)


def read_depthwise(node: Node) -> Depthwise | None:
    """Returns the depthwise convolution of a node that torch-mlir does not lower;
    None for others.
    """
    given: Any = node.args
    x, w, _, *how = given
    return depthwise_of(x.meta["val"].shape, w.meta["val"].shape, *how)


def depthwise_of(
    image: Sequence[int | SymInt],
    window: Sequence[int | SymInt],
    stride: Sequence[int],
    padding: Sequence[Any],
    dilation: Sequence[int],
    transposed: bool,
    more: Sequence[Any],
    groups: int,
) -> Depthwise | None:
    """Returns the same of a convolution of an image of this shape by weights of that one."""
    if any(isinstance(size, SymInt) for size in (*image, *window, *padding, *more)):
        return None
    rank = len(image) - 2
    if groups == 1 or (image[1], window[0], window[1]) != (groups, groups, 1):
        return None
    if not transposed and rank != _UNKNOWN_RANK:
        return None
    lists = [tuple(each) * (rank if len(each) == 1 else 1) for each in (stride, padding, dilation)]
    steps, around, apart = lists
    if transposed and any(
        by * (size - 1) < least for by, size, least in zip(apart, window[2:], around, strict=True)
    ):
        return None
    return Depthwise(transposed, steps, around, apart, tuple(more) if transposed else (0,) * rank)


def emit_depthwise(
    made: Depthwise, arguments: Sequence[ir.Value], result: ir.RankedTensorType
) -> ir.Value:
    """Emits the convolution of an image by weights, and a bias if there is one."""
    x, w, *bias = arguments
    element = result.element_type
    zero = constant(element, 0)
    window = list(ir.RankedTensorType(w.type).shape)[2:]
    rank = len(window)
    if made.transposed:
        x, w, stride = _set_apart(made, x, window, zero), _flipped(w), (1,) * rank
    else:
        x, stride = _padded(made, x, zero), made.stride
    w = _collapsed(w)
    is_small = str(element) in _SMALL
    total = ir.F32Type.get() if is_small else element
    room = _empty(ir.RankedTensorType.get(result.shape, total))
    start = _fill(constant(total, 0), room)
    dims = [ir.AffineDimExpr.get(dim) for dim in range(2 + 2 * rank)]
    spatial = [
        dims[2 + axis] * stride[axis] + dims[2 + rank + axis] * made.dilation[axis]
        for axis in range(rank)
    ]
    sums = _generic(
        [x, w],
        start,
        [[*dims[:2], *spatial], [dims[1], *dims[2 + rank :]], dims[: 2 + rank]],
        rank,
    )
    block = sums.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        one, other, sum_ = block.arguments
        if is_small:
            one, other = arith.extf(total, one), arith.extf(total, other)
        product = arith.mulf(one, other)
        ir.Operation.create("linalg.yield", operands=[arith.addf(sum_, product)])
    if not bias and not is_small:
        return sums.results[0]
    identity = dims[: 2 + rank]
    end = _generic(
        [sums.results[0], *bias],
        _empty(result),
        [identity, *([dims[1]] for _ in bias), identity],
        0,
    )
    block = end.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        value = block.arguments[0]
        for each in list(block.arguments)[1 : 1 + len(bias)]:
            value = arith.addf(value, arith.extf(total, each) if is_small else each)
        value = arith.truncf(element, value) if is_small else value
        ir.Operation.create("linalg.yield", operands=[value])
    return end.results[0]


def _empty(kind: ir.Type) -> ir.Value:
    return ir.Operation.create("tensor.empty", results=[kind]).results[0]


def _fill(value: ir.Value, room: ir.Value) -> ir.Value:
    op = ir.Operation.create(
        "linalg.fill",
        results=[room.type],
        operands=[value, room],
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
        regions=1,
    )
    block = op.regions[0].blocks.append(*[value.type] * 2, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return op.results[0]


def _generic(
    inputs: Sequence[ir.Value],
    start: ir.Value,
    maps: Sequence[Sequence[ir.AffineExpr]],
    reduced: int,
) -> ir.Operation:
    """Returns a linalg.generic whose last loops are reduced, with an empty block."""
    kind = ir.RankedTensorType(start.type)
    loops = kind.rank + reduced
    names = ["parallel"] * kind.rank + ["reduction"] * reduced
    op = ir.Operation.create(
        "linalg.generic",
        results=[kind],
        operands=[*inputs, start],
        attributes={
            "indexing_maps": ir.ArrayAttr.get(
                [ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, list(each))) for each in maps]
            ),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{name}>") for name in names]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), 1]),
        },
        regions=1,
    )
    kinds = [ir.RankedTensorType(value.type).element_type for value in (*inputs, start)]
    op.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
    return op


def _padded(made: Depthwise, x: ir.Value, zero: ir.Value) -> ir.Value:
    amounts = [0, 0, *made.padding]
    if not any(amounts):
        return x
    kind = ir.RankedTensorType(x.type)
    shape = [size + 2 * by for size, by in zip(kind.shape, amounts, strict=True)]
    op = ir.Operation.create(
        "tensor.pad",
        results=[ir.RankedTensorType.get(shape, kind.element_type)],
        operands=[x],
        attributes={
            "static_low": ir.DenseI64ArrayAttr.get(amounts),
            "static_high": ir.DenseI64ArrayAttr.get(amounts),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0]),
        },
        regions=1,
    )
    indices = [ir.IndexType.get()] * kind.rank
    block = op.regions[0].blocks.append(*indices, arg_locs=[op.location] * kind.rank)
    with ir.InsertionPoint(block):
        ir.Operation.create("tensor.yield", operands=[zero])
    return op.results[0]


def _set_apart(made: Depthwise, x: ir.Value, window: Sequence[int], zero: ir.Value) -> ir.Value:
    """Returns the image that a transposed convolution convolves: its elements `stride` apart in
    zeros.
    """
    kind = ir.RankedTensorType(x.type)
    before = [
        by * (size - 1) - least
        for by, size, least in zip(made.dilation, window, made.padding, strict=True)
    ]
    sizes = list(kind.shape)
    shape = sizes[:2] + [
        (size - 1) * by + 1 + 2 * least + rest
        for size, by, least, rest in zip(sizes[2:], made.stride, before, made.more, strict=True)
    ]
    room = _fill(zero, _empty(ir.RankedTensorType.get(shape, kind.element_type)))
    return ir.Operation.create(
        "tensor.insert_slice",
        results=[room.type],
        operands=[x, room],
        attributes={
            "static_offsets": ir.DenseI64ArrayAttr.get([0, 0, *before]),
            "static_sizes": ir.DenseI64ArrayAttr.get(sizes),
            "static_strides": ir.DenseI64ArrayAttr.get([1, 1, *made.stride]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, 0, 0]),
        },
    ).results[0]


def _flipped(w: ir.Value) -> ir.Value:
    """Weights whose windows are the other way round."""
    kind = ir.RankedTensorType(w.type)

    def element() -> ir.Value:
        places = [loop_index(0), loop_index(1)]
        for axis in range(2, kind.rank):
            last = index_constant(kind.shape[axis] - 1)
            places.append(arith.subi(last, loop_index(axis)))
        return ir.Operation.create("tensor.extract", [kind.element_type], [w, *places]).results[0]

    return each_place(_empty(kind), element)


def _collapsed(w: ir.Value) -> ir.Value:
    """Weights without their dim of one channel."""
    kind = ir.RankedTensorType(w.type)
    shape = list(kind.shape)
    i64 = ir.IntegerType.get_signless(64)
    groups = [[0, 1], *([axis] for axis in range(2, kind.rank))]
    return ir.Operation.create(
        "tensor.collapse_shape",
        results=[ir.RankedTensorType.get([shape[0], *shape[2:]], kind.element_type)],
        operands=[w],
        attributes={
            "reassociation": ir.ArrayAttr.get(
                [
                    ir.ArrayAttr.get([ir.IntegerAttr.get(i64, dim) for dim in group])
                    for group in groups
                ]
            )
        },
    ).results[0]
