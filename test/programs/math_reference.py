"""Exact results of the math dialect's operations, and the float formats they round to.

A result is a Python float where it is exact as one (zeros, infinities, NaN, integers), else an
mpmath number of enough digits to round from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import MPContext

# An mpmath number: the package has no types.
Real = Any

# Digits enough to round from; everything below computes in this context.
mp: Any = MPContext()
mp.prec = 320

_HUGE = mp.mpf(2) ** 5000
_TINY = mp.mpf(2) ** -5000


@dataclass(frozen=True)
class Format:
    """A binary interchange format: its width and the bits of its stored significand."""

    name: str
    width: int
    stored: int

    @property
    def bias(self) -> int:
        return (1 << (self.width - self.stored - 2)) - 1

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.stored

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)

    def decode(self, bits: int) -> float:
        """The number that `bits` stand for; every format here fits a Python float."""
        sign = -1.0 if bits & self.sign_bit else 1.0
        magnitude = bits & (self.sign_bit - 1)
        exponent, significand = divmod(magnitude, 1 << self.stored)
        if magnitude >= self.infinity:
            return math.copysign(math.inf if magnitude == self.infinity else math.nan, sign)
        if exponent:
            significand += 1 << self.stored
        scale = max(exponent, 1) - self.bias - self.stored
        return sign * math.ldexp(significand, scale)

    def encode(self, value: float | Real) -> int:
        """The bits of `value` rounded to nearest, ties to even."""
        if isinstance(value, float) and not math.isfinite(value):
            return self.infinity + 1 if math.isnan(value) else self._signed(value, self.infinity)
        if value == 0:
            return self._signed(math.copysign(1.0, float(value)), 0)
        # mpmath's own abs would round to its working precision.
        exact = abs(_fraction(value))
        exponent = max(_floor_log2(exact), 1 - self.bias)
        units = _round_half_even(exact / Fraction(2) ** (exponent - self.stored))
        # A significand that rounds up to a power of two carries into the exponent by itself.
        magnitude = units + ((exponent + self.bias - 1) << self.stored)
        return self._signed(value, min(magnitude, self.infinity))

    def order(self, bits: int) -> int:
        """Consecutive numbers for consecutive values; both zeros have number 0."""
        magnitude = bits & (self.sign_bit - 1)
        return -magnitude if bits & self.sign_bit else magnitude

    def _signed(self, value: float | Real, magnitude: int) -> int:
        return magnitude | (self.sign_bit if value < 0 else 0)


F16, BF16 = Format("f16", 16, 10), Format("bf16", 16, 7)
F32, F64 = Format("f32", 32, 23), Format("f64", 64, 52)


def _fraction(value: float | Real) -> Fraction:
    if isinstance(value, float | int):
        return Fraction(value)
    sign, significand, exponent, _ = value._mpf_
    return Fraction(-significand if sign else significand) * Fraction(2) ** exponent


def _floor_log2(value: Fraction) -> int:
    estimate = value.numerator.bit_length() - value.denominator.bit_length()
    return estimate if Fraction(2) ** estimate <= value else estimate - 1


def _round_half_even(value: Fraction) -> int:
    return round(value)


def unary(name: str, x: float) -> float | Real:
    """The result of `math.name` on one float."""
    if math.isnan(x):
        return math.nan
    exact = _EXACT_UNARY.get(name)
    if exact is not None:
        return exact(x)
    if x == 0.0 and name in _ODD:
        return x
    if x in (0.0, 1.0, -1.0) or math.isinf(x):
        special = _SPECIAL.get(name, {}).get(x)
        if special is not None:
            return special
    if not _in_domain(name, x):
        return math.nan
    if math.isinf(x):
        return _AT_INFINITY[name](x)
    # Near zero most functions lose to cancellation what these digits give back.
    with mp.workprec(2600 if abs(x) < 2.0**-100 else mp.prec):
        return _clamped(name, mp.mpf(x))


def binary(name: str, x: float, y: float) -> float | Real:
    """The result of `math.name` or `arith.name` on two floats."""
    return _BINARY[name](x, y)


def fma(x: float, y: float, z: float) -> float | Real:
    """x * y + z, rounded by nobody."""
    if any(map(math.isnan, (x, y, z))):
        return math.nan
    if math.isinf(x) or math.isinf(y):
        if 0.0 in (x, y):
            return math.nan
        product = math.copysign(math.inf, x) * math.copysign(1.0, y)
        return math.nan if z == -product else product
    if math.isinf(z):
        return z
    total = Fraction(x) * Fraction(y) + Fraction(z)
    if total == 0:
        negative = math.copysign(1.0, x) * math.copysign(1.0, y) < 0
        both = 0.0 in (x, y) and negative and math.copysign(1.0, z) < 0
        return -0.0 if both else 0.0
    with mp.workprec(5000):
        return mp.mpf(total.numerator) / mp.mpf(total.denominator)


def clamp(x: float, low: float, high: float) -> float | Real:
    """`math.clampf`: NaN stays NaN."""
    return _maximum(_minimum(x, high), low)


def power_of_integer(x: float, exponent: int) -> float | Real:
    """`math.fpowi`: x to an integer of any size."""
    if exponent == 0:
        return 1.0
    if math.isnan(x):
        return x
    sign = math.copysign(1.0, x) if exponent % 2 else 1.0
    magnitude = abs(x)
    if magnitude in (0.0, 1.0, math.inf):
        if magnitude == 1.0:
            return sign
        grows = (magnitude > 1.0) == (exponent > 0)
        return sign * (math.inf if grows else 0.0)
    return sign * _power(magnitude, exponent)


def integer_unary(name: str, value: int, width: int) -> int:
    """`math.name` on an integer given as unsigned bits."""
    mask = (1 << width) - 1
    if name == "absi":
        return (-value & mask) if value >> (width - 1) else value
    if name == "ctpop":
        return value.bit_count()
    if name == "ctlz":
        return width - value.bit_length()
    return width if value == 0 else (value & -value).bit_length() - 1


def integer_power(base: int, exponent: int, width: int) -> int:
    """`math.ipowi` on signed integers that wrap, rounded towards zero; unsigned bits."""
    mask = (1 << width) - 1
    if exponent >= 0:
        return pow(base, exponent, 1 << width)
    if base in (1, -1):
        return (base if exponent % 2 else 1) & mask
    return 0


def _clamped(name: str, x: Real) -> Real:
    """The function's value, cut off far beyond every format's range."""
    if name in ("exp", "exp2", "expm1", "sinh", "cosh") and abs(x) > 2000:
        if name == "cosh" or (x > 0):
            return _HUGE
        return {"sinh": -_HUGE, "expm1": -1 + _TINY}.get(name, _TINY)
    if name in ("erf", "erfc") and abs(x) > 200:
        if name == "erf":
            return mp.sign(x)
        return _TINY if x > 0 else mp.mpf(2)
    return _FUNCTIONS[name](x)


def _cube_root(x: Real) -> Real:
    return mp.sign(x) * mp.cbrt(abs(x))


_FUNCTIONS: dict[str, Callable[[Real], Real]] = {
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan": mp.atan,
    "atanh": mp.atanh,
    "cbrt": _cube_root,
    "cos": mp.cos,
    "cosh": mp.cosh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1,
    "log": mp.log,
    "log10": mp.log10,
    "log1p": mp.log1p,
    "log2": lambda x: mp.log(x, 2),
    "sin": mp.sin,
    "sinh": mp.sinh,
    "sqrt": mp.sqrt,
    "tan": mp.tan,
    "tanh": mp.tanh,
}

_ODD = {
    *("asin", "asinh", "atan", "atanh", "cbrt", "erf", "expm1"),
    *("log1p", "sin", "sinh", "sqrt", "tan", "tanh"),
}

# Results that are exact, or poles, by the argument; arguments compare without their sign of zero.
_SPECIAL: dict[str, dict[float, float]] = {
    "acos": {1.0: 0.0},
    "acosh": {1.0: 0.0, math.inf: math.inf},
    "atanh": {1.0: math.inf, -1.0: -math.inf},
    "cos": {0.0: 1.0},
    "cosh": {0.0: 1.0, math.inf: math.inf, -math.inf: math.inf},
    "erfc": {0.0: 1.0, math.inf: 0.0, -math.inf: 2.0},
    "exp": {0.0: 1.0, math.inf: math.inf, -math.inf: 0.0},
    "exp2": {0.0: 1.0, math.inf: math.inf, -math.inf: 0.0},
    "log": {0.0: -math.inf, 1.0: 0.0, math.inf: math.inf},
    "log10": {0.0: -math.inf, 1.0: 0.0, math.inf: math.inf},
    "log2": {0.0: -math.inf, 1.0: 0.0, math.inf: math.inf},
    "log1p": {-1.0: -math.inf, math.inf: math.inf},
    "expm1": {-math.inf: -1.0, math.inf: math.inf},
    "sqrt": {math.inf: math.inf},
}

_AT_INFINITY: dict[str, Callable[[float], float | Real]] = {
    "asinh": lambda x: x,
    "atan": lambda x: math.copysign(1.0, x) * mp.pi / 2,
    "cbrt": lambda x: x,
    "erf": lambda x: math.copysign(1.0, x),
    "sinh": lambda x: x,
    "tanh": lambda x: math.copysign(1.0, x),
}


def _in_domain(name: str, x: float) -> bool:
    match name:
        case "acos" | "asin" | "atanh":
            return -1.0 <= x <= 1.0
        case "acosh":
            return x >= 1.0
        case "log" | "log2" | "log10" | "sqrt":
            return x >= 0.0
        case "log1p":
            return x >= -1.0
        case "sin" | "cos" | "tan":
            return math.isfinite(x)
        case _:
            return True


def _integral(rounding: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: x if math.isinf(x) else math.copysign(float(rounding(x)), x)


def _half_away(x: float) -> int:
    whole = math.floor(abs(x))
    return whole + (abs(x) - whole >= 0.5)


def _reciprocal_root(x: float) -> float | Real:
    if x == 0.0:
        return math.copysign(math.inf, x)
    if x < 0.0 or math.isinf(x):
        return math.nan if x < 0.0 else 0.0
    return 1 / mp.sqrt(mp.mpf(x))


_EXACT_UNARY: dict[str, Callable[[float], float | Real]] = {
    "absf": abs,
    "ceil": _integral(math.ceil),
    "floor": _integral(math.floor),
    "round": _integral(_half_away),
    "roundeven": _integral(round),
    "rsqrt": _reciprocal_root,
    "trunc": _integral(math.trunc),
}


def _arc_tangent(y: float, x: float) -> float | Real:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if 0.0 in (x, y) or math.isinf(x) or math.isinf(y):
        eighths = round(math.atan2(y, x) / (math.pi / 4))
        return eighths * mp.pi / 4 if eighths else math.copysign(0.0, y)
    with mp.workprec(2600):
        return mp.atan2(mp.mpf(y), mp.mpf(x))


def _raise(x: float, y: float) -> float | Real:
    if y == 0.0 or x == 1.0:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if math.isinf(y):
        if abs(x) == 1.0:
            return 1.0
        return math.inf if (abs(x) > 1.0) == (y > 0.0) else 0.0
    if y.is_integer():
        return power_of_integer(x, int(y))
    if x == 0.0 or math.isinf(x):
        return math.inf if (x == 0.0) == (y < 0.0) else 0.0
    return math.nan if x < 0.0 else _power(x, y)


def _power(x: float, y: float) -> Real:
    doublings = mp.mpf(y) * mp.log(mp.mpf(x), 2)
    if abs(doublings) > 4000:
        return _HUGE if doublings > 0 else _TINY
    return mp.power(2, doublings)


def _minimum(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return min(x, y, key=lambda value: (value, math.copysign(1.0, value)))


def _maximum(x: float, y: float) -> float:
    return -_minimum(-x, -y)


def _number_or(other: Callable[[float, float], float]) -> Callable[[float, float], float]:
    def result(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return y if math.isnan(x) else x
        return other(x, y)

    return result


def _quotient(x: float, y: float) -> float | Real:
    sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    if math.isnan(x) or math.isnan(y) or (x == y == 0.0) or (math.isinf(x) and math.isinf(y)):
        return math.nan
    if math.isinf(x) or y == 0.0:
        return sign * math.inf
    if x == 0.0 or math.isinf(y):
        return sign * 0.0
    with mp.workprec(5000):
        return mp.mpf(x) / mp.mpf(y)


def _remainder(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0.0:
        return math.nan
    return math.fmod(x, y)


_BINARY: dict[str, Callable[[float, float], float | Real]] = {
    "atan2": _arc_tangent,
    "copysign": math.copysign,
    "divf": _quotient,
    "maximumf": _maximum,
    "maxnumf": _number_or(_maximum),
    "minimumf": _minimum,
    "minnumf": _number_or(_minimum),
    "powf": _raise,
    "remf": _remainder,
}
