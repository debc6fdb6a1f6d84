"""f64 to f32 so that rounding the result to fewer bits is as rounding the f64 itself."""

from __future__ import annotations

from ..dialects.mlir import arith, ir, math
from .rewriting import constant, like


def round_to_odd(value: ir.Value) -> ir.Value:
    """Returns an f64, or a vector of them, cut towards zero, the last bit set where something was
    cut off.

    S. Boldo and G. Melquiond, "When double rounding is odd" (2005).
    """
    f32 = like(value.type, ir.F32Type.get())
    i32 = like(value.type, ir.IntegerType.get_signless(32))
    size = math.absf(value)
    nearest = arith.truncf(f32, size)
    back = arith.extf(value.type, nearest)
    above = arith.cmpf(arith.CmpFPredicate.OGT, back, size)
    inexact = arith.cmpf(arith.CmpFPredicate.ONE, back, size)
    bits = arith.bitcast(i32, nearest)
    cut = arith.select(above, arith.subi(bits, constant(i32, 1)), bits)
    odd = arith.select(inexact, arith.ori(cut, constant(i32, 1)), cut)
    return math.copysign(arith.bitcast(f32, odd), arith.truncf(f32, value))
