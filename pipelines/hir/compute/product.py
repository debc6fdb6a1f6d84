"""Matrix products: the loops of the result's dims, and one over k that adds up."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from .accumulator import Accumulator
from .broadcast import Indexed, Repeats, index_operand
from .casts import resize
from .elements import load
from .generic import emit_generic, map_of
from .operand import Operand


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
            _factor(value, indexed.operand, sums)
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


def _factor(stored: ir.Value, operand: Operand, sums: Accumulator) -> ir.Value:
    number = load(stored, operand.element)
    if sums.element.is_float:
        return number
    return resize(number, operand.element, sums.element)
