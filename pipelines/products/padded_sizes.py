"""Products of 16-bit elements whose rows are no whole 16 bytes, in sizes that are.

For those the library has one slow kernel, which it chooses by the sizes, whatever the strides. So
operands are padded, and what is computed of the padding is left out of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import prod

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import indexing_maps, ir
from ...dialects.records import dataclass
from ..generics import each_of
from ..rewriting import constant
from ..schedules.device import Device
from ..tensors import open_sizes, padded
from .contraction import read_contraction
from .product import Indexed, LoopKind, Product, indexed_by
from .wide_weights import may_widen, part_of, widened

# Elements of 16 bits in a row are a multiple of it: of 16 bytes.
MULTIPLE = 8
# Operations a second, as parts of those that the chip's data sheet has: of the kernels for odd
# sizes, for even ones, and for multiples. On an H200, a bf16 product of 4096 x 4096 x 4096 takes
# 175 us, with 4095 rows or terms 1000 to 1400, with 4094 or 4092 505 to 550; 8192 x 768 x 50257
# takes 6710, 50264 900.
ODD, EVEN, WHOLE = 0.1, 0.26, 0.7
# The least rows that the kernels for other sizes compute: 16 x 768 x 50257 takes 104 us, not 24.
LEAST_ROWS = 64
# What a kernel takes in a stream full of calls of an H200, in seconds.
LAUNCH = 3e-6
# What a size that is open is taken to be.
OPEN_SIZE = 1024


@dataclass(frozen=True)
class _Operand:
    """A tensor that a product reads or writes, and the dims that become larger."""

    tensor: Indexed
    axes: dict[int, int]
    is_summed: bool

    @property
    def kind(self) -> ir.RankedTensorType:
        """The type with the larger dims."""
        kind = ir.RankedTensorType(self.tensor.value.type)
        sizes = [self.axes.get(axis, size) for axis, size in enumerate(kind.shape)]
        return ir.RankedTensorType.get(sizes, kind.element_type)

    @property
    def is_in_place(self) -> bool:
        """Whether it needs no copy: nothing is larger, or memory that may be read follows it.

        What is summed is padded with zeros, and that memory holds anything.
        """
        return not self.axes or (not self.is_summed and may_widen(self.tensor.value, self.axes))


def pad_sizes(op: ir.Operation, product: Product, device: Device) -> None:
    """Pads the sizes of a product on tensors that the library computes, where that is faster."""
    sizes = {} if product.accumulates else _larger_sizes(product)
    tensors = [
        indexed_by(value, map_) for value, map_ in zip(op.operands, indexing_maps(op), strict=True)
    ]
    if not sizes or None in tensors:
        return
    operands = [_operand(each, product, sizes) for each in tensors if each is not None]
    *inputs, result = operands
    copied = [each.tensor for each in inputs if not each.is_in_place]
    others = [use for use in op.results[0].uses if not _reads_by_strides(use)]
    if result.axes and others:
        copied.append(result.tensor)
    cost = sum(LAUNCH + 2 * _bytes(each) / device.bandwidth for each in copied)
    if cost < _saved(product, sizes, device):
        _rebuild(op, inputs, result, others)


def _larger_sizes(product: Product) -> dict[int, int]:
    """Returns the loops along rows that are no multiples, and what they become."""
    found: dict[int, int] = {}
    if product.first.element not in ("f16", "bf16"):
        return found
    for each in product.matrices:
        row = _row(product, each)
        # What is open is taken for one: rows are multiples anyway where the others are.
        known = prod(size for _, size in row if size != DYNAMIC)
        if not row or known % MULTIPLE == 0:
            continue
        loop, size = row[0]
        if len(row) > 1 or size == DYNAMIC:
            return {}
        found[loop] = -(-size // MULTIPLE) * MULTIPLE
    return found


def _row(product: Product, operand: Indexed) -> list[tuple[int, int]]:
    """Returns the last loops, of one kind, and their sizes, which are a row; none where it is all
    of it.
    """
    places = [
        (loop, size)
        for loop, size in zip(operand.dims, operand.type.shape, strict=True)
        if size != 1
    ]
    kinds = [product.kind(loop) for loop, _ in places]
    count = len(list(takewhile(lambda kind: kind == kinds[-1], reversed(kinds))))
    return [] if count == len(places) else places[len(places) - count :]


def _operand(tensor: Indexed, product: Product, sizes: dict[int, int]) -> _Operand:
    axes = {axis: sizes[loop] for axis, loop in enumerate(tensor.dims) if loop in sizes}
    is_summed = any(product.kind(tensor.dims[axis]) == LoopKind.K for axis in axes)
    return _Operand(tensor, axes, is_summed)


def _saved(product: Product, larger: dict[int, int], device: Device) -> float:
    """Returns the seconds that the library takes less."""
    sizes = [product.size(loop) for loop in range(product.loops)]
    sizes = [OPEN_SIZE if size == DYNAMIC else size for size in sizes]
    of_kind = {
        kind: prod(size for loop, size in enumerate(sizes) if product.kind(loop) == kind)
        for kind in (LoopKind.M, LoopKind.N, LoopKind.K, LoopKind.BATCH)
    }
    operations = 2 * prod(of_kind.values())
    rows = [max(of_kind[kind], LEAST_ROWS) for kind in (LoopKind.M, LoopKind.N)]
    slow = 2 * prod(rows) * of_kind[LoopKind.K] * of_kind[LoopKind.BATCH]
    part = ODD if any(product.size(loop) % 2 for loop in larger) else EVEN
    least = sum(map(_bytes, product.matrices)) / device.bandwidth
    return max(slow / (part * device.products), least) - max(
        operations / (WHOLE * device.products), least
    )


def _bytes(tensor: Indexed) -> int:
    sizes = [OPEN_SIZE if size == DYNAMIC else size for size in tensor.type.shape]
    return prod(sizes) * ELEMENT_TYPES[tensor.element].bytes


def _reads_by_strides(use: ir.OpOperand) -> bool:
    """Returns whether a tensor is read by its strides, whichever they are, without a copy."""
    op = use.owner.operation
    if op.name in ("tensor.extract_slice", "tensor.expand_shape"):
        return all(map(_reads_by_strides, op.results[0].uses))
    if op.name == "tensor.dim":
        return True
    if not op.name.startswith("linalg.") or use.operand_number >= len(op.operands) - len(
        op.results
    ):
        return False
    product = read_contraction(op)
    return product is None or all(
        len(_row(product, each)) <= 1
        for each in product.matrices
        if each.value == op.operands[use.operand_number]
    )


def _rebuild(
    op: ir.Operation, inputs: Sequence[_Operand], result: _Operand, others: list[ir.OpOperand]
) -> None:
    """Puts the product of padded operands in the operation's place.

    `others` are the readers of the result that are given a copy without padding.
    """
    old = list(op.operands)[-1]
    with op.location, ir.InsertionPoint(op):
        values = [_padded(each) for each in inputs]
        sizes = open_sizes(old)
        values.append(ir.Operation.create("tensor.empty", [result.kind], sizes).results[0])
        made = ir.Operation.create(
            op.name,
            results=[result.kind],
            operands=values,
            attributes={name: op.attributes[name] for name in op.attributes},
            regions=1,
        )
        op.regions[0].blocks[0].append_to(made.regions[0])
        part = made.results[0]
        if result.axes:
            part = part_of(part, ir.RankedTensorType(op.results[0].type), open_sizes(old))
            if others:
                (copy,) = each_of([part], [result.kind.element_type], lambda given: given[:1], old)
                for use in others:
                    use.owner.operation.operands[use.operand_number] = copy
    op.results[0].replace_all_uses_with(part)
    op.erase()


def _padded(operand: _Operand) -> ir.Value:
    value = operand.tensor.value
    if not operand.axes:
        return value
    if operand.is_in_place:
        return widened(value, operand.kind)
    kind = operand.kind
    shape = ir.RankedTensorType(value.type).shape
    high = [operand.axes.get(axis, size) - size for axis, size in enumerate(shape)]
    return padded(value, kind, [0] * kind.rank, high, constant(kind.element_type, 0.0))
