"""What torch-mlir makes of models' parts, fused: against torch, evaluated and on the CPU device."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from host_ir.libraries import library

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir, load_named_dialects
from hirc.pipelines.host_ir import FUSION_STAGE, HostIrOptions, host_ir_stages
from hirc.pipelines.pipeline import run_steps
from support.evaluate_generic import evaluate

from .programs import COLUMNS, PROGRAMS, arguments, program_text

SIZES = [{"r": 6, "c": 8}, {"r": 1, "c": 8}, {"r": 7, "c": 1}, {"r": 11, "c": 13}, {"r": 0, "c": 8}]
# The schedules' own tests run every kind of kernel; these are whole programs.
RUN = (
    ("softmax", torch.bfloat16),
    ("residual_layer_norm", torch.float32),
    ("cross_entropy", torch.float32),
    ("share", torch.float32),
)


@cache
def fused(name: str, dtype: torch.dtype) -> ir.Module:
    """A program after the stage that fuses."""
    text = program_text(name, dtype)
    session = Session()
    load_named_dialects(text.encode(), session.context)
    module = ir.Module.parse(text, session.context)
    for stage in host_ir_stages(HostIrOptions(executable=False)):
        run_steps(module.operation, stage.steps)
        if stage.name == FUSION_STAGE:
            return module
    raise AssertionError("there is no such stage")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_fused_program_computes_what_torch_does(name: str, dtype: torch.dtype) -> None:
    program = PROGRAMS[name]
    module = fused(name, dtype)
    for sizes in SIZES:
        if "c" in program.fixed and sizes["c"] != COLUMNS:
            continue
        inputs = arguments(program, dtype, sizes)
        with module.context:
            function = module.body.operations[0].operation
            found = evaluate(function, [value.numpy() for value in inputs])
        compare([torch.from_numpy(each) for each in found], wanted(name, inputs), dtype)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_as_few_kernels_as_can_be(name: str) -> None:
    assert str(fused(name, torch.float32)).count("linalg.generic") == PROGRAMS[name].kernels


@pytest.mark.parametrize(("name", "dtype"), RUN)
def test_a_fused_program_runs(name: str, dtype: torch.dtype) -> None:
    program = PROGRAMS[name]
    for sizes in SIZES[:1] + SIZES[3:]:
        if "c" in program.fixed and sizes["c"] != COLUMNS:
            continue
        inputs = arguments(program, dtype, sizes)
        # Tuned as for -O2, which would take three times as long.
        compiled = library(program_text(name, dtype), "-O0", "--schedules=tuned")
        found = compiled[name](*inputs)
        results = found if isinstance(found, tuple) else (found,)
        tensors = [
            each if isinstance(each, torch.Tensor) else torch.from_dlpack(each) for each in results
        ]
        compare(tensors, wanted(name, inputs), dtype)


def wanted(name: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """What torch computes, in double precision."""
    wide = [value.double() if value.is_floating_point() else value for value in inputs]
    results: Any = PROGRAMS[name].function(*wide)
    return list(results) if isinstance(results, tuple) else [results]


def compare(found: list[torch.Tensor], other: list[torch.Tensor], dtype: torch.dtype) -> None:
    close = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}[dtype]
    for one, two in zip(found, other, strict=True):
        torch.testing.assert_close(
            one.to(two.dtype), two, rtol=close, atol=close, equal_nan=True, check_stride=False
        )
