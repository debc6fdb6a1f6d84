"""The programs of the catalogue as commands on the CPU device, against the interpreter."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from host_ir.agreement import difference
from host_ir.catalog import HostProgram, host_programs
from host_ir.element_values import DTYPES
from host_ir.libraries import library

import hirc
from hirc.compiler.interpreter import Interpreter
from hirc.tools.hirc import main as run_hirc
from hirc.tools.hirc_run import main as run_program


def built(program: HostProgram, folder: Path, *flags: str) -> Path:
    output = folder / program.name
    words = [str(program.path), "-o", str(output), "--offload-arch=cpu", *flags]
    assert run_hirc(words) == 0
    return output


@pytest.mark.parametrize("program", host_programs(), ids=lambda program: program.name)
def test_every_way_gives_what_the_interpreter_gives(
    program: HostProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = inputs_given(monkeypatch)
    interpreted = outputs_of(None, program, tmp_path / "interpreted")
    (inputs,) = given
    # What is optimised has few kernels, and what has many is not optimised.
    command = built(program, tmp_path, "-O2", "--schedules=general")
    agree(outputs_of([str(command)], program, tmp_path / "compiled"), interpreted)
    in_process = library(program.text, "-O0", "--schedules=tuned")
    agree(outputs_of_call(in_process, inputs), interpreted)
    in_process.save(tmp_path / "library.so")
    agree(outputs_of_call(hirc.load(tmp_path / "library.so"), inputs), interpreted)


def inputs_given(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """Returns where copies of the inputs of what is interpreted from now on are found."""
    given: list[list[Any]] = []
    run = Interpreter.run

    def noted(self: Interpreter, inputs: Sequence[Any], *others: Any) -> list[Any]:
        given.append(copies(inputs))
        return run(self, inputs, *others)

    monkeypatch.setattr(Interpreter, "run", noted)
    return given


def copies(values: Sequence[Any]) -> list[Any]:
    return [each.clone() if isinstance(each, torch.Tensor) else each for each in values]


def outputs_of_call(programs: hirc.Artifact, inputs: list[Any]) -> list[torch.Tensor]:
    outputs = programs.main(*copies(inputs))
    every = outputs if isinstance(outputs, tuple) else (outputs,)
    return [torch.as_tensor(each) for each in every]


def agree(got_all: list[torch.Tensor], wanted_all: list[torch.Tensor]) -> None:
    assert len(got_all) == len(wanted_all) > 0
    for got, wanted in zip(got_all, wanted_all, strict=True):
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
