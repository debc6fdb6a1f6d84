"""Convolutions and products whose terms lie apart, on copies in which they lie together.

Tensor cores then read several terms at a time; warpgroups require it, except of elements of 16
bits. The terms of a convolution are channels. The copies are transposes of tensors before these are
padded or spread out among zeros: fusion makes them part of the operations that compute the tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access, Coordinate, reassociation
from ..fusion.fills import filled_with
from ..fusion.generic import accesses_of, inputs_of, loop_count, reducing_loops
from ..schedules.elements import element_bytes
from ..tensors import fill, padded

# The width of copies to shared memory.
_TOGETHER_BYTES = 16
# Seconds on an H200: what a product takes longer where elements pass through registers one by one,
# what a copy takes for each byte, and what another kernel takes.
_SAVED, _COPIED, _KERNEL = 6e-15, 0.6e-12, 3e-6
# As _SAVED for elements of 8 bits, which ordinary cores would multiply, at their peak.
_SAVED_OF_BYTES = 1.7e-14


@dataclass(frozen=True)
class _Operand:
    """An operand of a convolution, and the order of its dims in which channels are last."""

    number: int
    access: Access
    order: tuple[int, ...]

    @property
    def is_last(self) -> bool:
        """Whether channels are last already."""
        return self.order == tuple(range(len(self.order)))


def lay_channels_together(op: ir.Operation) -> None:
    """Makes a convolution or product, a linalg.generic, read transposed copies of its operands.

    The copies have channels or terms last. Does nothing where they take longer than they save.
    """
    reads = accesses_of(op)[: len(inputs_of(op))]
    channel = _channel(op, reads)
    if channel is None:
        return
    image, weights = (
        _Operand(number, read, _order(op, number, channel)) for number, read in enumerate(reads)
    )
    copied = [each for each in (image, weights) if not each.is_last]
    if not copied or not _pays(op, copied):
        return
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    with op.location, ir.InsertionPoint(op):
        for each in copied:
            op.operands[each.number] = _permuted(each.access.value, each.order)
            index = tuple(each.access.index[dim] for dim in each.order)
            map_ = Access(each.access.value, index).map(loop_count(op))
            maps[each.number] = ir.AffineMapAttr.get(map_)
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)


def _channel(op: ir.Operation, reads: Sequence[Access]) -> int | None:
    """Returns the loop of the channels: summed over, a dim of both operands, and of a suitable
    size.
    """
    kinds = [ir.RankedTensorType(read.value.type) for read in reads]
    if not all(kind.has_static_shape for kind in kinds):
        return None
    first, second = (set(read.loops) for read in reads)
    both = [loop for loop in reducing_loops(op) if loop in first and loop in second]
    if len(both) != 1 or any(not isinstance(each, int) for each in reads[1].index):
        return None
    size = kinds[1].shape[reads[1].index.index(both[0])]
    return both[0] if size and size * _bytes(reads[1]) % _TOGETHER_BYTES == 0 else None


def _bytes(read: Access) -> int:
    return element_bytes(ir.RankedTensorType(read.value.type).element_type)


def _order(op: ir.Operation, number: int, channel: int) -> tuple[int, ...]:
    """Returns the dims by what they are: windows and their places, an image's groups, channels."""
    image, weights = accesses_of(op)[:2]
    reducing = set(reducing_loops(op))
    is_product = all(isinstance(each, int) for each in image.index)

    def key(each: Coordinate) -> int:
        if each == channel:
            return 3
        if is_product:
            return 0
        if not isinstance(each, int) or each in reducing:
            return 1
        return 2 if number == 0 and each in weights.loops else 0

    index = (image, weights)[number].index
    return tuple(sorted(range(len(index)), key=lambda dim: (key(index[dim]), dim)))


def _pays(op: ir.Operation, copied: Sequence[_Operand]) -> bool:
    """Returns whether the product takes so much less time that copies are worth theirs."""
    result = ir.RankedTensorType(op.results[0].type).shape
    weights = accesses_of(op)[1]
    shape = ir.RankedTensorType(weights.value.type).shape
    terms = prod(
        size for loop, size in zip(weights.index, shape, strict=True) if loop in reducing_loops(op)
    )
    bytes_ = sum(prod(_source_shape(each.access.value)) * _bytes(each.access) for each in copied)
    saved = _SAVED_OF_BYTES if _bytes(weights) == 1 else _SAVED
    return saved * 2 * prod(result) * terms > _COPIED * bytes_ + _KERNEL * len(copied)


def _source_shape(value: ir.Value) -> Sequence[int]:
    mover = _mover(value)
    if mover is None:
        return ir.RankedTensorType(value.type).shape
    return _source_shape(mover.operands[0])


def _mover(value: ir.Value) -> ir.Operation | None:
    """Returns what makes a tensor by moving its first operand's elements, if a copy may do so."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name not in ("tensor.expand_shape", "tensor.pad", "tensor.insert_slice"):
        return None
    source = ir.RankedTensorType(op.operands[0].type)
    if not source.has_static_shape:
        return None
    if op.name == "tensor.expand_shape":
        return op
    if op.name == "tensor.pad":
        return op if len(op.operands) == 1 else None
    is_filled = len(op.operands) == 2 and filled_with(op.operands[1]) is not None
    return op if is_filled and source.rank == ir.RankedTensorType(value.type).rank else None


def _permuted(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """Returns a tensor with its dims in another order, made as `value` is of a transposed copy."""
    kind = ir.RankedTensorType(value.type)
    made = ir.RankedTensorType.get([kind.shape[dim] for dim in order], kind.element_type)
    op = _mover(value)
    if op is None:
        return _transposed(value, made, order)
    source = op.operands[0]
    if op.name == "tensor.pad":
        return _padded(op, _permuted(source, order), made, order)
    if op.name == "tensor.insert_slice":
        return _inserted(op, _permuted(source, order), made, order)
    groups = reassociation(op)
    sources = _group_order(groups, order)
    if sources is None:
        return _transposed(value, made, order)
    sizes, first = [], 0
    for group in sources:
        count = len(groups[group])
        sizes.append(_numbers(range(first, first + count)))
        first += count
    return ir.Operation.create(
        "tensor.expand_shape",
        results=[made],
        operands=[_permuted(source, sources)],
        attributes={
            "reassociation": ir.ArrayAttr.get(sizes),
            "static_output_shape": ir.DenseI64ArrayAttr.get(list(made.shape)),
        },
    ).results[0]


def _group_order(groups: Sequence[Sequence[int]], order: Sequence[int]) -> list[int] | None:
    """Returns the order of groups of dims in which the dims have theirs; None where one is torn
    apart.
    """
    owner = {dim: number for number, group in enumerate(groups) for dim in group}
    sources = list(dict.fromkeys(owner[dim] for dim in order))
    return sources if [dim for each in sources for dim in groups[each]] == list(order) else None


def _numbers(values: Sequence[int]) -> ir.ArrayAttr:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.IntegerAttr.get(i64, each) for each in values])


def _transposed(value: ir.Value, kind: ir.RankedTensorType, order: Sequence[int]) -> ir.Value:
    rank = kind.rank
    maps = [
        ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(order.index(dim)) for dim in range(rank)]),
        ir.AffineMap.get_identity(rank),
    ]
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    op = ir.Operation.create(
        "linalg.generic",
        results=[kind],
        operands=[value, _empty(kind)],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
            "iterator_types": ir.ArrayAttr.get([parallel] * rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
        },
        regions=1,
    )
    _yield_first(op, [kind.element_type] * 2)
    return op.results[0]


def _yield_first(op: ir.Operation, kinds: Sequence[ir.Type]) -> None:
    """Gives an operation a region that yields its first argument."""
    block = op.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])


def _empty(kind: ir.Type) -> ir.Value:
    return ir.Operation.create("tensor.empty", results=[kind]).results[0]


def _padded(
    op: ir.Operation, source: ir.Value, kind: ir.RankedTensorType, order: Sequence[int]
) -> ir.Value:
    low, high = (_reordered(op, name, order) for name in ("static_low", "static_high"))
    zero = list(op.regions[0].blocks[0])[-1].operation.operands[0]
    return padded(source, kind, low, high, zero)


def _inserted(
    op: ir.Operation, source: ir.Value, kind: ir.RankedTensorType, order: Sequence[int]
) -> ir.Value:
    filling = filled_with(op.operands[1])
    assert filling is not None
    zeros = fill(filling, _empty(kind))
    places = {
        name: ir.DenseI64ArrayAttr.get(_reordered(op, name, order))
        for name in ("static_offsets", "static_sizes", "static_strides")
    }
    return ir.Operation.create(
        "tensor.insert_slice",
        results=[kind],
        operands=[source, zeros],
        attributes={**places, "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, 0, 0])},
    ).results[0]


def _reordered(op: ir.Operation, name: str, order: Sequence[int]) -> list[int]:
    numbers = list(ir.DenseI64ArrayAttr(op.attributes[name]))
    return [numbers[dim] for dim in order]
