"""The check of the math programs' output, tried on emulated outputs: right ones and wrong ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from programs import math_reference as reference
from programs.math_program_text import Column, MathProgram
from programs.math_programs import check, programs
from programs.math_reference import Format

PROGRAMS = {program.name: program for program in programs()}
FLOAT_UNARY = [name for name in PROGRAMS if name.endswith("_unary")]
FLOAT_MULTIPLE = [name for name in PROGRAMS if name.endswith("_multiple")]

NUMPY_NAMES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "absf": "abs",
    "roundeven": "rint",
}


def half_away(x: Any) -> Any:
    return np.copysign(np.trunc(np.abs(x) + 0.5), x) if np.abs(x) < 2**60 else x


def reciprocal_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


# What numpy calls otherwise, or has not; minima and maxima are missing because it ignores the
# sign of zero.
EMULATED: dict[str, Callable[..., Any]] = {
    "round": half_away,
    "rsqrt": reciprocal_root,
    "erf": math.erf,
    "erfc": math.erfc,
    "powf": np.power,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "divf": np.divide,
    "remf": np.fmod,
}
NOT_EMULATED = {
    *("fma", "clampf", "fpowi", "sincos"),
    *("maximumf", "maxnumf", "minimumf", "minnumf"),
}


def emulate(column: Column, row: Sequence[int]) -> int | None:
    """The bits that numpy gives, or None for what it does not have.

    It computes in doubles for the narrower formats, and doubles' own functions in the x87's 64
    bits of significand, because its functions on doubles err by more than CUDA's may.
    """
    name = column.name.split()[0].partition(".")[2].partition("#")[0]
    form = column.result
    if not isinstance(form, Format) or name in NOT_EMULATED:
        return None
    if form.name == "f64" and name in ("erf", "erfc"):
        return None
    function = EMULATED.get(name) or getattr(np, NUMPY_NAMES.get(name, name))
    exact = name in ("sqrt", "divf", "remf")
    # np.power takes an exponent of one half for a square root, but not of long doubles.
    long = (form.name == "f64" and not exact) or name == "powf"
    kind = np.longdouble if long else np.float64
    with np.errstate(all="ignore"):
        result = function(*(kind(form.decode(bits)) for bits in row))
        return form.encode(float(result))


def output(program: MathProgram, replace: Callable[[Column, Sequence[int], int], int]) -> str:
    """What the program prints when every result is exact but for what `replace` makes of it."""
    return "\n".join(
        str(replace(column, row, column.expected(row)[0]))
        for group in program.groups
        for column in group.columns
        for row in group.rows
    )


@pytest.mark.parametrize("name", FLOAT_UNARY + FLOAT_MULTIPLE)
def test_numpys_results_pass(name: str) -> None:
    emulated = 0

    def numpy_result(column: Column, row: Sequence[int], exact: int) -> int:
        nonlocal emulated
        result = emulate(column, row)
        emulated += result is not None
        return exact if result is None else result

    assert check(PROGRAMS[name], output(PROGRAMS[name], numpy_result)) == []
    assert emulated > 1000


def wrong_output(program: MathProgram, operation: str, change: Callable[[int], int]) -> str:
    """Right output but for the results of one operation."""

    def changed(column: Column, row: Sequence[int], exact: int) -> int:
        return change(exact) if column.name.startswith(operation + " ") else exact

    return output(program, changed)


# Program, operation, what is made of its right results, and what the check says of it.
WRONG: list[tuple[str, str, Callable[[int], int], str]] = [
    ("math_f32_unary", "math.exp", lambda bits: bits + 3, "3 ulp apart, 2 allowed"),
    ("math_f32_unary", "math.sqrt", lambda bits: bits + 1, "1 ulp apart, 0 allowed"),
    ("math_f64_unary", "math.sinh", lambda bits: bits ^ (1 << 63), "2 allowed"),
    ("math_f16_unary", "math.tan", lambda bits: bits + 2, "2 ulp apart, 1 allowed"),
    ("math_bf16_unary", "math.absf", lambda bits: bits | 0x8000, "expected"),
    ("math_f32_unary", "math.log", lambda bits: 0x7FC00000, "nan, expected"),
    ("math_f32_unary", "math.isnan", lambda bits: 2 * bits, "0x2, expected 0x1"),
    ("math_f32_multiple", "math.copysign", lambda bits: bits & 0x7FFFFFFF, "expected -0.0"),
    ("math_f64_multiple", "math.fma", lambda bits: bits - 1, "1 ulp apart, 0 allowed"),
    ("math_integer", "math.ipowi", lambda bits: bits + 1, "expected"),
    ("math_vector", "math.cos", lambda bits: bits + 5, "ulp apart"),
]


@pytest.mark.parametrize(("name", "operation", "change", "violation"), WRONG)
def test_wrong_results_are_found(
    name: str, operation: str, change: Callable[[int], int], violation: str
) -> None:
    program = PROGRAMS[name]
    violations = check(program, wrong_output(program, operation, change))
    assert violations
    assert all(f": {operation} " in line for line in violations)
    assert any(violation in line for line in violations)


def test_a_function_that_cancels_is_found() -> None:
    """log1p by log(1 + x), as an approximate expansion has it."""

    def naive(column: Column, row: Sequence[int], exact: int) -> int:
        form = column.result
        if not column.name.startswith("math.log1p ") or not isinstance(form, Format):
            return exact
        with np.errstate(all="ignore"):
            return form.encode(float(np.log(np.float32(1) + np.float32(form.decode(row[0])))))

    program = PROGRAMS["math_f32_unary"]
    assert check(program, output(program, naive))


def test_a_sum_rounded_twice_is_found() -> None:
    """An f16 fma computed in f32."""

    def twice(column: Column, row: Sequence[int], exact: int) -> int:
        form = column.result
        if not column.name.startswith("math.fma ") or not isinstance(form, Format):
            return exact
        x, y, z = (np.float32(form.decode(bits)) for bits in row)
        with np.errstate(all="ignore"):
            return form.encode(float(x * y + z))

    program = PROGRAMS["math_f16_multiple"]
    assert check(program, output(program, twice))


def test_output_cut_short_is_found() -> None:
    program = PROGRAMS["math_integer"]
    whole = wrong_output(program, "none", lambda bits: bits)
    assert check(program, whole) == []
    (violation,) = check(program, whole.rpartition("\n")[0])
    assert "numbers printed" in violation


def test_printed_numbers_may_be_signed() -> None:
    program = PROGRAMS["math_f64_unary"]
    signed = wrong_output(program, "none", lambda bits: bits).split()
    printed = [str(int(bits) - (1 << 64) if int(bits) >> 63 else bits) for bits in signed]
    assert check(program, "\n".join(printed)) == []


def test_programs_are_few_and_the_same_every_time() -> None:
    assert len(PROGRAMS) <= 12
    assert [program.mlir for program in programs()] == [p.mlir for p in PROGRAMS.values()]


def test_reference_keeps_the_sign_of_nan() -> None:
    assert reference.binary("copysign", 1.0, reference.F32.decode(0xFFC00000)) == -1.0


def test_reference_rounds_what_lies_just_below_a_tie() -> None:
    exact = reference.fma(1.0 + 2.0**-52, 1.5, -(2.0**-1074))
    assert reference.F64.encode(exact) == 0x3FF8000000000001
