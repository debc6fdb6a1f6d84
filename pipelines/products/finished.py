"""Products of 16 bits whose kernel also does what follows, where the library's call could not.

What follows would be a pass over the result of its own. Warpgroups multiply about as fast as the
library where there are tiles for all multiprocessors.
"""

from __future__ import annotations

from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ..fusion.generic import GENERIC, accesses_of, inputs_of, loop_count, reducing_loops
from ..fusion.normalize import is_normal
from ..schedules.device import Device
from .product import Indexed, LoopKind, Product

# Marks a product for hirc's kernel, with the operation that reads it.
FINISHED = "hir.finished_product"

_ELEMENTS = ("bf16", "f16")
# The copy engine moves rows whose strides are multiples of 16 bytes.
_ALIGNED = 8
_COLLAPSE = "tensor.collapse_shape"


def is_finished_in_kernel(op: ir.Operation, product: Product, device: Device) -> bool:
    """Returns whether hirc's kernel takes less time than the library and a pass after it.

    `op` is a product on tensors that the library would compute without the operation that alone
    reads the result.
    """
    if not device.has_warpgroup_products or product.first.element not in _ELEMENTS:
        return False
    if product.bias is not None or product.activation or not _has_reader(op):
        return False
    sizes = [product.size(loop) for loop in range(product.loops)]
    kinds = [product.kind(loop) for loop in range(product.loops)]
    if DYNAMIC in sizes or LoopKind.BATCH in kinds:
        return False
    if not all(map(_is_aligned, (product.first, product.second, product.result))):
        return False
    table = device.tables.finished_products
    results, terms = (
        prod(size for size, kind in zip(sizes, kinds, strict=True) if (kind == LoopKind.K) == is_k)
        for is_k in (False, True)
    )
    tiles = results / table.tile
    return tiles >= table.least_tiles * device.multiprocessors and terms >= table.least_terms


def _is_aligned(operand: Indexed) -> bool:
    kind = operand.value.type
    return (
        isinstance(kind, ir.RankedTensorType) and bool(kind.rank) and not kind.shape[-1] % _ALIGNED
    )


def _has_reader(op: ir.Operation) -> bool:
    """Returns whether one elementwise operation alone reads the result, element by element.

    What else it reads has fewer dims: threads would read the elements of a result's neighbours that
    tensor cores leave them one by one.
    """
    uses = [use.owner.operation for use in op.results[0].uses]
    value = op.results[0]
    if len(uses) == 1 and uses[0].name == _COLLAPSE:
        value = uses[0].results[0]
        uses = [use.owner.operation for use in value.uses]
    readers = list(dict.fromkeys(uses))
    if len(readers) != 1 or readers[0].name != GENERIC or readers[0].block != op.block:
        return False
    (reader,) = readers
    if not is_normal(reader) or reducing_loops(reader):
        return False
    loops = set(range(loop_count(reader)))
    reads = accesses_of(reader)[: len(inputs_of(reader))]
    whole = [each for each in reads if set(each.loops) == loops]
    return len(whole) == 1 and whole[0].value == value
