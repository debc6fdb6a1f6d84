"""Rounding of exact values, as IEEE 754 defines it, for the library's results to be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Format:
    """A binary format: bits of the significand, and the least and greatest normal exponents."""

    precision: int
    least: int
    most: int

    @property
    def largest(self) -> Fraction:
        return (2 - Fraction(2) ** (1 - self.precision)) * Fraction(2) ** self.most


FLOAT = Format(24, -126, 127)
DOUBLE = Format(53, -1022, 1023)
HALF = Format(11, -14, 15)
BF16 = Format(8, -126, 127)


def nearest_even(value: Fraction) -> int:
    return round(value)  # Fraction's own rounding takes ties to even


_INTEGRAL: dict[str, Callable[[Fraction], int]] = {
    "rn": nearest_even,
    "rz": math.trunc,
    "rm": math.floor,
    "rp": math.ceil,
}


def rounded_integer(value: Fraction, mode: str) -> int:
    return _INTEGRAL[mode](value)


def rounded(value: Fraction, mode: str, form: Format) -> Fraction | float:
    """The value in a format; an infinity where it overflows to one.

    In whole numbers, of which the least unit is one: fractions would take ten times as long.
    """
    if not value:
        return Fraction(0)
    is_positive = value > 0
    top, bottom = abs(value.numerator), value.denominator
    exponent = top.bit_length() - bottom.bit_length()
    if top << max(-exponent, 0) < bottom << max(exponent, 0):
        exponent -= 1
    scale = max(exponent, form.least) - form.precision + 1
    units, rest = divmod(top << max(-scale, 0), bottom << max(scale, 0))
    if mode == "rn":
        half = 2 * rest - (bottom << max(scale, 0))
        units += half > 0 or (half == 0 and units % 2 == 1)
    elif rest and mode == ("rp" if is_positive else "rm"):
        units += 1
    if units.bit_length() - 1 + scale > form.most:
        infinite = mode == "rn" or mode == ("rp" if is_positive else "rm")
        bound = math.inf if infinite else form.largest
        return bound if is_positive else -bound
    sign = 1 if is_positive else -1
    return Fraction(sign * units << max(scale, 0), 1 << max(-scale, 0))


def square_root(value: Fraction, mode: str, form: Format) -> Fraction | float:
    """The root, rounded: one of enough bits, and one bit more where that is not exact."""
    bits = 4 * form.precision
    shift = 2 * (bits + form.precision - form.least)
    scaled = value * Fraction(2) ** shift
    assert scaled.denominator == 1
    root = math.isqrt(scaled.numerator)
    exact = root * root == scaled.numerator
    close = Fraction(2 * root + (not exact), 2) / Fraction(2) ** (shift // 2)
    return rounded(close, mode, form)


def operands(kind: type[np.floating[Any]], count: int, seed: int) -> NDArray[Any]:
    """Finite values of all magnitudes, some denormal, and as many of like magnitudes."""
    generator = np.random.default_rng(seed)
    unsigned = np.uint32 if kind is np.float32 else np.uint64
    edges = np.array([0, 1, 1.5, 3, np.finfo(kind).max, np.finfo(kind).tiny], kind)
    edges = np.concatenate([edges, np.array([1, 2, 3], unsigned).view(kind)])
    edges = np.concatenate([edges, np.nextafter(edges, kind(0)), np.nextafter(edges, kind(9e9))])
    wild = generator.integers(0, np.iinfo(unsigned).max, count, unsigned).view(kind)
    tame = (generator.standard_normal(count) * 2.0 ** generator.integers(-8, 8, count)).astype(kind)
    denormal = generator.integers(0, 1 << 20, count // 4, unsigned).view(kind)
    values = np.concatenate([edges, -edges, wild, tame, denormal, -denormal])
    values = values[np.isfinite(values)]
    generator.shuffle(values)
    return values
