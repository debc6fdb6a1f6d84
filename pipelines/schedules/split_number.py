"""The indices of an iteration by its number, in divisions of 32 bits where that is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, ir
from .parameters import Parameters
from .space import Loop


def split_number(
    number: ir.Value,
    loops: Sequence[Loop],
    parameters: Parameters,
    inner: ir.Value | None = None,
    *,
    is_narrow: bool = True,
) -> list[ir.Value]:
    """The index in each loop of an iteration by its number, which fits 32 bits if it `is_narrow`.

    `inner` is the innermost extent where it is not the loop's own.
    """
    divide = narrow if is_narrow else _wide
    places: list[ir.Value] = []
    rest = number
    for loop in reversed(loops[1:]):
        is_last = loop is loops[-1]
        extent = inner if is_last and inner is not None else parameters.size(loop.extent)
        places.insert(0, divide(arith.remui, rest, extent))
        rest = divide(arith.divui, rest, extent)
    return [rest, *places]


def narrow(
    operation: Callable[[ir.Value, ir.Value], ir.Value], number: ir.Value, by: ir.Value
) -> ir.Value:
    """A division in 32 bits, of numbers that fit."""
    i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    left, right = arith.index_castui(i32, number), arith.index_castui(i32, by)
    return arith.index_castui(index, operation(left, right))


def _wide(
    operation: Callable[[ir.Value, ir.Value], ir.Value], number: ir.Value, by: ir.Value
) -> ir.Value:
    return operation(number, by)
