"""Fused programs, from torch-mlir's text to the CPU device, against torch."""

from __future__ import annotations

import pytest
import torch
from host_ir.libraries import library

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir, load_named_dialects
from hirc.pipelines.host_ir import FUSION_STAGE, HostIrOptions, host_ir_stages
from hirc.pipelines.pipeline import run_steps

from .programs import COLUMNS, PROGRAMS, arguments, module_text

SIZES = [{"r": 6, "c": 8}, {"r": 1, "c": 8}, {"r": 7, "c": 1}, {"r": 37, "c": 131}, {"r": 0, "c": 8}]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_fused_program_gives_what_torch_gives(name: str, dtype: torch.dtype) -> None:
    program = PROGRAMS[name]
    for sizes in SIZES:
        if "c" in program.fixed and sizes["c"] != COLUMNS:
            continue
        inputs = arguments(program, dtype, sizes)
        wide = [value.double() if value.is_floating_point() else value for value in inputs]
        wanted = program.function(*wide)
        found = library(module_text(dtype))[name](*inputs)
        pairs = zip(
            found if isinstance(found, tuple) else (found,),
            wanted if isinstance(wanted, tuple) else (wanted,),
            strict=True,
        )
        for one, other in pairs:
            result = torch.as_tensor(one) if dtype != torch.bfloat16 else torch.from_dlpack(one)
            close = 2e-2 if dtype == torch.bfloat16 else 1e-5
            torch.testing.assert_close(
                result.to(other.dtype), other, rtol=close, atol=close, equal_nan=True
            )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_as_few_kernels_as_can_be(name: str) -> None:
    text = module_text(torch.float32)
    session = Session()
    load_named_dialects(text.encode(), session.context)
    module = ir.Module.parse(text, session.context)
    for stage in host_ir_stages(HostIrOptions(executable=False)):
        run_steps(module.operation, stage.steps)
        if stage.name == FUSION_STAGE:
            break
    (function,) = (
        each.operation
        for each in module.body
        if ir.StringAttr(each.operation.attributes["sym_name"]).value == name
    )
    assert str(function).count("linalg.generic") == PROGRAMS[name].kernels
