"""The formats of 4, 6 and 8 bits, each value of them and each f16."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from .conftest import Library
from .exact import operands

_HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
_NAN = 0x7FFF


@dataclass(frozen=True)
class Small:
    """A format, by its numbers from zero up; `nan` is none where there is no NaN."""

    bits: int
    values: tuple[float, ...]
    nan: int | None
    finite: str

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    def nearest(self, value: float) -> int:
        """The code nearest to a number; of two the even one."""
        if math.isnan(value):
            return len(self.values) - 1 if self.nan is None else self.nan
        magnitude = min(abs(value), self.values[-1])
        above = int(np.searchsorted(self.values, magnitude))
        code = above
        if above and self.values[above] != magnitude:
            below = Fraction(magnitude) - Fraction(self.values[above - 1])
            rest = Fraction(self.values[above]) - Fraction(magnitude)
            code = above - 1 if below < rest or (below == rest and above % 2) else above
        return code | (self.sign if math.copysign(1, value) < 0 else 0)


def _numbers(count: int, fraction_bits: int, least_exponent: int) -> tuple[float, ...]:
    def number(code: int) -> float:
        place, fraction = divmod(code, 1 << fraction_bits)
        unit = 2.0 ** (least_exponent - fraction_bits + max(place - 1, 0))
        return (fraction + (place > 0) * (1 << fraction_bits)) * unit

    return tuple(number(code) for code in range(count))


_FORMATS = {
    "e4m3": Small(8, _numbers(0x7F, 3, -6), 0x7F, ""),
    "e5m2": Small(8, _numbers(0x7C, 2, -14), 0x7F, ""),
    "e2m3": Small(6, _numbers(0x20, 3, 0), None, "_satfinite"),
    "e3m2": Small(6, _numbers(0x20, 2, -2), None, "_satfinite"),
    "e2m1": Small(4, _numbers(0x08, 1, 0), None, "_satfinite"),
}


def test_largest_numbers() -> None:
    """As the PTX ISA gives them."""
    largest = {name: form.values[-1] for name, form in _FORMATS.items()}
    assert largest == {"e4m3": 448, "e5m2": 57344, "e2m3": 7.5, "e3m2": 28, "e2m1": 6}


@pytest.mark.parametrize("name", _FORMATS)
def test_from_floats(library: Library, name: str) -> None:
    form = _FORMATS[name]
    values = _HALVES[::3].astype(np.float32)
    values = np.concatenate([values, operands(np.float32, 500, 1), np.array([-np.nan], np.float32)])
    wanted = np.array([form.nearest(value) for value in values.tolist()])
    place = min(form.bits, 8) if form.bits != 6 else 8
    results = library(f"nvvm_ff_to_{name}x2_rn{form.finite}", values, values[::-1])
    assert np.array_equal(results >> place, wanted)
    assert np.array_equal(results & ((1 << place) - 1), wanted[::-1])
    relu = library(f"nvvm_ff_to_{name}x2_rn_relu{form.finite}", values, values) >> place
    negative = np.signbit(values) & ~np.isnan(values)
    assert np.array_equal(relu, np.where(negative, 0, wanted))


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_from_halves(library: Library, name: str) -> None:
    form = _FORMATS[name]
    wanted = np.array([form.nearest(float(value)) for value in _HALVES])
    bits = _HALVES.view(np.uint16).astype(np.uint32)
    results = library(f"nvvm_f16x2_to_{name}x2_rn", bits << 16 | bits[::-1])
    assert np.array_equal(results >> 8, wanted)
    assert np.array_equal(results & 0xFF, wanted[::-1])


@pytest.mark.parametrize("name", _FORMATS)
def test_to_halves(library: Library, name: str) -> None:
    form = _FORMATS[name]
    codes = np.arange(1 << form.bits)
    place = 4 if form.bits == 4 else 8
    results = library(f"nvvm_{name}x2_to_f16x2_rn", codes << place | codes[::-1])
    relu = library(f"nvvm_{name}x2_to_f16x2_rn_relu", codes << place | codes[::-1])
    assert np.array_equal(results & 0xFFFF, results[::-1] >> 16)
    for code, result, clamped in zip(codes.tolist(), results >> 16, relu >> 16, strict=True):
        magnitude = code & (form.sign - 1)
        if magnitude < len(form.values):
            wanted = np.float16(form.values[magnitude])
            bits = int(wanted.view(np.uint16)) | (0x8000 if code & form.sign else 0)
        else:
            infinite = name == "e5m2" and magnitude == 0x7C
            bits = (0xFC00 if code & form.sign else 0x7C00) if infinite else _NAN
        assert result == bits, code
        assert clamped == (0 if bits & 0x8000 else bits), code


_TINY, _HUGE = 2.0**-127, 2.0**127


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [
        (1, 127, 127),
        (1.5, 127, 128),
        (-1.5, 127, 128),
        (0, 0, 0),
        (_TINY, 0, 0),
        (_TINY * 1.5, 0, 1),
        (_TINY * 2, 1, 1),
        (_HUGE, 254, 254),
        (_HUGE * 1.5, 254, 255),
        (math.inf, 255, 255),
        (math.nan, 255, 255),
    ],
)
def test_powers_of_two(library: Library, value: float, down: int, up: int) -> None:
    finite = math.isfinite(value)
    for mode, code in (("rz", down), ("rp", up)):
        assert library(f"nvvm_ff_to_ue8m0x2_{mode}", [value], [1.0])[0] == code << 8 | 127
        kept = code if math.isnan(value) else min(code, 254)
        name = f"nvvm_ff_to_ue8m0x2_{mode}_satfinite"
        assert library(name, [1.0], [value])[0] == 127 << 8 | kept
        if finite:
            bits = np.array([value], np.float32).view(np.uint32)
            pair = library(f"nvvm_bf16x2_to_ue8m0x2_{mode}", bits | 0x3F80)
            assert pair[0] == code << 8 | 127


def test_powers_of_two_to_bf16(library: Library) -> None:
    codes = np.arange(256)
    results = library("nvvm_ue8m0x2_to_bf16x2", codes << 8 | codes)
    assert np.array_equal(results >> 16, results & 0xFFFF)
    values = (results & np.uint32(0xFFFF0000)).view(np.float32)
    assert values[:255].tolist() == [2.0 ** (code - 127) for code in range(255)]
    assert results[255] >> 16 == _NAN
