"""Floating-point literals: every bit pattern that the producer prints reaches LLVM 22 unchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hirc.compiler.gate import to_consumer
from support.producer_llvm import ParseError, meaning, printed

_WIDTH = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "fp128": 128}


def _round_trip(type_name: str, patterns: Sequence[int]) -> None:
    """The patterns as one array: the producer prints it, LLVM 22 reads it, the producer agrees."""
    digits = _WIDTH[type_name] // 4
    elements = ", ".join(f"{type_name} f0x{bits:0{digits}X}" for bits in patterns)
    text = printed(f"@x = global [{len(patterns)} x {type_name}] [{elements}]")
    read = printed(str(llvm.parse_assembly(to_consumer(text))))
    assert _elements(read) == _elements(text)


def _elements(text: str) -> list[str]:
    array = next(line for line in text.splitlines() if line.startswith("@x = "))
    return array.split(", ")


def _stored(type_name: str, patterns: Sequence[int]) -> None:
    """The bits themselves, as LLVM 22 prints them: not by way of the producer's reading."""
    digits = _WIDTH[type_name] // 4
    text = printed(
        "\n".join(
            f"@x{index} = global {type_name} f0x{bits:0{digits}X}"
            for index, bits in enumerate(patterns)
        )
    )
    module = llvm.parse_assembly(to_consumer(text))
    for index, bits in enumerate(patterns):
        literal = str(module.get_global_variable(f"x{index}")).split()[4]
        assert _bits(literal, type_name) == bits


def _bits(literal: str, type_name: str) -> int:
    """The pattern of a literal in LLVM 22's spelling. Source: LLVM 22 language reference."""
    prefix = {"half": "0xH", "bfloat": "0xR"}.get(type_name, "0x")
    if not literal.startswith("0x"):
        value = float(literal)
        if type_name == "half":
            return int(np.float16(value).view(np.uint16))
        if type_name == "double":
            return int(np.float64(value).view(np.uint64))
        bits = int(np.float32(value).view(np.uint32))
        return bits >> 16 if type_name == "bfloat" else bits
    stored = int(literal.removeprefix(prefix), 16)
    if type_name != "float":
        return stored
    # A float is written as the double of its value; a NaN keeps the payload's upper bits.
    sign, exponent, fraction = stored >> 63, stored >> 52 & 0x7FF, stored & (1 << 52) - 1
    if exponent == 0x7FF:
        return sign << 31 | 0xFF << 23 | fraction >> 29
    return int(np.uint64(stored).view(np.float64).astype(np.float32).view(np.uint32))


@pytest.mark.parametrize("type_name", ["half", "bfloat"])
def test_all_16_bit_values(type_name: str) -> None:
    _round_trip(type_name, range(1 << 16))


def _scaled(digits: int, exponent: int) -> float:
    return digits * 10.0**exponent


_FLOATS = st.integers(0, (1 << 32) - 1)
_DOUBLES = st.integers(0, (1 << 64) - 1)
_SHORT = st.builds(_scaled, st.integers(-9999999, 9999999), st.integers(-44, 31))


@given(st.lists(_FLOATS, min_size=1, max_size=64))
@example([0x7F800001, 0xFF800001, 0x7FC00000, 0x7FFFFFFF, 0x7F800000, 0x80000000, 0x00000001])
@example([0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x3DCCCCCD, 0x4B800001])
def test_floats(patterns: list[int]) -> None:
    _round_trip("float", patterns)
    _stored("float", patterns)


@given(st.lists(_DOUBLES, min_size=1, max_size=64))
@example([0x7FF0000000000001, 0xFFF8000000000000, 0x7FF0000000000000, 0x0000000000000001])
@example([0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FB999999999999A, 0x7FEFFFFFFFFFFFFF])
def test_doubles(patterns: list[int]) -> None:
    _round_trip("double", patterns)
    _stored("double", patterns)


def _quadruple(sign: int, exponent: int, fraction: int) -> int:
    return sign << 127 | exponent << 112 | fraction


# Exponents far from zero take the producer seconds to print.
_QUADRUPLES = st.builds(
    _quadruple,
    st.integers(0, 1),
    st.one_of(st.integers(0x3F80, 0x4080), st.just(0x7FFF)),
    st.one_of(st.integers(0, (1 << 112) - 1), st.just(0), st.just(1), st.just(1 << 111)),
)


@given(st.lists(_QUADRUPLES, min_size=1, max_size=16))
@example([0, 1 << 127, 0x7FFF << 112, 0xFFFF8 << 108 | 1, 0x7FFF << 112 | 1])
def test_quadruples(patterns: list[int]) -> None:
    _round_trip("fp128", patterns)


@given(st.lists(st.integers(0, (1 << 16) - 1), min_size=1, max_size=32))
def test_16_bit_patterns_as_stored(patterns: list[int]) -> None:
    _stored("half", patterns)
    _stored("bfloat", patterns)


@given(st.lists(_SHORT, min_size=1, max_size=64), st.sampled_from(sorted(_WIDTH)))
def test_short_decimals(values: list[float], type_name: str) -> None:
    """What programs write: decimals of a few digits, which the producer prints as such."""
    text = "\n".join(
        f"@x{index} = global {type_name} {value:.6e}" for index, value in enumerate(values)
    )
    try:
        source = printed(text)
    except ParseError as error:
        assume("flowed type" not in str(error))
        raise
    assert meaning(str(llvm.parse_assembly(to_consumer(source)))) == meaning(source)


def test_a_decimal_in_the_middle_of_two_floats_is_rounded_once() -> None:
    # 2^-149 * 1.5 and neighbours: by way of double the tie would be decided by the last digit.
    decimals = ["2.101948e-45", "2.101947e-45", "7.006493e-46", "3.503246e-45", "3.503247e-45"]
    text = "\n".join(f"@x{i} = global float {decimal}" for i, decimal in enumerate(decimals))
    assert meaning(str(llvm.parse_assembly(to_consumer(text)))) == meaning(text)


@given(st.lists(_FLOATS, min_size=4, max_size=4))
def test_every_place_a_literal_may_stand(patterns: list[int]) -> None:
    a, b, c, d = (f"f0x{bits:08X}" for bits in patterns)
    text = printed(
        f"""
        @g = global {{ float, [2 x float], <2 x float> }} {{ float {a}, [2 x float] [float {b},
          float {c}], <2 x float> <float {d}, float {a}> }}
        declare float @h(float, double)
        define float @f(float %x, i1 %c) {{
        entry:
          %0 = fadd float %x, {a}
          %1 = fcmp olt float {b}, %0
          %2 = select i1 %1, float {c}, float {d}
          %3 = fmul <2 x float> splat (float {a}), <float {b}, float {c}>
          %4 = insertvalue {{ i32, float }} poison, float {d}, 1
          %5 = call float @h(float {a}, double 0.5)
          br i1 %c, label %next, label %last
        next:
          br label %last
        last:
          %6 = phi float [ {b}, %entry ], [ {c}, %next ]
          ret float %6
        }}
        """
    )
    assert meaning(str(llvm.parse_assembly(to_consumer(text)))) == meaning(text)


def test_exact_decimals_stay_readable() -> None:
    text = printed("@a = global float 1.5\n@b = global half -2.0\n@c = global double 0.1")
    assert re.findall(r"global (.*)", to_consumer(text)) == [
        "float 1.500000e+00",
        "half -2.000000e+00",
        "double 1.000000e-01",
    ]
