"""Operations whose first operand is a float."""

# Operands are arrays, as many as an operation has.
# pyright: reportUnknownLambdaType=false
from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np

from .numbers import (
    F16,
    F64,
    FLOATS,
    I1,
    I16,
    I32,
    INTEGERS,
    Array,
    Element,
    Numbers,
    compute,
    decide,
    known,
)
from .operation import Operation, select


def _half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0.0), x)


_EXACT_FLOAT: dict[str, Callable[..., Array]] = {
    "arith.negf {0} : {r}": np.negative,
    "math.absf {0} : {r}": np.abs,
    "math.floor {0} : {r}": np.floor,
    "math.ceil {0} : {r}": np.ceil,
    "math.trunc {0} : {r}": np.trunc,
    "math.roundeven {0} : {r}": np.rint,
    "math.round {0} : {r}": _half_away,
    "math.copysign {0}, {1} : {r}": np.copysign,
}
_EXTREMES: dict[str, Callable[..., Array]] = {
    "arith.maximumf {0}, {1} : {r}": np.maximum,
    "arith.minimumf {0}, {1} : {r}": np.minimum,
    "arith.maxnumf {0}, {1} : {r}": np.fmax,
    "arith.minnumf {0}, {1} : {r}": np.fmin,
}
_ROUNDED: dict[str, Callable[..., Array]] = {
    "arith.addf {0}, {1} : {r}": np.add,
    "arith.subf {0}, {1} : {r}": np.subtract,
    "arith.mulf {0}, {1} : {r}": np.multiply,
}
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": lambda x: np.asarray(np.vectorize(math.erf, otypes=[float])(x)),
    "erfc": lambda x: np.asarray(np.vectorize(math.erfc, otypes=[float])(x)),
}
# How far a function of math may be off, in steps.
_ACCURACY = 12.0
_COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "oeq": np.equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": np.not_equal,
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
}
# These ask whether two numbers are equal, which may be so within the range of their errors alone.
_OF_EQUALS = ("oeq", "one", "ueq", "une")


def draw_float(random: Random, have: Element) -> Operation:
    choice = random.random()
    if choice < 0.05:
        text, apply = random.choice(list(_EXTREMES.items()))
        return Operation(text, (have,) * 2, have, lambda xs: _extreme(have, text, apply, xs))
    if choice < 0.15:
        text, apply = random.choice(list(_EXACT_FLOAT.items()))
        count = text.count("{0}") + text.count("{1}")
        return Operation(text, (have,) * count, have, lambda xs: _exact(have, apply, xs))
    if choice < 0.45:
        text, apply = random.choice(list(_ROUNDED.items()))
        return Operation(text, (have,) * 2, have, lambda xs: _arithmetic(have, apply, xs))
    if choice < 0.5:
        return Operation(
            "arith.divf {0}, {1} : {r}", (have,) * 2, have, lambda xs: divide(have, xs)
        )
    if choice < 0.53:
        return Operation(
            "math.fma {0}, {1}, {2} : {r}", (have,) * 3, have, lambda xs: _fma(have, xs)
        )
    if choice < 0.7:
        return _draw_function(random, have)
    if choice < 0.8:
        name, compare = random.choice(list(_COMPARED.items()))
        return Operation(
            f"arith.cmpf {name}, {{0}}, {{1}} : {{t0}}",
            (have,) * 2,
            I1,
            lambda xs: _compared(name, compare, xs),
        )
    if choice < 0.86:
        return select(have)
    if choice < 0.88 and have is not F64:
        return _bits(have)
    if choice < 0.94:
        other = random.choice([each for each in FLOATS if each is not have])
        return convert_float(have, other)
    return _to_integer(random, have)


def _exact(have: Element, apply: Callable[..., Array], xs: list[Numbers]) -> Numbers:
    """Returns what is not rounded. A number that takes the sign of a nan may have either."""
    result = compute(have, apply, xs, steps=0.0)
    if apply is not np.copysign:
        return result
    either = np.isnan(xs[1].value) & ~np.isnan(result.value)
    return Numbers(result.value, np.where(either, np.inf, result.error))


def _extreme(have: Element, text: str, apply: Callable[..., Array], xs: list[Numbers]) -> Numbers:
    """Returns the greater or lesser of two.

    Of two zeros, maximumf and minimumf take -0 for the lesser; for the others, either may be given.
    """
    result = compute(have, apply, xs, steps=0.0)
    one, other = (each.value for each in xs)
    zeros = (one == 0) & (other == 0) & (np.signbit(one) != np.signbit(other))
    if "imumf" in text:
        sign = 0.0 if "maximumf" in text else -0.0
        return Numbers(np.where(zeros, sign, result.value), result.error)
    return Numbers(result.value, np.where(zeros, np.maximum(result.error, have.tiny), result.error))


def _arithmetic(have: Element, apply: Callable[..., Array], xs: list[Numbers]) -> Numbers:
    result = compute(have, apply, xs)
    if have.name != "f64":
        return result
    # Sums and products of whole numbers are whole: nothing is rounded.
    whole = (xs[0].value == np.rint(xs[0].value)) & (xs[1].value == np.rint(xs[1].value))
    small = np.abs(result.value) < 2.0**50
    is_exact = whole & small & (xs[0].error == 0) & (xs[1].error == 0)
    return Numbers(result.value, np.where(is_exact & known(result), 0.0, result.error))


def _compared(name: str, compare: Callable[[Array, Array], Array], xs: list[Numbers]) -> Numbers:
    result = decide(compare, xs, np.bool_)
    if name not in _OF_EQUALS:
        return result
    errors = xs[0].error + xs[1].error
    with np.errstate(invalid="ignore"):
        apart = np.abs(xs[0].value - xs[1].value)
    unsure = (errors > 0) & (apart <= errors)
    return Numbers(result.value, np.where(unsure, np.inf, result.error))


def divide(have: Element, xs: list[Numbers]) -> Numbers:
    """Returns a quotient; what a divisor near zero gives is not known."""
    result = compute(have, np.divide, xs, steps=2.0)
    below, value = xs[1].error, xs[1].value
    unsure = (np.abs(value) <= below) & (below > 0)
    return Numbers(result.value, np.where(unsure, np.inf, result.error))


def _fma(have: Element, xs: list[Numbers]) -> Numbers:
    result = compute(have, lambda a, b, c: a * b + c, xs, steps=2.0)
    if have is not F64:
        return result
    # numpy rounds the product, of which the sum may be a small part.
    rounded = np.abs(xs[0].value * xs[1].value) * have.step
    rounded = np.where(np.isfinite(rounded) & np.isfinite(result.value), rounded, 0.0)
    return Numbers(result.value, result.error + rounded)


def _draw_function(random: Random, have: Element) -> Operation:
    choice = random.random()
    if choice < 0.1:
        name, apply = random.choice([("sin", np.sin), ("cos", np.cos)])

        def wave(xs: list[Numbers]) -> Numbers:
            return compute(
                have, apply, xs, _ACCURACY, lambda value, error: np.minimum(error, 2) + 0 * value
            )

        return Operation(f"math.{name} {{0}} : {{r}}", (have,), have, wave)
    if choice < 0.15:

        def power(xs: list[Numbers]) -> Numbers:
            result = compute(have, np.power, xs, _ACCURACY * 4)
            # At a base that may be of either sign, or an exponent that may be whole, it jumps.
            unsure = (xs[0].error > 0) & (xs[0].value <= xs[0].error)
            unsure = unsure | ((xs[1].error > 0) & (xs[0].value <= 0))
            return Numbers(result.value, np.where(unsure, np.inf, result.error))

        return Operation("math.powf {0}, {1} : {r}", (have,) * 2, have, power)
    name, apply = random.choice(list(_FUNCTIONS.items()))
    steps = 1.0 if name == "sqrt" else _ACCURACY
    return Operation(
        f"math.{name} {{0}} : {{r}}", (have,), have, lambda xs: compute(have, apply, xs, steps)
    )


def convert_float(have: Element, other: Element) -> Operation:
    """Returns the conversion of one float type to another; of equal width, by way of f32."""
    if have.bits == other.bits:
        text = "arith.extf {0} : {t0} to {f32} ; arith.truncf {m} : {f32} to {r}"
    else:
        text = f"arith.{'extf' if other.bits > have.bits else 'truncf'} {{0}} : {{t0}} to {{r}}"
    steps = 0.0 if other.bits > have.bits else 1.0
    # bf16's range is f32's, and f16 is all within f32.
    return Operation(text, (have,), other, lambda xs: compute(other, lambda x: x, xs, steps))


def _bits(have: Element) -> Operation:
    """Returns the bits as an integer; those of nans and zeros depend on how they were computed."""
    other = I32 if have.bits == 32 else I16

    def read(xs: list[Numbers]) -> Numbers:
        value, error = xs[0]
        if have is F16:
            bits = value.astype(np.float16).view(np.int16)
        else:
            bits = value.astype(np.float32).view(np.int32) >> (32 - have.bits)
        is_known = (error == 0) & ~np.isnan(value) & (value != 0)
        return Numbers(
            np.where(is_known, bits, 0).astype(other.dtype), np.where(is_known, 0.0, np.inf)
        )

    return Operation("arith.bitcast {0} : {t0} to {r}", (have,), other, read)


def _to_integer(random: Random, have: Element) -> Operation:
    """Returns a conversion of what was clamped to the integer's range, a nan to its highest."""
    other = random.choice(INTEGERS)
    sign = random.random() < 0.7
    bits = other.bits - 1 if sign else other.bits
    # A float of every type, and its value an integer of the type.
    high = min(2.0**bits - 2.0 ** max(bits - 7, 0), 2.0**15)
    low = -high if sign else 0.0
    name = "fptosi" if sign else "fptoui"
    text = (
        f"arith.minnumf {{0}}, {{={high!r}}} : {{t0}} ; "
        f"arith.maxnumf {{m}}, {{={low!r}}} : {{t0}} ; "
        f"arith.{name} {{m}} : {{t0}} to {{r}}"
    )

    def convert(x: Array) -> Array:
        whole = np.trunc(np.fmax(np.fmin(x, high), low))
        return whole.astype(np.int64)

    return Operation(text, (have,), other, lambda xs: decide(convert, xs, other.dtype))
