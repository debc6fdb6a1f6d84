"""The indices of an iteration by its number, in divisions of 32 bits where that is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, ir
from ..rewriting import index_constant
from .index_division import divided
from .parameters import Parameters
from .space import Loop


def split_number(
    number: ir.Value,
    loops: Sequence[Loop],
    parameters: Parameters,
    pieces: int = 1,
    *,
    is_narrow: bool = True,
) -> list[ir.Value]:
    """The index in each loop of an iteration by its number, which is below 2^31 if it `is_narrow`.

    The innermost extent is the loop's over `pieces`, which divides it.
    """
    places: list[ir.Value] = []
    rest = number
    for loop in reversed(loops[1:]):
        parts = pieces if loop is loops[-1] else 1
        if is_narrow:
            rest, within = divided(rest, loop.extent, parts, parameters)
        else:
            extent = arith.divui(parameters.size(loop.extent), index_constant(parts))
            rest, within = arith.divui(rest, extent), arith.remui(rest, extent)
        places.insert(0, within)
    return [rest, *places]


def narrow(
    operation: Callable[[ir.Value, ir.Value], ir.Value], number: ir.Value, by: ir.Value
) -> ir.Value:
    """A division in 32 bits, of numbers that fit."""
    i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    left, right = arith.index_castui(i32, number), arith.index_castui(i32, by)
    return arith.index_castui(index, operation(left, right))
