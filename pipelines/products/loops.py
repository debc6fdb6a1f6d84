"""Matrix products: the loops of the result's dims, and one over k that adds up.

Small ones are one operation; else there are those that fill, add up, and finish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, ir
from ..fusion.tiles import TILES
from ..generics import Mapped, emit_generic, map_of, reduce_over
from ..hir.compute.accumulator import Accumulator
from ..hir.compute.broadcast import Indexed, Repeats, index_operand
from ..hir.compute.casts import resize
from ..hir.compute.elements import load, store
from ..hir.compute.operand import Operand
from . import product as products
from .options import KERNEL_MULTIPLICATIONS
from .small import is_empty, is_for_kernel

_WORD_BYTES = 4


def is_one_operation(result: Operand, x: Indexed, y: Indexed) -> bool:
    """Returns whether one kernel is to compute all of a product; its sums are not kept in memory
    then.
    """

    def indexed(operand: Indexed) -> products.Indexed:
        dims = [
            products.NO_LOOP if size == 1 and axis < operand.exact else loop
            for axis, (size, loop) in enumerate(
                zip(operand.operand.shape, operand.loops, strict=True)
            )
        ]
        return products.Indexed(operand.operand.stored, tuple(dims))

    places = tuple(range(len(result.shape)))
    product = products.Product(indexed(x), indexed(y), products.Indexed(result.stored, places))
    if is_empty(product):
        return False
    is_small = is_for_kernel(product, KERNEL_MULTIPLICATIONS) is True
    return is_small or _multiplies_bytes(result, x, y)


def _multiplies_bytes(result: Operand, x: Indexed, y: Indexed) -> bool:
    """Returns whether elements have 8 bits: tensor cores extend and multiply them in one."""
    is_float = result.element.is_float
    return (is_float or result.element.bytes == _WORD_BYTES) and all(
        each.operand.element.bytes == 1 and each.operand.element.is_float == is_float
        for each in (x, y)
    )


def emit_sum(
    result: Operand,
    operands: tuple[Indexed, Indexed],
    repeats: Repeats,
    addends: Sequence[Mapped] = (),
    finish: Callable[..., ir.Value] | None = None,
) -> None:
    """Sums of the products of the operands' elements, finished and rounded, as one operation.

    The last loop is that of k. `finish` takes a sum and elements of the addends.
    """
    rank = len(result.shape)
    loops = rank + 1
    is_float = result.element.is_float

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        *stored, _ = arguments
        first, second = (
            _factor(value, indexed.operand, result)
            for value, indexed in zip(stored[:2], operands, strict=True)
        )
        term = arith.mulf(first, second) if is_float else arith.muli(first, second)
        total = reduce_over([rank], "addf" if is_float else "addi", term)
        if finish is not None:
            total = finish(total, *stored[2:])
        return [store(total, result.element) if is_float else total]

    inputs = [index_operand(indexed, result, loops, repeats) for indexed in operands]
    output = (result.stored, map_of(loops, range(rank)))
    work = emit_generic(loops, (rank,), [*inputs, *addends], [output], body)
    if _multiplies_bytes(result, *operands):
        work.attributes[TILES] = ir.UnitAttr.get()


def emit_product(sums: Accumulator, x: Indexed, y: Indexed, repeats: Repeats) -> None:
    """Adds the products of the operands' elements to the accumulator.

    The last loop is that of k.
    """
    rank = sums.rank
    loops = rank + 1
    operands = (x, y)

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        *stored, so_far = arguments
        first, second = (
            _factor(value, indexed.operand, sums.result)
            for value, indexed in zip(stored, operands, strict=True)
        )
        if sums.element.is_float:
            # One rounding or two: as the device does it faster.
            contract = ir.Attribute.parse("#arith.fastmath<contract>")
            term = arith.mulf(first, second, fastmath=contract)
            return [arith.addf(so_far, term, fastmath=contract)]
        return [arith.addi(so_far, arith.muli(first, second))]

    inputs = [index_operand(indexed, sums.result, loops, repeats) for indexed in operands]
    emit_generic(loops, (rank,), inputs, [(sums.buffer, map_of(loops, range(rank)))], body)


def _factor(stored: ir.Value, operand: Operand, result: Operand) -> ir.Value:
    number = load(stored, operand.element)
    if result.element.is_float:
        return number
    return resize(number, operand.element, result.element)
