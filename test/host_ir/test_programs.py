"""The programs of the catalogue as commands on the CPU device, against the interpreter."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from host_ir.agreement import difference
from host_ir.catalog import HostProgram, host_programs
from host_ir.element_values import DTYPES

from hirc.tools.hirc import main as run_hirc
from hirc.tools.hirc_run import main as run_program


def built(program: HostProgram, folder: Path, *flags: str) -> Path:
    output = folder / program.name
    words = [str(program.path), "-o", str(output), "--offload-arch=cpu", *flags]
    assert run_hirc(words) == 0
    return output


@pytest.mark.parametrize("program", host_programs(), ids=lambda program: program.name)
def test_a_command_gives_what_the_interpreter_gives(program: HostProgram, tmp_path: Path) -> None:
    command = built(program, tmp_path)
    compiled = outputs_of([str(command)], program, tmp_path / "compiled")
    interpreted = outputs_of(None, program, tmp_path / "interpreted")
    assert len(compiled) == len(interpreted) > 0
    for got, wanted in zip(compiled, interpreted, strict=True):
        assert got.dtype == wanted.dtype
        element = next(name for name, dtype in DTYPES.items() if dtype == wanted.dtype)
        wrong = difference(got, wanted, element, scale=float(wanted.to(torch.float64).abs().max()))
        assert wrong is None, wrong


def outputs_of(command: list[str] | None, program: HostProgram, folder: Path) -> list[torch.Tensor]:
    """What a command, or without one `hirc-run --interpret`, writes as the program's outputs."""
    folder.mkdir()
    files = [folder / f"{number}.npy" for number in range(output_count(program))]
    flags = [*program.flags, *(f"--output={path}" for path in files)]
    if command is None:
        assert run_program([str(program.path), "--interpret", *flags]) == 0
    else:
        done = subprocess.run(
            [*command, *flags], capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    return [torch.from_numpy(np.load(path)) for path in files]


def output_count(program: HostProgram) -> int:
    from hirc.compiler.session import Session
    from hirc.dialects.mlir import ir

    session = Session()
    module = ir.Module.parse(program.text, session.context)
    main = next(
        op
        for op in module.body
        if op.operation.name == "hir.program"
        and ir.StringAttr(op.operation.attributes["sym_name"]).value == "main"
    )
    kind = ir.TypeAttr(main.operation.attributes["function_type"]).value
    return len(ir.FunctionType(kind).results)
