"""Every operation, kind and element type: the compiled program and the interpreter agree."""

from __future__ import annotations

import pytest
from host_ir.agreement import difference, error_scale
from host_ir.cases import cases
from host_ir.element_values import DTYPES, place
from host_ir.libraries import library
from host_ir.operations import programs
from host_ir.program_texts import Program, module_text

import hirc
from hirc.compiler.interpreter import Interpreter
from support.fake_library import Fake
from support.host_ir import parsed

# What an operation computes is one thing, the schedule of its kernels another: these are compiled
# the fastest way but for one type each.
_SMALL = ("-O0",)
_FLAGS = {"i8": ("-O2", "--schedules=general")}
_TUNED = "f32"
# A reduction over open sizes has a dozen kernels and more; the schedules' own tests have its kinds.
_TUNED_REDUCTIONS = tuple(
    f"reduce_{each}"
    for each in ("sum_1", "sum_2", "sum_012", "mean_1", "any_1", "max_1", "argmax_1")
)

_OF_LIBRARY = ("f64", "f32", "tf32", "f16", "bf16")


@pytest.mark.parametrize("element", DTYPES)
def test_compiled_and_interpreted_agree(element: str) -> None:
    all_programs = programs(element)
    if element == _TUNED:
        tuned = [
            each for each in all_programs if each.op != "reduce" or each.name in _TUNED_REDUCTIONS
        ]
        compiled = library(module_text(tuned), "-O0", "--schedules=tuned")
        agree(compiled, tuned)
        all_programs = [each for each in all_programs if each not in tuned]
    compiled = library(module_text(all_programs), *_FLAGS.get(element, _SMALL))
    agree(compiled, all_programs)


@pytest.mark.parametrize("element", _OF_LIBRARY)
def test_products_by_the_library_agree(fake: Fake, element: str) -> None:
    products = [each for each in programs(element) if each.op in ("matmul", "linear")]
    compiled = fake.library(module_text(products), *_SMALL)
    assert fake.log(lambda: agree(compiled, products, 24))


def agree(compiled: hirc.Library, all_programs: list[Program], count: int = 4) -> None:
    """Calls each program so often, and compares what it gives with what the interpreter does."""
    # Each is parsed once.
    interpreters: dict[str, Interpreter] = {}
    for case in cases(all_programs, count):
        program = case.program
        if program.name not in interpreters:
            interpreters[program.name] = Interpreter(parsed(program.text), entry=program.name)
        (wanted,) = interpreters[program.name].run(list(case.inputs))
        out = None
        if case.output is not None:
            out = place(tuple(wanted.shape), case.output, wanted.dtype)
        got = getattr(compiled, program.name)(*case.inputs, out=out)
        if out is not None:
            assert got.data_ptr() == out.data_ptr()
            assert got.stride() == out.stride()
        scale = error_scale(program.name, program.op, case.inputs, wanted)
        wrong = difference(got, wanted, program.output, scale=scale)
        assert wrong is None, f"{program.name}, case {case.number}: {wrong}"
