"""Every program of the catalog builds here, registers its kernels, and runs as far as CUDA."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from programs.catalog import PROGRAMS, Program

from hirc.compiler.executable import read_linked_file
from hirc.tools.hirc import main as hirc


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_builds_and_needs_only_a_driver(program: Program, tmp_path: Path) -> None:
    output = tmp_path / program.name
    assert hirc([*program.command, "-o", str(output)]) == 0
    linked = read_linked_file(output)
    assert linked.entries > 0
    assert {image.arch for image in linked.images} == set(program.arch.split(","))
    done = subprocess.run([output], capture_output=True, text=True, timeout=60, check=False)
    if "cudaErrorInsufficientDriver" in done.stderr or "cudaErrorNoDevice" in done.stderr:
        assert done.returncode == 1
        assert any(f"{path}:" in done.stderr for path in program.paths)
    else:
        assert done.returncode == program.status
