"""Products that compute their factors where they read them, such as weights of 8 bits.

Written to memory first, a factor is written and read once in 16 bits, by a kernel of its own.
Computed in tiles it is computed again for each tile of the other factor.
"""

from __future__ import annotations

from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ..fusion.access import Access, zero
from ..products.contraction import may_be_product, read_contraction
from ..products.product import NO_LOOP, Indexed, LoopKind, Product
from ..schedules.device import Device
from ..schedules.elements import element_bytes
from .producers import MOST_STEPS, Producers, read_producers

# Marks a product that is to be one operation with what makes its factors: has which.
COMPUTED = "hir.computed_factors"

_ELEMENTS = ("bf16", "f16")
_LEAST_CAPABILITY = 80
# How many neighbouring terms or columns a thread computes at once.
_UNIT = 8
# Sums of fewer products are for other kernels.
_LEAST_PRODUCTS = 1 << 22
# What an open number of rows is taken to be: of many a kernel of their own computes factors, which
# is known at run time.
_OPEN_ROWS = 64
# Fewer rows have kernels of their own.
_FEW_ROWS = 16
# The rows and columns of the largest tile.
_MOST = (256, 128)
# What a kernel of its own takes beside what it moves, and computing factors beside a product, in
# seconds.
_LAUNCH, _BEGIN = 2e-6, 1.5e-6
# The parts of the memory's bandwidth, and of the tensor cores' rate, that kernels reach in tiles
# that threads compute, and that others do: as times on an H200 say of 16 to 512 rows, 4096 terms,
# and 4096 and 11008 columns.
_COMPUTED_BANDWIDTH, _BANDWIDTH, _COMPUTED_SHARE, _SHARE = 0.7, 0.8, 0.45, 0.75
# The instructions of a conversion and a store beside those of the region, and those that a
# multiprocessor ends in a second beside its other work.
_MORE_INSTRUCTIONS, _INSTRUCTIONS = 2, 1e11


def computed_in_place(op: ir.Operation, product: Product, device: Device) -> tuple[int, ...]:
    """Returns which factors of a product a kernel is to compute, in less time than others take:
    0 is the first, 1 the second.
    """
    if not _has_kernels(device):
        return ()
    loops = range(product.loops)
    kinds = {product.kind(at) for at in loops if product.size(at) == DYNAMIC}
    if len(kinds) > 1 or LoopKind.BATCH in map(product.kind, loops):
        return ()
    if product.first.element not in _ELEMENTS or product.first.element != product.second.element:
        return ()
    if prod(_sizes(product)) <= _LEAST_PRODUCTS or _sizes(product)[2] % _UNIT:
        return ()
    factors = {number: _access(each) for number, each in enumerate(product.inputs[:2])}
    found = read_producers(op, factors, [product.size(at) for at in loops])
    if found is None:
        return ()
    able = [
        number
        for number in found.factors
        if found.has_units(number, _UNIT) and not found.finishes(number)
    ]
    # A small factor alone is as well made before: its tiles are many, and the library may multiply.
    rows, columns, _ = _sizes(product)
    large = 0 if rows > columns else 1
    choices: list[tuple[int, ...]] = [()]
    if large in able:
        choices += [(large,), (0, 1)] if len(able) > 1 else [(large,)]
    return min(choices, key=lambda computed: _seconds(product, found, device, computed))


def makes_factor(op: ir.Operation, device: Device) -> bool:
    """Returns whether equal parts, put together, are made a factor of a product of few rows, which
    nothing else needs, and which a kernel may compute.
    """
    if (
        not _has_kernels(device)
        or len({tuple(ir.RankedTensorType(each.type).shape) for each in op.operands}) > 1
    ):
        return False
    value = op.results[0]
    for _ in range(MOST_STEPS):
        users = {use.owner.operation for use in value.uses}
        if len(users) != 1:
            return False
        (user,) = users
        if may_be_product(user) and (product := read_contraction(user)) is not None:
            return _has_few_rows(product, value)
        if not _is_elementwise(user):
            return False
        value = user.results[0]
    return False


def _has_kernels(device: Device) -> bool:
    return not device.is_amd and device.capability >= _LEAST_CAPABILITY


def _is_elementwise(op: ir.Operation) -> bool:
    if op.name == "linalg.generic":
        return len(op.results) == 1 and "reduction" not in str(op.attributes["iterator_types"])
    return op.name in ("linalg.transpose", "tensor.expand_shape", "tensor.collapse_shape")


def _has_few_rows(product: Product, value: ir.Value) -> bool:
    """Returns whether a factor is multiplied by few rows, or an open number of them."""
    if product.first.element not in _ELEMENTS or value not in (
        product.first.value,
        product.second.value,
    ):
        return False
    rows, columns, _ = _sizes(product)
    return _FEW_ROWS < (columns if value == product.first.value else rows) <= _MOST[0]


def _access(operand: Indexed) -> Access:
    return Access(operand.value, tuple(zero() if at == NO_LOOP else at for at in operand.dims))


def _sizes(product: Product) -> tuple[int, int, int]:
    """Returns the rows, columns and terms; of rows of open number some."""

    def size(at: int) -> int:
        return _OPEN_ROWS if product.size(at) == DYNAMIC else product.size(at)

    rows, columns, terms = (
        prod(size(at) for at in range(product.loops) if product.kind(at) == kind)
        for kind in (LoopKind.M, LoopKind.N, LoopKind.K)
    )
    return rows, columns, terms


def _products(product: Product, device: Device, share: float) -> float:
    """Returns the seconds of tensor cores that reach a share of their rate."""
    return 2 * prod(_sizes(product)) / (device.products * share)


def _seconds(
    product: Product, found: Producers, device: Device, computed: tuple[int, ...]
) -> float:
    """Returns how long a kernel takes that computes some factors, and one for each other factor
    before it.
    """
    rows, columns, terms = _sizes(product)
    tiles = _tiles(product)
    seconds, bytes_, instructions = 0.0, 0.0, 0.0
    for number, own in enumerate((rows, columns)):
        if number in computed:
            bytes_ += _bytes(found, number)
            each = found.operations(number) + _MORE_INSTRUCTIONS
            instructions += own * terms * each * tiles[number]
            continue
        bytes_ += own * terms * 2
        if number in found.factors:
            seconds += _making(found, number, own * terms, device)
    if not computed:
        read = bytes_ / (device.bandwidth * _BANDWIDTH)
        return seconds + max(read, _products(product, device, _SHARE))
    moved = bytes_ / (device.bandwidth * _COMPUTED_BANDWIDTH)
    made = instructions / (device.multiprocessors * _INSTRUCTIONS)
    return seconds + _BEGIN + max(moved, made) + _products(product, device, _COMPUTED_SHARE)


def _tiles(product: Product) -> tuple[int, int]:
    """Returns how many tiles compute each factor: those of the other one's rows or columns.

    Neighbours in the result are columns.
    """
    rows, columns, _ = _sizes(product)
    inner = next((at for at in reversed(product.result.dims) if at != NO_LOOP), NO_LOOP)
    is_turned = inner != NO_LOOP and product.kind(inner) == LoopKind.M
    down, across = _MOST if not is_turned else reversed(_MOST)
    return -(-columns // across), -(-rows // down)


def _making(found: Producers, number: int, elements: int, device: Device) -> float:
    """Returns how long kernels of their own take that write a factor."""
    bandwidth = device.bandwidth * _BANDWIDTH
    seconds = _LAUNCH + (_bytes(found, number) + 2 * elements) / bandwidth
    # Parts are written and read, and so is what they are put together to.
    return seconds + found.choices(number) * 2 * (_LAUNCH + 2 * elements / bandwidth)


def _bytes(found: Producers, number: int) -> int:
    return sum(element_bytes(kind) * count for kind, count in found.elements(number))
