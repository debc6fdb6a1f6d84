"""Integer operations, against definitions in Python of what the PTX ISA says."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Library

_WORDS = st.integers(0, 2**32 - 1)
_EDGES = (0, 1, 2, 0x7F, 0x80, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x12345678)
_QUICK = settings(
    max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def _call(library: Library, name: str, *operands: int) -> int:
    return int(library(f"nvvm_{name}", *(np.array([operand]) for operand in operands))[0])


def _bytes(a: int, b: int = 0) -> list[int]:
    return list((b << 32 | a).to_bytes(8, "little"))


def _word(chosen: list[int]) -> int:
    return int.from_bytes(bytes(chosen), "little")


@_QUICK
@given(a=_WORDS, b=_WORDS, selector=st.integers(0, 0xFFFF))
def test_permute(library: Library, a: int, b: int, selector: int) -> None:
    chosen: list[int] = []
    for place in range(4):
        code = selector >> (4 * place) & 15
        byte = _bytes(a, b)[code & 7]
        chosen.append((0xFF if byte & 0x80 else 0) if code & 8 else byte)
    assert _call(library, "prmt", a, b, selector) == _word(chosen)


# The tables of the PTX ISA, with the highest byte first.
_PERMUTATIONS = {
    "f4e": ((3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)),
    "b4e": ((5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)),
    "rc16": ((1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)),
}


@pytest.mark.parametrize("mode", _PERMUTATIONS)
def test_permutation_modes(library: Library, mode: str) -> None:
    a, b = 0x33221100, 0x77665544
    operands = (a, b) if mode in ("f4e", "b4e") else (a,)
    for control, row in enumerate(_PERMUTATIONS[mode]):
        wanted = _word([index * 0x11 for index in reversed(row)])
        assert _call(library, f"prmt_{mode}", *operands, control) == wanted
        assert _call(library, f"prmt_{mode}", *operands, control + 4) == wanted


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "mulhi_s": (16, lambda a, b: _signed(a, 16) * _signed(b, 16) >> 16),
    "mulhi_us": (16, lambda a, b: a * b >> 16),
    "mulhi_i": (32, lambda a, b: _signed(a, 32) * _signed(b, 32) >> 32),
    "mulhi_ui": (32, lambda a, b: a * b >> 32),
    "mulhi_ll": (64, lambda a, b: _signed(a, 64) * _signed(b, 64) >> 64),
    "mulhi_ull": (64, lambda a, b: a * b >> 64),
    "mul24_i": (32, lambda a, b: _signed(a, 24) * _signed(b, 24)),
    "mul24_ui": (32, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
}


@pytest.mark.parametrize("name", _BINARY)
@_QUICK
@given(a=st.integers(0, 2**64 - 1), b=st.integers(0, 2**64 - 1))
def test_products(library: Library, name: str, a: int, b: int) -> None:
    bits, exact = _BINARY[name]
    a, b = a % (1 << bits), b % (1 << bits)
    assert _wide(library, name, a, b) == exact(a, b) % (1 << bits)


def _wide(library: Library, name: str, *operands: int) -> int:
    arrays = [np.array([operand], np.uint64) for operand in operands]
    return int(library(f"nvvm_{name}", *arrays)[0])


@pytest.mark.parametrize(
    ("name", "bits", "signed"),
    [
        ("s", 16, True),
        ("us", 16, False),
        ("i", 32, True),
        ("ui", 32, False),
        ("ll", 64, True),
        ("ull", 64, False),
    ],
)
@_QUICK
@given(values=st.tuples(*[st.integers(0, 2**64 - 1)] * 3))
def test_sums_of_differences(
    library: Library, name: str, bits: int, signed: bool, values: tuple[int, int, int]
) -> None:
    a, b, c = (value % (1 << bits) for value in values)
    far = abs(_signed(a, bits) - _signed(b, bits)) if signed else abs(a - b)
    assert _wide(library, f"sad_{name}", a, b, c) == (c + far) % (1 << bits)


@pytest.mark.parametrize("signs", ["s_s", "s_u", "u_s", "u_u"])
@_QUICK
@given(a=_WORDS, b=_WORDS, c=_WORDS)
def test_dot_products(library: Library, signs: str, a: int, b: int, c: int) -> None:
    def part(word: int, index: int, bits: int, sign: str) -> int:
        value = word >> (bits * index) & ((1 << bits) - 1)
        return _signed(value, bits) if sign == "s" else value

    of_a, of_b = signs.split("_")
    four = sum(part(a, i, 8, of_a) * part(b, i, 8, of_b) for i in range(4))
    assert _call(library, f"idp4a_{signs}", a, b, c) == (four + c) % 2**32
    for high in (0, 1):
        two = sum(part(a, i, 16, of_a) * part(b, i + 2 * high, 8, of_b) for i in range(2))
        assert _call(library, f"idp2a_{signs}", a, b, high, c) == (two + c) % 2**32


def test_find_nth_set(library: Library) -> None:
    def definition(mask: int, base: int, offset: int) -> int:
        if offset == 0:
            return base if base < 32 and mask >> base & 1 else 2**32 - 1
        places = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [place for place in places if mask >> place & 1]
        return found[abs(offset) - 1] if len(found) >= abs(offset) else 2**32 - 1

    for mask, base, offset in itertools.product(_EDGES, (0, 1, 7, 30, 31), range(-4, 5)):
        got = _call(library, "fns", mask, base, offset % 2**32)
        assert got == definition(mask, base, offset), (mask, base, offset)


_COUNTS = (0, 1, 5, 31, 32, 33, 64, 0xFFFFFFFF)


def test_bit_masks(library: Library) -> None:
    for position, width in itertools.product(_COUNTS, repeat=2):
        clamped = ((1 << min(width, 32)) - 1) << min(position, 32)
        assert _call(library, "bmsk_clamp", position, width) == clamped % 2**32
        wrapped = ((1 << width % 32) - 1) << position % 32
        assert _call(library, "bmsk_wrap", position, width) == wrapped % 2**32


def test_extensions(library: Library) -> None:
    for value, count in itertools.product(_EDGES, _COUNTS):
        for mode, bits in (("clamp", min(count, 32)), ("wrap", count % 32)):
            low = value % (1 << bits)
            assert _call(library, f"zext_{mode}", value, count) == low
            extended = _signed(low, bits) if bits else 0
            assert _call(library, f"sext_{mode}", value, count) == extended % 2**32


@pytest.mark.parametrize("bits", [32, 64])
def test_find_leading_one(library: Library, bits: int) -> None:
    for value in (*_EDGES, *(edge << (bits - 32) for edge in _EDGES)):
        inverted = value ^ ((1 << bits) - 1) if value >> (bits - 1) else value
        for name, place in (("u", value.bit_length() - 1), ("s", inverted.bit_length() - 1)):
            arrays = np.array([value], np.uint64), np.array([0]), np.array([1])
            found = library(f"nvvm_flo_{name}_i{bits}", arrays[0], arrays[1])[0]
            shift = library(f"nvvm_flo_{name}_i{bits}", arrays[0], arrays[2])[0]
            assert found == place % 2**32
            assert shift == (bits - 1 - place if place >= 0 else 2**32 - 1)


def test_funnel_shifts(library: Library) -> None:
    high, low = 0x89ABCDEF, 0x01234567
    for amount in _COUNTS:
        left = ((high << 32 | low) << min(amount, 32) >> 32) % 2**32
        right = ((high << 32 | low) >> min(amount, 32)) % 2**32
        assert _call(library, "fshl_clamp_i32", high, low, amount) == left
        assert _call(library, "fshr_clamp_i32", high, low, amount) == right


def test_halves_of_doubles(library: Library) -> None:
    values = np.array([1.5, -0.0, np.pi])
    bits = values.view(np.uint64)
    high, low = library("nvvm_d2i_hi", values), library("nvvm_d2i_lo", values)
    assert np.array_equal(high, bits >> 32)
    assert np.array_equal(low, bits & 0xFFFFFFFF)
    assert np.array_equal(library("nvvm_lohi_i2d", low, high).view(np.uint64), bits)
