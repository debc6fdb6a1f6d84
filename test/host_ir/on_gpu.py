"""Builds Host IR programs for a GPU with what the interpreter gives for them, to be compared there.

    cd test && ../.venv/bin/python -m host_ir.on_gpu ../build/host-ir [element types]
    python3 build/host-ir/run.py                               # on the GPU machine

The second part needs torch and numpy on the GPU machine, and nothing of hirc but its loader, which
is copied beside the programs. Where all of hirc is installed, the programs are compiled in the
process too.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
import torch
from host_ir.cases import cases
from host_ir.catalog import host_programs
from host_ir.operations import programs
from host_ir.program_texts import module_text
from host_ir.test_programs import inputs_given, outputs_of

import hirc
from hirc.tools import carried_folder
from hirc.tools.hirc import main as run_hirc

HERE = Path(__file__).parent
_TARGET = "--offload-arch=sm_90"


def build(folder: Path, elements: list[str]) -> None:
    """Writes the programs, their inputs and what they are to give into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    copy_loader(folder)
    catalogue: dict[str, object] = {}
    for program in host_programs():
        assert run_hirc([str(program.path), "-o", str(folder / program.name), _TARGET]) == 0
        words = [str(program.path), "-o", str(folder / f"{program.name}.so"), "--emit=shared"]
        assert run_hirc([*words, _TARGET]) == 0
        with tempfile.TemporaryDirectory() as written, pytest.MonkeyPatch.context() as patch:
            given = inputs_given(patch)
            expected = outputs_of(None, program, Path(written) / "outputs")
        catalogue[program.name] = {
            "inputs": program.inputs,
            "values": given[0],
            "text": program.text,
            "expected": expected,
        }
    torch.save(catalogue, folder / "catalogue.pt")
    for element in elements:
        _build_numerics(folder, element)


def _build_numerics(folder: Path, element: str) -> None:
    name = element.replace("<", "_").replace(">", "")
    source = folder / f"{name}.mlir"
    source.write_text(module_text(programs(element)))
    words = [str(source), "-o", str(folder / f"{name}.so"), "--emit=shared", _TARGET]
    assert run_hirc(words) == 0
    kept: list[dict[str, object]] = []

    for case in cases(programs(element), 3):
        program = case.program
        (expected,) = hirc.interpret(program.text, list(case.inputs), entry=program.name)
        kept.append(
            {
                "program": program.name,
                "output": program.output,
                "op": program.op,
                "inputs": list(case.inputs),
                "layout": case.output and (case.output.order, case.output.step, case.output.lead),
                "expected": expected,
            }
        )
    torch.save(kept, folder / f"{name}.pt")


def copy_loader(folder: Path) -> None:
    """Puts hirc's loader and the tests' own modules into `folder`, and what runs the programs."""
    carried_folder.copy_loader(folder)
    shutil.copytree(HERE, folder / "host_ir", dirs_exist_ok=True)
    shutil.copy(HERE / "run_on_gpu.py", folder / "run.py")


if __name__ == "__main__":
    random.seed(0)
    build(Path(sys.argv[1]), sys.argv[2:])
