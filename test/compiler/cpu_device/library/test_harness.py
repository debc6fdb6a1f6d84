"""Functions that need a block, atomic operations, and the code generator's own conversions."""

from __future__ import annotations

import ctypes
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from .conftest import Library
from .exact import BF16, HALF, Format, operands, rounded

_PLACES = ("own start", "own end", "other", "before all", "frame", "stack", "global")


@pytest.mark.parametrize(
    ("space", "places"),
    [
        ("shared", {"own start", "own end"}),
        ("shared_cluster", {"own start", "own end", "other"}),
        ("local", {"frame", "stack"}),
        ("global", {"before all", "global"}),
    ],
)
def test_address_spaces(library: Library, space: str, places: set[str]) -> None:
    function = library.loaded[f"is_{space}"]
    function.restype = ctypes.c_bool
    assert {name for number, name in enumerate(_PLACES) if function(number)} == places


def test_clusters(library: Library) -> None:
    assert library.loaded.mapped(0, 1, 5) == 105
    assert library.loaded.mapped(0, 0, 63) == 63
    assert library.loaded.mapped(1, 0, 7) == 7
    assert library.loaded.shared_size() == 64
    assert library.loaded.explicit_cluster() & 1 == 1


@pytest.mark.parametrize("scope", ["cta", "sys"])
@pytest.mark.parametrize(
    ("name", "old", "operand", "new"),
    [
        ("add", 5, 7, 12),
        ("and", 6, 3, 2),
        ("or", 6, 3, 7),
        ("xor", 6, 3, 5),
        ("max", -1, 3, 3),
        ("min", -1, 3, -1),
        ("exch", 1, 9, 9),
        ("inc", 3, 4, 4),
        ("inc", 4, 4, 0),
        ("inc", 9, 4, 0),
        ("dec", 3, 4, 2),
        ("dec", 0, 4, 4),
        ("dec", 9, 4, 4),
    ],
)
def test_atomics(library: Library, name: str, scope: str, old: int, operand: int, new: int) -> None:
    for type_, kind in (("i32", ctypes.c_int32), ("i64", ctypes.c_int64)):
        place = kind(old)
        function = library.loaded[f"hirc_nvvm_atomic_{name}_gen_i_{scope}_{type_}"]
        function.restype = kind
        assert function(ctypes.byref(place), kind(operand)) == old
        assert place.value == new


def test_atomic_exchange_where_equal_and_addition_of_floats(library: Library) -> None:
    place = ctypes.c_int32(4)
    exchange = library.loaded.hirc_nvvm_atomic_cas_gen_i_sys_i32
    assert exchange(ctypes.byref(place), 5, 6) == 4
    assert place.value == 4
    assert exchange(ctypes.byref(place), 4, 6) == 4
    assert place.value == 6
    for type_, kind in (("f32", ctypes.c_float), ("f64", ctypes.c_double)):
        real = kind(1.5)
        add = library.loaded[f"hirc_nvvm_atomic_add_gen_f_cta_{type_}"]
        add.restype = kind
        assert add(ctypes.byref(real), kind(2)) == 1.5
        assert real.value == 3.5


def test_clocks_go_on(library: Library) -> None:
    for name in ("clock64", "globaltimer"):
        function = library.loaded[f"hirc_nvvm_read_ptx_sreg_{name}"]
        function.restype = ctypes.c_uint64
        first, second = function(), function()
        assert first > 0
        assert second >= first


def test_halves_are_widened(library: Library) -> None:
    bits = range(1 << 16)
    wanted = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for name, kind in (("float", ctypes.c_float), ("double", ctypes.c_double)):
        function = library.loaded[f"extended_{name}"]
        function.restype = kind
        results = np.array([function(ctypes.c_uint16(value)) for value in bits])
        assert np.array_equal(results, wanted.astype(np.float64), equal_nan=True)
        numbers = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(results[numbers]), np.signbit(wanted[numbers]))


def _value(bits: int, name: str) -> float:
    if name == "half":
        return float(np.uint16(bits).view(np.float16))
    return float(np.uint32(bits << 16).view(np.float32))


@pytest.mark.parametrize(("name", "form"), [("half", HALF), ("bf16", BF16)])
@pytest.mark.parametrize("source", ["float", "double"])
def test_narrowing(library: Library, name: str, form: Format, source: str) -> None:
    kind: Any = ctypes.c_float if source == "float" else ctypes.c_double
    function = library.loaded[f"{name}_of_{source}"]
    function.restype = ctypes.c_uint16
    ties = [(2 + odd * 2.0**-step) * 2.0**e for odd in (1, 3) for step in (7, 10) for e in (-1, 9)]
    ties += [tie * (1 + sign * 2.0**-40) for tie in ties for sign in (1, -1)]
    small = [k * 2.0 ** (form.least - form.precision) for k in range(-9, 10)]
    values = [*operands(np.float32, 1500, 9).tolist(), *ties, *small]
    values += [value * (1 + 2.0**-45) for value in values]
    if source == "float":
        with np.errstate(over="ignore"):
            values = np.array(values).astype(np.float32).tolist()
    for value in values:
        if not math.isfinite(value):
            continue
        seen = _value(function(kind(value)), name)
        assert seen == rounded(Fraction(value), "rn", form), value
        assert math.copysign(1, seen) == math.copysign(1, value)
    assert _value(function(kind(-math.inf)), name) == -math.inf
    assert math.isnan(_value(function(kind(math.nan)), name))
