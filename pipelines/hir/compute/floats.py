"""What the kinds compute with floats, in f32 or f64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import pi, sqrt

from ....dialects.mlir import arith, ir, math
from ...rewriting import constant

Emitter = Callable[..., ir.Value]


def _compare(predicate: arith.CmpFPredicate, x: ir.Value, y: ir.Value) -> ir.Value:
    return arith.cmpf(predicate, x, y)


def _like(x: ir.Value, number: float) -> ir.Value:
    return constant(x.type, number)


def is_nan(x: ir.Value) -> ir.Value:
    """Returns whether a float is nan."""
    return _compare(arith.CmpFPredicate.UNO, x, x)


def _sign(x: ir.Value) -> ir.Value:
    zero = _like(x, 0.0)
    rest = arith.select(is_nan(x), x, zero)
    is_below = _compare(arith.CmpFPredicate.OLT, x, zero)
    is_above = _compare(arith.CmpFPredicate.OGT, x, zero)
    below = arith.select(is_below, _like(x, -1.0), rest)
    return arith.select(is_above, _like(x, 1.0), below)


def _reciprocal(x: ir.Value) -> ir.Value:
    return arith.divf(_like(x, 1.0), x)


def _sigmoid(x: ir.Value) -> ir.Value:
    return _reciprocal(arith.addf(_like(x, 1.0), math.exp(arith.negf(x))))


def _silu(x: ir.Value) -> ir.Value:
    return arith.mulf(x, _sigmoid(x))


def _relu(x: ir.Value) -> ir.Value:
    return arith.maximumf(x, _like(x, 0.0))


def _gelu(x: ir.Value) -> ir.Value:
    inner = math.erf(arith.mulf(x, _like(x, 1 / sqrt(2))))
    return _half_times(x, inner)


def _gelu_tanh(x: ir.Value) -> ir.Value:
    cube = arith.mulf(arith.mulf(x, x), x)
    sum_ = arith.addf(x, arith.mulf(_like(x, 0.044715), cube))
    return _half_times(x, math.tanh(arith.mulf(_like(x, sqrt(2 / pi)), sum_)))


def _half_times(x: ir.Value, inner: ir.Value) -> ir.Value:
    """x/2 * (1 + inner)."""
    return arith.mulf(arith.mulf(x, _like(x, 0.5)), arith.addf(_like(x, 1.0), inner))


def _remainder(x: ir.Value, y: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Returns the remainder of x / y cut towards zero, exact; and whether it and y have different
    signs.
    """
    zero = _like(x, 0.0)
    rest = arith.remf(x, y)
    signs = [_compare(arith.CmpFPredicate.OLT, value, zero) for value in (rest, y)]
    some = _compare(arith.CmpFPredicate.UNE, rest, zero)
    return rest, arith.andi(some, arith.xori(*signs))


def _mod(x: ir.Value, y: ir.Value) -> ir.Value:
    rest, differs = _remainder(x, y)
    return arith.select(differs, arith.addf(rest, y), rest)


def _floordiv(x: ir.Value, y: ir.Value) -> ir.Value:
    """From the exact remainder: the rounded quotient may be the whole number above."""
    rest, differs = _remainder(x, y)
    zero, one = _like(x, 0.0), _like(x, 1.0)
    exact = arith.divf(arith.subf(x, rest), y)
    quotient = arith.select(differs, arith.subf(exact, one), exact)
    below = math.floor(quotient)
    is_less = _compare(arith.CmpFPredicate.OGT, arith.subf(quotient, below), _like(x, 0.5))
    nearest = arith.select(is_less, arith.addf(below, one), below)
    whole = arith.divf(x, y)
    is_zero = _compare(arith.CmpFPredicate.OEQ, quotient, zero)
    result = arith.select(is_zero, math.copysign(zero, whole), nearest)
    return arith.select(_compare(arith.CmpFPredicate.OEQ, y, zero), whole, result)


def _clamp(x: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
    return arith.minimumf(arith.maximumf(x, low), high)


_P = arith.CmpFPredicate

FLOATS: dict[str, Emitter] = {
    "neg": arith.negf,
    "abs": math.absf,
    "sign": _sign,
    "exp": math.exp,
    "exp2": math.exp2,
    "log": math.log,
    "log2": math.log2,
    "log1p": math.log1p,
    "expm1": math.expm1,
    "sqrt": math.sqrt,
    "rsqrt": math.rsqrt,
    "reciprocal": _reciprocal,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "relu": _relu,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": math.roundeven,
    "trunc": math.trunc,
    "isnan": is_nan,
    "add": arith.addf,
    "sub": arith.subf,
    "mul": arith.mulf,
    "div": arith.divf,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": math.powf,
    "atan2": math.atan2,
    "min": arith.minimumf,
    "max": arith.maximumf,
    "fmin": arith.minnumf,
    "fmax": arith.maxnumf,
    "eq": partial(_compare, _P.OEQ),
    "ne": partial(_compare, _P.UNE),
    "lt": partial(_compare, _P.OLT),
    "le": partial(_compare, _P.OLE),
    "gt": partial(_compare, _P.OGT),
    "ge": partial(_compare, _P.OGE),
    "fma": math.fma,
    "clamp": _clamp,
}
