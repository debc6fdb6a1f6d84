"""Division of many f32 numbers by one: its reciprocal is computed once."""

from __future__ import annotations

from ...dialects.mlir import arith, ir, math
from ..rewriting import constant

# Divisors outside of this range are scaled into it: their reciprocals would overflow, or lose bits.
_SMALLEST, _GREATEST = 2.0**-120, 2.0**120
_SCALE = 2.0**64


class Divisor:
    """A divisor that is known before the numbers that it divides."""

    def __init__(self, value: ir.Value) -> None:
        one, scale = constant(value.type, 1.0), constant(value.type, _SCALE)
        size = math.absf(value)
        is_small = arith.cmpf(arith.CmpFPredicate.OLT, size, constant(value.type, _SMALLEST))
        is_great = arith.cmpf(arith.CmpFPredicate.OGT, size, constant(value.type, _GREATEST))
        down = arith.select(is_great, constant(value.type, 1 / _SCALE), one)
        self._scale = arith.select(is_small, scale, down)
        self._value = arith.mulf(value, self._scale)
        self._reciprocal = arith.divf(one, self._value)

    def divide(self, number: ir.Value) -> ir.Value:
        """The quotient, rounded as by a division where it is a normal number.

        (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
        1990.) What is left of infinities and zeros is no number: the product is right then.
        """
        scaled = arith.mulf(number, self._scale)
        first = arith.mulf(scaled, self._reciprocal)
        left = math.fma(arith.negf(first), self._value, scaled)
        better = math.fma(left, self._reciprocal, first)
        is_number = arith.cmpf(arith.CmpFPredicate.ORD, better, better)
        return arith.select(is_number, better, first)

    def divide_roughly(self, number: ir.Value) -> ir.Value:
        """The quotient, wrong by less than two units in the last place."""
        return arith.mulf(arith.mulf(number, self._scale), self._reciprocal)


def may_be_rough(value: ir.Value) -> bool:
    """Whether little is lost by an error of two units in the last place of a f32 value.

    So it is where it is rounded further, or goes into the error function, which changes relatively
    less than what it is of.
    """
    return is_rounded_further(value) or all(
        use.owner.operation.name == "math.erf" for use in value.uses
    )


def is_rounded_further(value: ir.Value) -> bool:
    """Whether all that uses a f32 value rounds it to 16 bits or fewer."""
    users = [use.owner.operation for use in value.uses]
    return all(
        user.name == "arith.truncf" and ir.FloatType(user.results[0].type).width <= 16
        for user in users
    )
