"""The table of libdevice: its programs, its file, and its check on outputs right and wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from programs.libdevice_accuracy import documented, is_exact, truth
from programs.libdevice_functions import Function, approximations, functions
from programs.libdevice_programs import Program, programs
from programs.libdevice_table import compare, load, numbers_of_row, record
from programs.libdevice_values import FORMATS, WIDTHS

from hirc.compiler.executable import read_linked_file
from hirc.tools.hirc import main as hirc

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("libdevice_table")

PROGRAMS = {program.name: program for program in programs()}
FUNCTIONS = {function.name: function for function in functions()}

# A result for a function, its place among the results, and the bits that the right one has.
Change = Callable[[Function, int, int], int]


@cache
def right_output(name: str) -> tuple[tuple[Function, int, int], ...]:
    """The function, place and bits of every number that a program would print.

    The bits are the exact result's, or random ones where it is not known.
    """
    found: list[tuple[Function, int, int]] = []
    for group in PROGRAMS[name].groups:
        for function in group.functions:
            generator = random.Random(function.name)
            for place, kind in enumerate(function.results):
                width = WIDTHS[kind] if kind in WIDTHS else FORMATS[kind].width
                for row in group.rows:
                    exact = truth(function, numbers_of_row(function, row)) if place == 0 else None
                    bits = generator.getrandbits(width) if exact is None else exact
                    found.append((function, place, bits))
    return tuple(found)


def printed(program: Program, change: Change = lambda function, place, bits: bits) -> str:
    numbers = (str(change(*each)) for each in right_output(program.name))
    return "\n".join(numbers) + "\n"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file recorded from right outputs."""
    file = tmp_path_factory.mktemp("libdevice") / "recorded.npz"
    outputs = {name: printed(program) for name, program in PROGRAMS.items()}
    return record(outputs, "a device", file)


def test_every_function_is_run_by_one_program() -> None:
    run = [f.name for p in PROGRAMS.values() for group in p.groups for f in group.functions]
    assert sorted(run) == sorted(FUNCTIONS)
    assert len(run) == 349
    for program in PROGRAMS.values():
        for group in program.groups:
            for function in group.functions:
                assert f" llvm.call @{function.symbol}(" in program.mlir


def test_programs_are_few_and_the_same_every_time() -> None:
    assert len(PROGRAMS) <= 6
    assert [program.mlir for program in programs()] == [p.mlir for p in PROGRAMS.values()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_links_for_a_gpu(name: str, tmp_path: Path) -> None:
    source, output = tmp_path / f"{name}.mlir", tmp_path / name
    source.write_text(PROGRAMS[name].mlir)
    assert hirc([str(source), "-o", str(output), "--offload-arch=sm_90"]) == 0
    kernels = sum(len(group.functions) for group in PROGRAMS[name].groups)
    assert read_linked_file(output).entries == kernels


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_recorded_compares_equal(name: str, recorded: Path) -> None:
    table = load(recorded)
    assert table.device == "a device"
    assert compare(name, printed(PROGRAMS[name]), table) == []


def test_nothing_recorded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "recorded.npz")


# Program, function, result, what is made of its right bits, and what the check says of it.
WRONG: list[tuple[str, str, int, Callable[[int], int], str]] = [
    ("libdevice_float", "sinf", 0, lambda bits: bits ^ 1, "1 ulp apart, 0 allowed"),
    ("libdevice_float", "fabsf", 0, lambda bits: bits | 1 << 31, "the GPU's 0.0"),
    ("libdevice_float", "logf", 0, lambda bits: bits ^ 1, "0 allowed"),
    ("libdevice_float", "expf", 0, lambda bits: bits + 3, "3 ulp apart, 2 allowed"),
    ("libdevice_float", "expf", 0, lambda bits: 0x7FC00000, "nan"),
    ("libdevice_float", "sincosf", 1, lambda bits: bits ^ 1, "1 ulp apart, 0 allowed"),
    ("libdevice_double", "log", 0, lambda bits: bits + 2, "2 ulp apart, 1 allowed"),
    ("libdevice_double", "modf", 1, lambda bits: bits ^ 1, "1 ulp apart, 0 allowed"),
    ("libdevice_double", "sqrt", 0, lambda bits: bits ^ 1, "1 ulp apart, 0 allowed"),
    ("libdevice_float_multiple", "fmodf", 0, lambda bits: bits ^ 1, "1 ulp apart, 0 allowed"),
    ("libdevice_float_multiple", "float2int_rz", 0, lambda bits: bits ^ 1, "the GPU's"),
    ("libdevice_double_multiple", "fma", 0, lambda bits: bits ^ 1, "1 ulp apart, 0 allowed"),
    ("libdevice_double_multiple", "remquo", 1, lambda bits: bits ^ 1, "the GPU's"),
    ("libdevice_integer", "byte_perm", 0, lambda bits: bits ^ 1, "the GPU's"),
    ("libdevice_integer", "nan", 0, lambda bits: bits ^ 1, "the GPU's"),
]


@pytest.mark.parametrize(("name", "wrong", "number", "change", "violation"), WRONG)
def test_wrong_results_are_found(
    name: str,
    wrong: str,
    number: int,
    change: Callable[[int], int],
    violation: str,
    recorded: Path,
) -> None:
    def changed(function: Function, place: int, bits: int) -> int:
        return change(bits) if (function.name, place) == (wrong, number) else bits

    violations = compare(name, printed(PROGRAMS[name], changed), load(recorded))
    assert violations
    assert all(line.startswith(f"{wrong}(") for line in violations)
    assert all(f"result {number}:" in line for line in violations)
    assert any(violation in line for line in violations)


def test_documented_errors_are_allowed(recorded: Path) -> None:
    def changed(function: Function, place: int, bits: int) -> int:
        finite = 0 < bits & 0x7FFFFFFF < 0x7F800000
        return bits + 1 if function.name in ("expf", "sinhf") and finite else bits

    program = PROGRAMS["libdevice_float"]
    assert compare(program.name, printed(program, changed), load(recorded)) == []


def test_a_wrong_record_is_found(tmp_path: Path) -> None:
    """What agrees with the GPU must be right too."""

    def changed(function: Function, place: int, bits: int) -> int:
        return bits + 3 if function.name == "sinh" else bits

    outputs = {name: printed(program, changed) for name, program in PROGRAMS.items()}
    table = load(record(outputs, "a device", tmp_path / "recorded.npz"))
    violations = compare("libdevice_double", outputs["libdevice_double"], table)
    assert violations
    assert all(line.startswith("sinh(") and "exactly" in line for line in violations)


def test_output_cut_short_is_found(recorded: Path) -> None:
    program = PROGRAMS["libdevice_integer"]
    cut = printed(program).rstrip().rpartition("\n")[0]
    (violation,) = compare(program.name, cut, load(recorded))
    assert "numbers" in violation


def test_a_record_of_other_rows_is_found(recorded: Path) -> None:
    table = load(recorded)
    contents = dict(table.contents)
    contents["i32_to_i32"] = contents["i32_to_i32"] | {"rows": "other"}
    program = PROGRAMS["libdevice_integer"]
    (violation,) = compare(program.name, printed(program), replace(table, contents=contents))
    assert "other functions or rows were recorded of i32_to_i32" in violation


# By what their code is: the choice of square root and division by __nvvm_reflect among it.
EXACT = ["sinf", "sqrtf", "sqrt", "fma", "fdiv_rz", "exp", "float2half_rn", "remainder", "hypotf"]
APPROXIMATE = {
    "log": "llvm.nvvm.rcp.approx.ftz.d",
    "powf": "rcp.approx.ftz.f32 $0,$1;",
    "pow": "llvm.nvvm.rcp.approx.ftz.d",
    "acos": "rsqrt.approx.ftz.f64 $0, $1;",
    "fast_tanhf": "llvm.tanh.f32",
    "exp2f": "llvm.nvvm.ex2.approx.f32",
}


def test_functions_are_exact_or_approximate_by_their_code() -> None:
    assert all(is_exact(FUNCTIONS[name]) for name in EXACT)
    for name, operation in APPROXIMATE.items():
        assert operation in approximations()[name]


def test_every_approximate_function_has_an_error() -> None:
    for program in PROGRAMS.values():
        for group in program.groups:
            for function in group.functions:
                for row in group.rows:
                    error = documented(function, numbers_of_row(function, row))
                    assert error.ulp >= 0
                    assert error.absolute >= 0
