"""The approximations of PTX: the nearest float, or where PTX fixes the result, that one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Library


def _power_of_two(x: Any) -> Any:
    return mpmath.power(2, x)


def _binary_logarithm(x: Any) -> Any:
    return mpmath.log(x, 2)


def _reciprocal_root(x: Any) -> Any:
    return 1 / mpmath.sqrt(x)


_FLOATS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "nvvm_ex2_approx_f32": (_power_of_two, -150, 129),
    "nvvm_lg2_approx_f": (_binary_logarithm, 1e-44, 3e38),
    "nvvm_sin_approx_f": (mpmath.sin, -1e4, 1e4),
    "nvvm_cos_approx_f": (mpmath.cos, -1e4, 1e4),
    "tanh_f32": (mpmath.tanh, -12, 12),
    "nvvm_rsqrt_approx_f": (_reciprocal_root, 1e-44, 3e38),
    "nvvm_rcp_approx_ftz_f": (lambda x: 1 / x, 1e-37, 1e37),
}


def _inputs(low: float, high: float) -> NDArray[np.float32]:
    """Over all of the range, and of each magnitude in it."""
    generator = np.random.default_rng(1)
    even = generator.uniform(low, high, 1500).astype(np.float32)
    sizes = np.exp(generator.uniform(math.log(1e-44), math.log(3e38), 3000)).astype(np.float32)
    near_one = (1 + generator.uniform(-1e-3, 1e-3, 500)).astype(np.float32)
    some = np.concatenate([even, sizes, -sizes, near_one])
    return some[(some >= low) & (some <= high)]


@pytest.mark.parametrize("name", _FLOATS)
def test_floats_are_the_nearest(library: Library, name: str) -> None:
    exact, low, high = _FLOATS[name]
    values = _inputs(low, high)
    results = library(name, values)
    for value, result in zip(values.tolist(), results.tolist(), strict=True):
        wanted = exact(mpmath.mpf(value))
        if abs(wanted) >= 2.0**128:
            assert result == math.inf
            continue
        unit = float(np.spacing(np.float32(abs(float(wanted)))))
        assert abs(mpmath.mpf(result) - wanted) <= 0.5001 * unit, (value, result)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("nvvm_ex2_approx_f32", -math.inf, 0),
        ("nvvm_ex2_approx_f32", math.inf, math.inf),
        ("nvvm_ex2_approx_f32", 1e30, math.inf),
        ("nvvm_ex2_approx_f32", -1e30, 0),
        ("nvvm_ex2_approx_f32", 1e-40, 1),
        ("nvvm_ex2_approx_f32", -140, 2.0**-140),
        ("nvvm_ex2_approx_ftz_f32", -140, 0),
        ("nvvm_lg2_approx_f", 0, -math.inf),
        ("nvvm_lg2_approx_f", -0.0, -math.inf),
        ("nvvm_lg2_approx_f", 1, 0),
        ("nvvm_lg2_approx_f", 2.0**-140, -140),
        ("nvvm_lg2_approx_ftz_f", 2.0**-140, -math.inf),
        ("nvvm_lg2_approx_f", math.inf, math.inf),
        ("nvvm_lg2_approx_f", -1, math.nan),
        ("nvvm_sin_approx_f", -0.0, -0.0),
        ("nvvm_sin_approx_f", 2.0**-149, 2.0**-149),
        ("nvvm_sin_approx_f", math.inf, math.nan),
        ("nvvm_cos_approx_f", 0, 1),
        ("nvvm_cos_approx_f", math.nan, math.nan),
        ("tanh_f32", math.inf, 1),
        ("tanh_f32", -math.inf, -1),
        ("tanh_f32", -0.0, -0.0),
        ("tanh_f32", math.nan, math.nan),
        ("nvvm_rsqrt_approx_f", -0.0, -math.inf),
        ("nvvm_rsqrt_approx_f", math.inf, 0),
        ("nvvm_rsqrt_approx_f", -1, math.nan),
        ("nvvm_rsqrt_approx_ftz_f", 1e-40, math.inf),
        ("nvvm_rcp_approx_ftz_f", 2.0**127, 0),
        ("nvvm_sqrt_approx_f", 2, float(np.sqrt(np.float32(2)))),
        ("nvvm_sqrt_approx_ftz_f", 1e-40, 0),
        ("nvvm_rsqrt_approx_d", 0, math.inf),
        ("nvvm_rsqrt_approx_d", math.inf, 0),
        ("nvvm_rsqrt_approx_d", 2.0**-1074, 2.0**537),
    ],
)
def test_special_values(library: Library, name: str, value: float, wanted: float) -> None:
    result = float(library(name, [value])[0])
    assert result == wanted or (math.isnan(result) and math.isnan(wanted))
    assert math.isnan(wanted) or math.copysign(1, result) == math.copysign(1, wanted)


def test_far_sines(library: Library) -> None:
    values = np.array([2.0**20, -(2.0**25), 1e30, 3e38], np.float32)
    assert library("nvvm_sin_approx_f", values).tolist() == [
        float(np.float32(math.sin(value))) for value in values.tolist()
    ]
    assert library("nvvm_cos_approx_f", values).tolist() == [
        float(np.float32(math.cos(value))) for value in values.tolist()
    ]


def test_double_reciprocal_roots(library: Library) -> None:
    generator = np.random.default_rng(2)
    values = np.exp(generator.uniform(-700, 700, 2000))
    for value, result in zip(
        values.tolist(), library("nvvm_rsqrt_approx_d", values).tolist(), strict=True
    ):
        with mpmath.workprec(200):
            wanted = 1 / mpmath.sqrt(mpmath.mpf(value))
            assert abs(mpmath.mpf(result) - wanted) <= 0.52 * math.ulp(result)


_UPPER = [
    ("rcp", -math.inf, -0.0),
    ("rcp", -1e-310, -math.inf),
    ("rcp", -0.0, -math.inf),
    ("rcp", 0.0, math.inf),
    ("rcp", 1e-310, math.inf),
    ("rcp", math.inf, 0.0),
    ("rcp", 2.0**1023, 0.0),
    ("rcp", -4, -0.25),
    ("rsqrt", -1e-310, -math.inf),
    ("rsqrt", -0.0, -math.inf),
    ("rsqrt", 1e-310, math.inf),
    ("rsqrt", math.inf, 0.0),
    ("rsqrt", 4, 0.5),
    # What an H200 gives: the lower half is cut off, not rounded.
    ("rcp", 1.9999999, 0.5),
    ("rsqrt", 1.9999999, float.fromhex("0x1.6a09ep-1")),
]


@pytest.mark.parametrize(("operation", "value", "wanted"), _UPPER)
def test_upper_halves_at_special_values(
    library: Library, operation: str, value: float, wanted: float
) -> None:
    result = float(library(f"nvvm_{operation}_approx_ftz_d", [value])[0])
    assert result == wanted
    assert math.copysign(1, result) == math.copysign(1, wanted)


def test_divisors_beyond_the_reciprocals(library: Library) -> None:
    a = [1, -1, math.inf, 6, 1, 1, math.nan]
    b = [2.0**127, 2.0**127, 2.0**127, 2.0**126, math.inf, 0, 1]
    wanted = [0, -0.0, math.nan, 6 * 2.0**-126, 0, math.inf, math.nan]
    for name in ("div_approx_f", "div_approx_ftz_f"):
        results = library(f"nvvm_{name}", a, b)
        assert np.array_equal(results, wanted, equal_nan=True)
        assert np.signbit(results[1])


@pytest.mark.parametrize("operation", ["rcp", "rsqrt"])
def test_upper_halves(library: Library, operation: str) -> None:
    generator = np.random.default_rng(4)
    values = np.exp(generator.uniform(-690, 690, 2000))
    results = library(f"nvvm_{operation}_approx_ftz_d", values)
    assert not (results.view(np.uint64) & np.uint64(0xFFFFFFFF)).any()
    cut = (values.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    assert np.array_equal(results, library(f"nvvm_{operation}_approx_ftz_d", cut))
    exact = 1 / cut if operation == "rcp" else 1 / np.sqrt(cut)
    assert (np.abs(results / exact - 1) <= 2.0**-20).all()
    nan = library(f"nvvm_{operation}_approx_ftz_d", [np.nan]).view(np.uint64)
    assert nan[0] == 0x7FFFFFFF00000000
