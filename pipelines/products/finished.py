"""Products of 16 bits whose kernel also does what follows, in less time than the library.

What the library's call cannot include would be a pass over the result of its own; and an addend
makes the call take longer, though the kernel reads it while it multiplies. Warpgroups multiply
about as fast as the library where tiles fill the chip.
"""

from __future__ import annotations

from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ..fusion.access import Access
from ..fusion.generic import GENERIC, accesses_of, inputs_of, loop_count, reducing_loops
from ..fusion.normalize import is_normal
from ..fusion.statistics import readers_of, reduces_results
from ..schedules.device import Device
from ..schedules.elements import element_bytes
from .fused import Following
from .product import Indexed, LoopKind, Product

# Marks a product for hirc's kernel, with the operation that reads it.
FINISHED = "hir.finished_product"

_ELEMENTS = ("bf16", "f16")
# The copy engine moves rows whose strides are multiples of 16 bytes.
_ALIGNED = 8
# The bits of elements that it brings for each result.
_WIDTHS = (16, 32)
_EXPAND, _COLLAPSE = "tensor.expand_shape", "tensor.collapse_shape"


def is_finished_in_kernel(
    op: ir.Operation,
    product: Product,
    following: Following | None,
    device: Device,
    *,
    allow_tf32: bool = False,
) -> bool:
    """Returns whether hirc's kernel takes less time than the library.

    `op` is a product on tensors, of which the library would compute `following` in its call; or,
    without that, not the operation that alone reads the result. With `allow_tf32` elements of f32
    may be rounded.
    """
    addend = None if following is None else following.product.addend
    reduced = _bytes_of_statistics(op if following is None else following.op)
    if following is not None and addend is None and not reduced:
        return False
    # The model is fitted to products of 16 bits: those of f32 are to save a pass at least.
    is_rounded = allow_tf32 and product.first.element == "f32" and bool(reduced)
    if is_rounded and not all(_is_along_terms(product, each) for each in _factors(product)):
        return False
    if not device.has_warpgroup_products:
        return False
    if not is_rounded and product.first.element not in _ELEMENTS:
        return False
    if product.bias is not None or product.activation:
        return False
    loops = range(product.loops)
    if any(product.size(at) == DYNAMIC or product.kind(at) == LoopKind.BATCH for at in loops):
        return False
    if not all(map(_is_aligned, (product.first, product.second, product.result))):
        return False
    rows, columns, terms = (
        prod(product.size(at) for at in loops if product.kind(at) == kind)
        for kind in (LoopKind.M, LoopKind.N, LoopKind.K)
    )
    table = device.tables.finished_products
    more = reduced / table.pass_bytes
    if addend is not None:
        more += _bytes_of(addend.value) / table.addend_bytes
    elif not reduced:
        more = _bytes_of_pass(op) / table.pass_bytes
    if not more or terms < table.least_terms:
        return False
    # Imported late: programs without such products do not wait for it.
    from ..schedules.contraction.warpgroups import product_cycles, tensor_core_cycles

    # Tensor cores multiply tf32 at half the rate.
    terms *= 2 if is_rounded else 1
    library = tensor_core_cycles(rows, columns, terms, device) / table.library_share
    library += more * rows * columns / device.multiprocessors
    return product_cycles(rows, columns, terms, device) <= library


def _factors(product: Product) -> tuple[Indexed, Indexed]:
    return product.first, product.second


def _is_along_terms(product: Product, factor: Indexed) -> bool:
    """Returns whether terms are neighbours in a factor's memory: so warpgroups take f32."""
    return product.kind(factor.dims[-1]) == LoopKind.K


def _bytes_of(tensor: ir.Value) -> int:
    """Returns the bytes of a tensor's element."""
    return element_bytes(ir.RankedTensorType(tensor.type).element_type)


def _is_aligned(operand: Indexed) -> bool:
    kind = operand.value.type
    return (
        isinstance(kind, ir.RankedTensorType) and bool(kind.rank) and not kind.shape[-1] % _ALIGNED
    )


def _bytes_of_pass(op: ir.Operation) -> int:
    """Returns what one elementwise operation that alone reads the result moves for each element.

    It is 0 where there is none that the kernel could include. What else it reads has fewer dims, or
    lies as the result does: threads would read one by one the elements of neighbours that tensor
    cores leave them.
    """
    uses = [use.owner.operation for use in op.results[0].uses]
    value = op.results[0]
    if len(uses) == 1 and uses[0].name == _COLLAPSE:
        value = uses[0].results[0]
        uses = [use.owner.operation for use in value.uses]
    readers = list(dict.fromkeys(uses))
    if len(readers) != 1 or readers[0].name != GENERIC or readers[0].block != op.block:
        return 0
    (reader,) = readers
    if not is_normal(reader) or reducing_loops(reader):
        return 0
    loops = set(range(loop_count(reader)))
    accesses = accesses_of(reader)
    reads = accesses[: len(inputs_of(reader))]
    whole = [each for each in reads if set(each.loops) == loops]
    own = [each for each in whole if each.value == value]
    if len(own) != 1:
        return 0
    if not all(
        each is own[0] or (each.loops == own[0].loops and _may_be_brought(each)) for each in whole
    ):
        return 0
    return sum(_bytes_of(each.value) for each in (*whole, *accesses[len(reads) :]))


def _bytes_of_statistics(op: ir.Operation) -> int:
    """Returns what one that reduces results moves for each of them; 0 where there is none.

    It may reduce them through a reshape (contractions/statistics.py).
    """
    view = op
    readers = readers_of(view)
    if len(readers) == 1 and readers[0].name in (_EXPAND, _COLLAPSE):
        (view,) = readers
        readers = readers_of(view)
    if not readers or not reduces_results(view, readers[0]):
        return 0
    loops = set(range(loop_count(readers[0])))
    whole = [each for each in accesses_of(readers[0]) if set(each.loops) == loops]
    return sum(_bytes_of(each.value) for each in whole)


def _is_finished(value: ir.Value) -> bool:
    """Returns whether a value is a product that a kernel finishes: with what reads it."""
    return not isinstance(value.owner, ir.Block) and FINISHED in value.owner.operation.attributes


def _may_be_brought(read: Access) -> bool:
    """Returns whether the copy engine may bring what is read for each result."""
    kind = ir.RankedTensorType(read.value.type)
    element = kind.element_type
    is_known = isinstance(element, ir.FloatType) and element.width in _WIDTHS
    return is_known and not kind.shape[-1] % _ALIGNED and not _is_finished(read.value)
