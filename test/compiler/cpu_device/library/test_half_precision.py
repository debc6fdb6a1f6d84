"""16-bit floating point: fused multiply-add, conversions, minimum and maximum."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Library
from .exact import BF16, FLOAT, HALF, Format, operands, rounded

_FORMATS = {"f16": HALF, "bf16": BF16}
_ALL = np.arange(1 << 16, dtype=np.uint16)
_NAN = 0x7FFF


def _values(bits: NDArray[Any], name: str) -> NDArray[np.float32]:
    if name == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _numbers(bits: NDArray[Any], name: str) -> list[Fraction | float]:
    return [Fraction(v) if math.isfinite(v) else v for v in _values(bits, name).tolist()]


def _finite(name: str, count: int, seed: int) -> NDArray[np.uint16]:
    generator = np.random.default_rng(seed)
    center = 0x3C00 if name == "f16" else 0x3F80
    near = generator.integers(center - 0x800, center + 0x800, count)
    wild = generator.integers(0, 1 << 16, count)
    some = np.concatenate([near | generator.integers(0, 2, count) << 15, wild]).astype(np.uint16)
    return np.where(np.isfinite(_values(some, name)), some, np.uint16(center))


@pytest.mark.parametrize("name", _FORMATS)
def test_fma_rounds_once(library: Library, name: str) -> None:
    columns = [_finite(name, 4000, seed) for seed in range(3)]
    results = _numbers(library(f"nvvm_fma_rn_{name}", *columns), name)
    for *row, result in zip(*(_numbers(c, name) for c in columns), results, strict=True):
        a, b, c = map(Fraction, row)
        assert result == rounded(a * b + c, "rn", _FORMATS[name]), row


def test_fma_is_right_where_two_roundings_are_not(library: Library) -> None:
    """The sum is a little less than a tie; rounded to a float it is the tie, which goes up."""
    factors = (
        np.array([(1 + 2.0**-10) * 2.0**-11], np.float16),
        np.array([1 - 2.0**-10], np.float16),
    )
    addend = np.array([1 + 2.0**-10], np.float16)
    twice = (factors[0].astype(np.float32) * factors[1] + addend).astype(np.float16)
    bits = [value.view(np.uint16) for value in (*factors, addend)]
    assert library("nvvm_fma_rn_f16", *bits).view(np.float16)[0] == addend[0] != twice[0]


@pytest.mark.parametrize("name", _FORMATS)
def test_fma_variants(library: Library, name: str) -> None:
    one, minus = (0x3C00, 0xBC00) if name == "f16" else (0x3F80, 0xBF80)
    infinity = 0x7C00 if name == "f16" else 0x7F80
    denormal, zero = 0x0001, 0

    def fma(variant: str, *bits: int) -> int:
        return int(library(f"nvvm_fma_rn_{variant}{name}", *([b] for b in bits))[0])

    assert fma("", one, denormal, zero) == denormal
    assert fma("ftz_", one, denormal, zero) == zero
    assert fma("relu_", one, minus, zero) == zero
    assert fma("relu_", one, one, zero) == one
    assert fma("sat_", one, one, one) == one
    assert fma("sat_", one, minus, zero) == zero
    assert fma("sat_", infinity, zero, zero) == zero
    assert fma("relu_", infinity, zero, zero) == _NAN
    assert fma("ftz_sat_", one, denormal, zero) == zero
    assert fma("ftz_relu_", one, minus, zero) == zero
    assert fma("", infinity, one, one) == infinity


@pytest.mark.parametrize("name", _FORMATS)
def test_pairs_are_their_elements(library: Library, name: str) -> None:
    columns = [_finite(name, 500, seed) for seed in range(3)]
    pairs = [c[::2].astype(np.uint32) | c[1::2].astype(np.uint32) << 16 for c in columns]
    for operation, count in (("fma_rn_relu", 3), ("fmin_nan", 2), ("fmax_xorsign_abs", 2)):
        single = library(f"nvvm_{operation}_{name}", *columns[:count])
        both = library(f"nvvm_{operation}_{name}x2", *pairs[:count])
        assert np.array_equal(both & 0xFFFF, single[::2])
        assert np.array_equal(both >> 16, single[1::2])


def _floats() -> NDArray[np.float32]:
    """Around every f16 and bf16, and halfway between them."""
    halves = _ALL.view(np.float16).astype(np.float32)
    halves = halves[np.isfinite(halves)]
    ties = ((halves[:-1] + halves[1:]) / 2).astype(np.float32)
    bf16 = (_ALL[::7].astype(np.uint32) << 16) + np.uint32(0x8000)
    some = np.concatenate([halves[::5], ties[::3], bf16.view(np.float32)])
    some = some[np.isfinite(some)]
    some = np.concatenate([some, np.nextafter(some, np.float32(0)), -some])
    return np.concatenate([some, operands(np.float32, 1000, 3)]).astype(np.float32)


@pytest.mark.parametrize("mode", ["rn", "rz"])
@pytest.mark.parametrize("name", _FORMATS)
def test_float_to_16_bits(library: Library, name: str, mode: str) -> None:
    values = _floats()
    results = library(f"nvvm_f2{name}_{mode}", values)
    form = _FORMATS[name]
    for value, result in zip(values.tolist(), _numbers(results, name), strict=True):
        assert result == rounded(Fraction(value), mode, form), value
    assert np.array_equal(results >> 15, np.signbit(values))
    finite = library(f"nvvm_f2{name}_{mode}_satfinite", values)
    most = 0x7BFF if name == "f16" else 0x7F7F
    assert np.array_equal(finite & 0x7FFF, np.minimum(results & 0x7FFF, most))
    relu = library(f"nvvm_f2{name}_{mode}_relu", values)
    assert np.array_equal(relu, np.where(results >> 15, 0, results))
    both = library(f"nvvm_ff2{name}x2_{mode}_relu_satfinite", values, values[::-1])
    alone = library(f"nvvm_f2{name}_{mode}_relu_satfinite", values)
    assert np.array_equal(both >> 16, alone)
    assert np.array_equal(both & 0xFFFF, alone[::-1])
    nan = [math.nan, -math.nan]
    for variant in ("", "_relu", "_satfinite", "_relu_satfinite"):
        assert library(f"nvvm_f2{name}_{mode}{variant}", nan).tolist() == [_NAN, _NAN]
    infinities = library(f"nvvm_f2{name}_{mode}_satfinite", [math.inf, -math.inf]).tolist()
    assert infinities == [most, most | 0x8000]


def test_float_to_half_bits(library: Library) -> None:
    values = _floats()
    with np.errstate(over="ignore"):
        wanted = values.astype(np.float16).view(np.uint16)
    assert np.array_equal(library("nvvm_f2h_rn", values), wanted)
    flushed = np.where(np.abs(values) < 2.0**-126, np.copysign(np.float32(0), values), values)
    with np.errstate(over="ignore"):
        wanted = flushed.astype(np.float16).view(np.uint16)
    assert np.array_equal(library("nvvm_f2h_rn_ftz", values), wanted)
    bf16 = _ALL[~np.isnan(_values(_ALL, "bf16"))]
    with np.errstate(over="ignore"):
        wanted = _values(bf16, "bf16").astype(np.float16).view(np.uint16)
    assert np.array_equal(library("nvvm_bf2h_rn", bf16), wanted)


@pytest.mark.parametrize("mode", ["rn", "rz", "rna"])
def test_tf32(library: Library, mode: str) -> None:
    values = operands(np.float32, 2000, 5)
    ties = (values.view(np.uint32) & 0xFFFFE000 | 0x1000).view(np.float32)
    values = np.concatenate([values, ties[np.isfinite(ties)]])
    results = library(f"nvvm_f2tf32_{mode}", values)
    assert not (results & 0x1FFF).any()
    form = Format(11, FLOAT.least, FLOAT.most)
    for value, result in zip(values.tolist(), results.view(np.float32).tolist(), strict=True):
        seen = Fraction(result) if math.isfinite(result) else result
        if mode == "rna":
            unit = Fraction(2) ** (max(math.frexp(value)[1] - 1, -126) - 10)
            steps = math.floor(abs(Fraction(value)) / unit + Fraction(1, 2))
            wanted = rounded(steps * unit, "rn", form)
            assert abs(seen) == wanted, value
        else:
            assert seen == rounded(Fraction(value), mode, form), value
    huge = library(f"nvvm_f2tf32_{mode}_satfinite", [math.inf, -math.inf, math.nan]).tolist()
    assert huge == [0x7F7FE000, 0xFF7FE000, 0x7FC00000]


def test_signs_and_copies(library: Library) -> None:
    bits = _ALL[np.isfinite(_values(_ALL, "f16"))]
    doubled = library("nvvm_fmax_nan_f16", bits, bits)
    assert np.array_equal(doubled, bits)
    bits = _ALL[~np.isnan(_values(_ALL, "bf16"))]
    assert np.array_equal(library("nvvm_neg_bf16", bits), bits ^ 0x8000)
    assert np.array_equal(library("nvvm_fabs_bf16", bits), bits & 0x7FFF)
    assert np.array_equal(library("nvvm_fabs_f16", bits), bits & 0x7FFF)


_EXTREMES = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x8001]


def _expected(name: str, a: float, b: float) -> float:
    """PTX ISA, min and max."""
    if "xorsign" in name:
        sign = math.copysign(1, a) * math.copysign(1, b)
        chosen = _expected(name.replace("_xorsign_abs", ""), abs(a), abs(b))
        return math.copysign(chosen, sign)
    if math.isnan(a) or math.isnan(b):
        both = math.isnan(a) and math.isnan(b)
        return math.nan if both or "nan" in name else a if math.isnan(b) else b
    key = (a, math.copysign(1, a)), (b, math.copysign(1, b))
    return (min if "fmin" in name else max)(key)[0]


@pytest.mark.parametrize("name", ["fmin", "fmax"])
@pytest.mark.parametrize("variant", ["", "_nan", "_xorsign_abs", "_nan_xorsign_abs"])
@pytest.mark.parametrize("type_", ["f", "f16", "bf16"])
def test_extremes(library: Library, name: str, variant: str, type_: str) -> None:
    rows = np.array(list(itertools.product(_EXTREMES, repeat=2)), np.uint16)
    wide = _values(rows, "f16")
    columns: list[NDArray[Any]] = [wide[:, 0], wide[:, 1]]
    if type_ in ("f16", "bf16"):
        columns = [_narrowed(np.ascontiguousarray(column), type_) for column in columns]
        a, b = (_values(column, type_) for column in columns)
        results = _values(library(f"nvvm_{name}{variant}_{type_}", *columns), type_)
    else:
        a, b = columns
        results = library(f"nvvm_{name}{variant}_{type_}", *columns)
    for x, y, result in zip(a.tolist(), b.tolist(), results.tolist(), strict=True):
        wanted = _expected(name + variant, x, y)
        assert result == wanted or (math.isnan(result) and math.isnan(wanted)), (x, y)
        assert math.isnan(wanted) or math.copysign(1, result) == math.copysign(1, wanted), (x, y)


@pytest.mark.parametrize("name", ["fmin", "fmax"])
def test_extremes_of_doubles(library: Library, name: str) -> None:
    values = _values(np.array(_EXTREMES), "f16").astype(np.float64)
    rows = np.array(list(itertools.product(values.tolist(), repeat=2)))
    results = library(f"nvvm_{name}_d", rows[:, 0], rows[:, 1])
    for (x, y), result in zip(rows.tolist(), results.tolist(), strict=True):
        wanted = _expected(name, x, y)
        assert result == wanted or (math.isnan(result) and math.isnan(wanted)), (x, y)
        assert math.isnan(wanted) or math.copysign(1, result) == math.copysign(1, wanted), (x, y)


def _narrowed(values: NDArray[np.float32], type_: str) -> NDArray[np.uint16]:
    if type_ == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.view(np.uint32) >> 16).astype(np.uint16)
