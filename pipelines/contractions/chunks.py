"""Convolutions of few channels, on copies whose pixels lie in chunks of 16 bytes of channels.

A block of warpgroups then brings the part of the image under a tile of results once, and multiplies
it where it lies in shared memory, shifted for each place of the window (schedules/contraction/
patch.py). Rows of channels, which it would bring once for each place, are mostly zeros where there
are few. The order of the image is

    batch, group, chunk, outer dims, remainder, innermost dim, channel in the chunk

and that of the weights follows it. Where these are more dims than the copy engine takes, those
before the outer dims are one. Where the window moves in steps along the innermost dim, this
one is divided: into places with the same remainder by the step, which then lie together. Channels
that lack in the last chunk, and what the division needs, are zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..fusion.access import Access, Coordinate, expression, linear_terms
from ..fusion.generic import accesses_of, loop_count, loop_extents, reducing_loops
from ..generics import each_place, element_or, loop_index
from ..rewriting import constant, index_constant
from ..schedules.elements import element_bytes
from ..schedules.warpgroup_matrices import (
    CHUNK_BYTES,
    MOST_DIMS,
    MOST_PAIRS,
    PATCH_COLUMNS,
    PATCH_SIDE,
    ROW_BYTES,
)
from ..tensors import collapsed, copied_to, expanded, padded
from ..walking import made_by
from .edges import bare
from .operands import replace_reads

# Elements of these sizes are multiplied so, and at most so many bytes of channels: of as many as a
# step has rows are as good (40, 48 and 64 channels of 16 bits by 3x3 took 35, 25 and 33 us in
# chunks on an H200, and 63, 36 and 35 in rows).
_BYTES, _MOST_ROW = (2, 4), ROW_BYTES


@dataclass(frozen=True)
class Spatial:
    """A dim of the image along which the window moves, the operand's dims of image and weights.

    Results are `step` apart, places of the window `dilation`: the loops `result` and `place`.
    """

    image: int
    weights: int
    result: int
    place: int
    step: int
    dilation: int


@dataclass(frozen=True)
class Chunks:
    """How a convolution is laid out in chunks of `count` channels, of which there are `number`.

    What the image has besides pixels is one dim if it `is_merged`.
    """

    op: ir.Operation
    channel: int
    count: int
    number: int
    spatial: tuple[Spatial, ...]
    is_merged: bool = False

    @property
    def inner(self) -> Spatial:
        """The innermost dim."""
        return self.spatial[-1]

    @property
    def parts(self) -> int:
        """The remainders that places of the innermost dim have by the step."""
        return self.inner.step

    @property
    def places(self) -> int:
        """The places of the window of each remainder."""
        return -(-loop_extents(self.op)[self.inner.place] // self.parts)

    @property
    def in_chunk(self) -> int:
        """The new loop of the channels of a chunk, where there are several."""
        return loop_count(self.op)

    @property
    def divided(self) -> int:
        """The new loop of places with the same remainder, where there are several remainders."""
        return loop_count(self.op) + (self.number > 1)

    @property
    def loops(self) -> int:
        """How many loops there are then."""
        return self.divided + (self.places > 1 < self.parts)

    @property
    def pairs(self) -> int:
        """The products of a tile's rows, of two chunks each."""
        extents = loop_extents(self.op)
        outer = prod(extents[each.place] for each in self.spatial[:-1])
        return -(-self.number * outer * self.parts * self.places // 2)


def read_chunks(op: ir.Operation, channel: int) -> Chunks | None:
    """Returns how a convolution is laid out; None where no kernel takes it so.

    Channels are few: more are for boxes that have rows of them.
    """
    image, weights = accesses_of(op)[:2]
    kind = ir.RankedTensorType(image.value.type)
    size = element_bytes(kind.element_type)
    if size not in _BYTES or len(set(_elements(op))) != 1:
        return None
    extents, reducing = loop_extents(op), reducing_loops(op)
    if 0 in extents.values():
        return None
    found: list[Spatial] = []
    for dim, each in enumerate(image.index):
        if isinstance(each, int):
            if each in reducing and each != channel:
                return None
            continue
        linear = linear_terms(expression(each))
        if linear is None or linear[0] or len(linear[1]) != 2:
            return None
        (place, dilation), (result, step) = sorted(
            linear[1].items(), key=lambda loop: loop[0] not in reducing
        )
        if place not in reducing or result in reducing or min(dilation, step) < 1:
            return None
        if place not in weights.index:
            return None
        # Along a dim of one place there is nothing to lay out.
        if extents[place] == extents[result] == 1:
            continue
        found.append(Spatial(dim, weights.index.index(place), result, place, step, dilation))
    if not found or prod(extents[each.place] for each in found) == 1:
        return None
    inner = found[-1]
    # Places of a window are divided in steps of one.
    if inner.step > 1 and inner.dilation > 1:
        return None
    # Batch and groups, chunks, and pixels with their channels, of which the innermost have one dim.
    if extents[channel] * size > _MOST_ROW:
        return None
    count = CHUNK_BYTES // size
    number = -(-extents[channel] // count)
    leading = len(image.index) - 1 - len(found) + (number > 1)
    dims = leading + len(found) + (inner.step > 1)
    is_merged = dims > MOST_DIMS
    made = Chunks(op, channel, count, number, tuple(found), is_merged)
    if len(found) == 1 and made.places == 1 < made.parts:
        return None  # It would be a product of matrices.
    if is_merged:
        dims -= leading - 1
    return made if dims <= MOST_DIMS and made.pairs <= MOST_PAIRS else None


def _elements(op: ir.Operation) -> list[ir.Type]:
    return [ir.RankedTensorType(each.value.type).element_type for each in accesses_of(op)[:2]]


def operations(chunks: Chunks) -> int:
    """Returns how many additions and multiplications tensor cores make, those of zeros too."""
    op = chunks.op
    image, weights = accesses_of(op)[:2]
    extents, reducing = loop_extents(op), reducing_loops(op)
    own = [loop for loop in weights.loops if loop not in reducing and loop not in image.loops]
    columns = prod(extents[loop] for loop in own)
    inner = [each.result for each in chunks.spatial[-2:]]
    others = [loop for loop in extents if loop not in (*reducing, *own, *inner)]
    rows = prod(extents[loop] for loop in others)
    sides = [PATCH_SIDE, PATCH_SIDE] if len(inner) > 1 else [PATCH_SIDE * PATCH_SIDE]
    for loop, side in zip(inner, sides, strict=True):
        rows *= -(-extents[loop] // side) * side
    terms = 2 * chunks.pairs * chunks.count
    return 2 * rows * (-(-columns // PATCH_COLUMNS) * PATCH_COLUMNS) * terms


def lay_in_chunks(chunks: Chunks) -> None:
    """Makes the convolution read copies of image and weights in chunks."""
    op = chunks.op
    with op.location, ir.InsertionPoint(op):
        image, weights = accesses_of(op)[:2]
        zero = constant(ir.RankedTensorType(image.value.type).element_type, 0.0)
        new = [_image(chunks, image, zero), _weights(chunks, weights, zero)]
        replace_reads(op, new, chunks.loops)


def _image(chunks: Chunks, image: Access, zero: ir.Value) -> Access:
    """Returns the access to the copy of the image."""
    inner, parts = chunks.inner, chunks.parts
    channel = image.index.index(chunks.channel)
    value, low, high = bare(image.value)
    if low[channel] or high[channel]:
        # Chunks begin with the first of all channels, also of those that are zeros.
        value, low, high = image.value, [0] * len(low), [0] * len(high)
    sizes = list(ir.RankedTensorType(value.type).shape)
    sizes[channel] = chunks.number * chunks.count
    before = 0
    if parts > 1:
        # Padding along what is divided is part of the copy.
        before = low[inner.image]
        sizes[inner.image] = parts * (loop_extents(chunks.op)[inner.result] - 1 + chunks.places)
        low[inner.image] = high[inner.image] = 0
    spatial = [each.image for each in chunks.spatial]
    order = _order(chunks, sizes, channel, spatial, is_divided=parts > 1)
    copy = _copied(value, sizes, order, {inner.image: before}, zero)
    around = [(low[part.dim], high[part.dim]) if part.is_whole else (0, 0) for part in order]
    index = [image.index[part.dim] for part in order]
    if chunks.number > 1:
        index[-1] = chunks.in_chunk
    if parts > 1:
        index[-3] = inner.place
        index[-2] = inner.result
        if chunks.places > 1:
            index[-2] = expression(inner.result) + expression(chunks.divided)
    if chunks.is_merged:
        leading = len(order) - len(spatial) - 1 - (parts > 1)
        copy, index, around = _merged(copy, index, around, leading)
    if any(map(sum, around)):
        kind = ir.RankedTensorType(copy.type)
        wide = [size + sum(each) for size, each in zip(kind.shape, around, strict=True)]
        lows, highs = zip(*around, strict=True)
        wide_kind = ir.RankedTensorType.get(wide, kind.element_type)
        copy = padded(copy, wide_kind, lows, highs, zero)
    return Access(copy, tuple(index))


def _merged(
    copy: ir.Value,
    index: Sequence[Coordinate],
    around: Sequence[tuple[int, int]],
    leading: int,
) -> tuple[ir.Value, list[Coordinate], list[tuple[int, int]]]:
    """Returns a copy whose first dims are one, where they lie along it, and what is around it."""
    if any(map(sum, around[:leading])):
        return copy, list(index), list(around)  # No patches are read of such.
    kind = ir.RankedTensorType(copy.type)
    groups = [list(range(leading)), *([dim] for dim in range(leading, kind.rank))]
    sizes = [prod(kind.shape[dim] for dim in group) for group in groups]
    made = collapsed(copy, ir.RankedTensorType.get(sizes, kind.element_type), groups)
    lengths = [prod(kind.shape[dim + 1 : leading]) for dim in range(leading)]
    parts = [expression(each) * by for each, by in zip(index, lengths, strict=False)]
    at = reduce(ir.AffineExpr.__add__, parts)
    return made, [at, *index[leading:]], [(0, 0), *around[leading:]]


def _weights(chunks: Chunks, weights: Access, zero: ir.Value) -> Access:
    """Returns the access to the copy of the weights."""
    inner, parts = chunks.inner, chunks.parts
    sizes = list(ir.RankedTensorType(weights.value.type).shape)
    channel = weights.index.index(chunks.channel)
    sizes[channel] = chunks.number * chunks.count
    sizes[inner.weights] = parts * chunks.places
    # A dim of size 1 would be left out again.
    is_divided = parts > 1 < chunks.places
    spatial = [each.weights for each in chunks.spatial]
    order = _order(chunks, sizes, channel, spatial, is_divided=is_divided)
    copy = _copied(weights.value, sizes, order, {}, zero)
    index = [weights.index[part.dim] for part in order]
    if chunks.number > 1:
        index[-1] = chunks.in_chunk
    if is_divided:
        index[-3], index[-2] = inner.place, chunks.divided
    return Access(copy, tuple(index))


@dataclass(frozen=True)
class _Part:
    """A dim of a copy: all of a dim of the tensor, or its quotients by `by`, or the remainders."""

    dim: int
    size: int
    by: int = 1
    is_rest: bool = False

    @property
    def is_whole(self) -> bool:
        return self.by == 1


def _order(
    chunks: Chunks,
    sizes: Sequence[int],
    channel: int,
    spatial: Sequence[int],
    *,
    is_divided: bool,
) -> list[_Part]:
    """Returns the dims of a copy of a tensor that is made of these sizes."""
    *outer, inner = spatial
    others = [dim for dim in range(len(sizes)) if dim not in (channel, *spatial)]
    found = [_Part(dim, sizes[dim]) for dim in others]
    count, parts = chunks.count, chunks.parts
    if chunks.number > 1:
        found.append(_Part(channel, chunks.number, count))
    found += [_Part(dim, sizes[dim]) for dim in outer]
    if is_divided:
        found += [
            _Part(inner, parts, parts, is_rest=True),
            _Part(inner, sizes[inner] // parts, parts),
        ]
    else:
        found.append(_Part(inner, sizes[inner]))
    last = _Part(channel, count, count, is_rest=True)
    return [*found, last if chunks.number > 1 else _Part(channel, count)]


def _copied(
    value: ir.Value,
    sizes: Sequence[int],
    order: Sequence[_Part],
    before: Mapping[int, int],
    zero: ir.Value,
) -> ir.Value:
    """Returns a copy of a tensor, of so many elements along its dims, some of which are zeros."""
    kind = ir.RankedTensorType(value.type)
    made = ir.RankedTensorType.get([part.size for part in order], kind.element_type)
    empty = ir.Operation.create("tensor.empty", results=[made]).results[0]
    if list(kind.shape) != list(sizes) or any(before.values()):
        return each_place(empty, lambda: _element(value, sizes, order, before, zero))
    split = sorted(order, key=lambda part: (part.dim, part.is_rest))
    if len(split) > kind.rank:
        numbers = [
            [number for number, part in enumerate(split) if part.dim == dim]
            for dim in range(kind.rank)
        ]
        shape = [part.size for part in split]
        value = expanded(value, ir.RankedTensorType.get(shape, kind.element_type), numbers)
    return copied_to(empty, value, [split.index(part) for part in order])


def _element(
    value: ir.Value,
    sizes: Sequence[int],
    order: Sequence[_Part],
    before: Mapping[int, int],
    zero: ir.Value,
) -> ir.Value:
    """Emits an element of a copy: that of the tensor, or zero where this has none."""
    places: list[ir.Value] = []
    conditions: list[ir.Value] = []
    for dim, size in enumerate(ir.RankedTensorType(value.type).shape):
        place: ir.Value | None = None
        for loop, part in enumerate(order):
            if part.dim != dim:
                continue
            own = loop_index(loop)
            if not part.is_rest and part.by > 1:
                own = arith.muli(own, index_constant(part.by))
            place = own if place is None else arith.addi(place, own)
        assert place is not None
        if before.get(dim):
            place = arith.subi(place, index_constant(before[dim]))
        if before.get(dim) or sizes[dim] > size:
            conditions.append(arith.cmpi(arith.CmpIPredicate.ult, place, index_constant(size)))
        places.append(place)
    value, places = _moved_from(value, places)
    if not conditions:
        return ir.Operation.create(
            "tensor.extract", results=[zero.type], operands=[value, *places]
        ).results[0]
    return element_or(reduce(arith.andi, conditions), value, places, zero)


def _moved_from(value: ir.Value, places: list[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
    """Returns where an element was before dims were reordered and parts taken: no copy that does
    so is made for it.
    """
    transpose = made_by(value, "linalg.transpose")
    if transpose is not None:
        order = list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))
        moved = [places[order.index(dim)] for dim in range(len(order))]
        return _moved_from(transpose.operands[0], moved)
    part = made_by(value, "tensor.extract_slice")
    if part is None or len(part.operands) != 1:
        return value, places
    source = ir.RankedTensorType(part.operands[0].type)
    if source.rank != len(places):
        return value, places
    starts, steps = (
        ir.DenseI64ArrayAttr(part.attributes[f"static_{name}"]) for name in ("offsets", "strides")
    )
    moved = list[ir.Value]()
    for place, start, step in zip(places, starts, steps, strict=True):
        at = place if step == 1 else arith.muli(place, index_constant(step))
        moved.append(at if start == 0 else arith.addi(at, index_constant(start)))
    return _moved_from(part.operands[0], moved)
