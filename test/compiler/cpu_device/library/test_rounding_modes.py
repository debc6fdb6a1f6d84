"""Arithmetic in each rounding mode, against exact rational arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Library
from .exact import DOUBLE, FLOAT, MODES, Format, operands, rounded, square_root

_COUNT = 1200
_TYPES = [("f", np.float32, FLOAT), ("d", np.float64, DOUBLE)]
_OPERATIONS: dict[str, Callable[[Sequence[Fraction]], Fraction | None]] = {
    "add": lambda x: x[0] + x[1],
    "mul": lambda x: x[0] * x[1],
    "div": lambda x: x[0] / x[1] if x[1] else None,
    "fma": lambda x: x[0] * x[1] + x[2],
    "rcp": lambda x: 1 / x[0] if x[0] else None,
}
_ARITY = {"add": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1}


def _compare(
    result: NDArray[Any], expected: Sequence[Fraction | float | None], *inputs: Any
) -> None:
    for index, (got, wanted) in enumerate(zip(result.tolist(), expected, strict=True)):
        if wanted is None:
            continue
        seen = got if not math.isfinite(got) else Fraction(got)
        where = [float(array[index]).hex() for array in inputs]
        assert seen == wanted, f"{where}: {got.hex()}, expected {float(wanted).hex()}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", _OPERATIONS)
@pytest.mark.parametrize(("suffix", "kind", "form"), _TYPES)
def test_arithmetic(
    library: Library,
    operation: str,
    mode: str,
    suffix: str,
    kind: type[np.floating[Any]],
    form: Format,
) -> None:
    columns = [operands(kind, _COUNT, seed) for seed in range(_ARITY[operation])]
    size = min(column.size for column in columns)
    columns = [column[:size] for column in columns]
    if operation == "fma":  # sums that cancel
        with np.errstate(over="ignore"):
            near = (-columns[0] * columns[1])[: size // 2]
        columns[2][: size // 2] = np.where(np.isfinite(near), near, 1)
    result = library(f"nvvm_{operation}_{mode}_{suffix}", *columns)
    exact = _OPERATIONS[operation]
    expected = [
        None if (value := exact([Fraction(x) for x in row])) is None else rounded(value, mode, form)
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]
    _compare(result, expected, *columns)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("suffix", "kind", "form"), _TYPES)
def test_square_roots(
    library: Library, mode: str, suffix: str, kind: type[np.floating[Any]], form: Format
) -> None:
    values = np.abs(operands(kind, 500, 3))
    values[:50] = np.round(values[:50] % 1000) ** 2  # exact roots
    result = library(f"nvvm_sqrt_{mode}_{suffix}", values)
    expected = [square_root(Fraction(value), mode, form) for value in values.tolist()]
    _compare(result, expected, values)


_SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", [*_OPERATIONS, "sqrt"])
@pytest.mark.parametrize(("suffix", "kind", "form"), _TYPES)
def test_infinities_nans_and_zeros(
    library: Library,
    operation: str,
    mode: str,
    suffix: str,
    kind: type[np.floating[Any]],
    form: Format,
) -> None:
    """They are as to nearest, but that unlike zeros, and what cancels, give -0 rounding down."""
    arity = _ARITY.get(operation, 1)
    rows = np.array(list(itertools.product(_SPECIAL, repeat=arity)), kind)
    columns = list(rows.T)
    result = library(f"nvvm_{operation}_{mode}_{suffix}", *columns)
    nearest = library(f"nvvm_{operation}_rn_{suffix}", *columns)
    if operation in ("add", "fma") and mode == "rm":
        with np.errstate(invalid="ignore"):
            terms = [columns[0] * columns[1], columns[2]] if arity == 3 else columns
        both_plus = ~np.signbit(terms[0]) & ~np.signbit(terms[1])
        cancelled = (nearest == 0) & ~both_plus
        nearest = np.where(cancelled, -np.abs(nearest), nearest)
    assert np.array_equal(result, nearest, equal_nan=True)
    numbers = ~np.isnan(nearest)
    assert np.array_equal(np.signbit(result[numbers]), np.signbit(nearest[numbers]))
    assert form.precision in (24, 53)


_DENORMAL = np.float32(1e-40)


@pytest.mark.parametrize("mode", MODES)
def test_ftz_takes_denormals_for_zeros(library: Library, mode: str) -> None:
    tiny = np.float32(2.0**-126)
    assert library(f"nvvm_add_{mode}_ftz_f", [_DENORMAL], [np.float32(1)])[0] == 1
    product = library(f"nvvm_mul_{mode}_ftz_f", [tiny], [np.float32(-0.5)])[0]
    assert product == 0
    assert np.signbit(product)
    assert library(f"nvvm_mul_{mode}_f", [tiny], [np.float32(0.5)])[0] == tiny / 2
    assert library(f"nvvm_rcp_{mode}_ftz_f", [-_DENORMAL])[0] == -np.inf
    assert library(f"nvvm_fma_{mode}_ftz_f", [_DENORMAL], [np.float32(1e38)], [_DENORMAL])[0] == 0
    assert library(f"nvvm_sqrt_{mode}_ftz_f", [_DENORMAL])[0] == 0


@pytest.mark.parametrize("mode", MODES)
def test_sat_keeps_to_the_unit_interval(library: Library, mode: str) -> None:
    a = np.array([1, -1, 0.25, np.nan, -0.0], np.float32)
    b = np.array([1, -1, 0.5, 1, -0.0], np.float32)
    result = library(f"nvvm_add_{mode}_sat_f", a, b)
    assert result.tolist() == [1, 0, 0.75, 0, 0]
    assert not np.signbit(result).any()
    assert library(f"nvvm_fma_{mode}_ftz_sat_f", a, b, b).tolist() == [1, 0, 0.625, 0, 0]
