"""Conversions between integers and floating point in each rounding mode."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Library
from .exact import DOUBLE, FLOAT, MODES, operands, rounded, rounded_integer

_INTEGERS: dict[str, tuple[int, int]] = {
    "i": (-(2**31), 2**31 - 1),
    "ui": (0, 2**32 - 1),
    "ll": (-(2**63), 2**63 - 1),
    "ull": (0, 2**64 - 1),
}
_FLOATS: dict[str, type[np.floating[Any]]] = {"f": np.float32, "d": np.float64}


def _wrapped(value: int, target: str) -> int:
    """As the unsigned integer that the library's functions return here."""
    return value % (2**32 if target in ("i", "ui") else 2**64)


def _near_the_limits(kind: type[np.floating[Any]]) -> NDArray[Any]:
    limits = np.array([2.0**power for power in (31, 32, 63, 64)], kind)
    limits = np.concatenate([limits, np.nextafter(limits, kind(0)), limits - kind(0.5)])
    halves = np.arange(-6, 7).astype(kind) / kind(2)
    return np.concatenate([limits, -limits, halves, halves + kind(1e-6)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", _INTEGERS)
@pytest.mark.parametrize("source", _FLOATS)
def test_to_integers(library: Library, source: str, target: str, mode: str) -> None:
    kind = _FLOATS[source]
    values = np.concatenate([operands(kind, 1000, 5), _near_the_limits(kind)])
    least, most = _INTEGERS[target]
    results = library(f"nvvm_{source}2{target}_{mode}", values)
    for value, result in zip(values.tolist(), results.tolist(), strict=True):
        wanted = min(max(rounded_integer(Fraction(value), mode), least), most)
        assert result == _wrapped(wanted, target), value


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", _INTEGERS)
@pytest.mark.parametrize("source", _FLOATS)
def test_infinities_and_nans_to_integers(
    library: Library, source: str, target: str, mode: str
) -> None:
    results = library(f"nvvm_{source}2{target}_{mode}", [math.inf, -math.inf, math.nan]).tolist()
    least, most = _INTEGERS[target]
    narrow = target in ("i", "ui")
    nan = 0 if source == "f" and narrow else 2**31 if narrow else 2**63
    assert results == [_wrapped(most, target), _wrapped(least, target), nan]


def test_ftz_to_integers(library: Library) -> None:
    tiny = np.float32(1e-40)
    assert library("nvvm_f2i_rp", [tiny])[0] == 1
    assert library("nvvm_f2i_rp_ftz", [tiny])[0] == 0
    assert library("nvvm_f2ull_rp_ftz", [tiny])[0] == 0


def _integers(source: str) -> list[int]:
    least, most = _INTEGERS[source]
    generator = np.random.default_rng(6)
    some = generator.integers(least, most, 500, np.int64 if least else np.uint64).tolist()
    some += [value >> shift for value in some[:60] for shift in range(1, 60, 3)]
    # Near ties in 24 and in 53 bits.
    for power in range(24, most.bit_length()):
        for precision in (24, 53):
            half = max(power - precision, 0)
            some += [2**power + (2**half) * odd + step for odd in (1, 3) for step in (-1, 0, 1)]
    some += [0, 1, most, most - 1, least, least + 1]
    some += [-value for value in some]
    return [value for value in some if least <= value <= most]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", _INTEGERS)
@pytest.mark.parametrize("target", _FLOATS)
def test_from_integers(library: Library, source: str, target: str, mode: str) -> None:
    values = _integers(source)
    wrapped = np.array([_wrapped(value, source) for value in values], np.uint64)
    results = library(f"nvvm_{source}2{target}_{mode}", wrapped)
    form = FLOAT if target == "f" else DOUBLE
    for value, result in zip(values, results.tolist(), strict=True):
        assert Fraction(result) == rounded(Fraction(value), mode, form), value


@pytest.mark.parametrize("mode", MODES)
def test_double_to_float(library: Library, mode: str) -> None:
    values = operands(np.float64, 1500, 7)
    values = np.concatenate([values, operands(np.float32, 500, 8) * (1 + 2.0**-40)])
    results = library(f"nvvm_d2f_{mode}", values)
    for value, result in zip(values.tolist(), results.tolist(), strict=True):
        seen = Fraction(result) if math.isfinite(result) else result
        assert seen == rounded(Fraction(value), mode, FLOAT), value
    flushed = library(f"nvvm_d2f_{mode}_ftz", values)
    small = np.abs(results) < 2.0**-126
    assert np.array_equal(flushed, np.where(small, np.copysign(np.float32(0), results), results))


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
@pytest.mark.parametrize(("suffix", "kind"), [("f", np.float32), ("d", np.float64)])
def test_integral_values(
    library: Library, name: str, suffix: str, kind: type[np.floating[Any]]
) -> None:
    values = np.concatenate([operands(kind, 500, 9), _near_the_limits(kind)])
    reference = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint}[name]
    results = library(f"nvvm_{name}_{suffix}", values)
    assert np.array_equal(results, reference(values))
    assert np.array_equal(np.signbit(results), np.signbit(reference(values)))


def test_saturation(library: Library) -> None:
    values = np.array([-1, -0.0, 0.25, 1, 1.5, np.inf, -np.inf, np.nan, 1e-40])
    wanted = [0, 0, 0.25, 1, 1, 1, 0, 0]
    for name in ("saturate_f", "saturate_ftz_f", "saturate_d"):
        results = library(f"nvvm_{name}", values)
        assert results[:8].tolist() == wanted
        assert not np.signbit(results).any()
    assert library("nvvm_saturate_f", values)[8] == np.float32(1e-40)
    assert library("nvvm_saturate_ftz_f", values)[8] == 0
