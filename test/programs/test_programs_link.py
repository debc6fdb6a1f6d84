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
    words = [*map(str, program.paths), "-o", str(output), f"--offload-arch={program.arch}"]
    assert hirc(words) == 0
    assert read_linked_file(output).entries > 0
    done = subprocess.run([output], capture_output=True, text=True, timeout=60, check=False)
    if "cudaErrorInsufficientDriver" in done.stderr or "cudaErrorNoDevice" in done.stderr:
        assert done.returncode == 1
        assert f"{program.paths[0]}:" in done.stderr
    else:
        assert done.returncode == program.status
