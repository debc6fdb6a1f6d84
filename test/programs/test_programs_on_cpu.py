"""Every program of the catalogue, built for the CPU device and run: what it prints is right."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from programs.catalog import PROGRAMS, Program, without_addresses
from programs.math_program_text import MathProgram
from programs.math_programs import check
from programs.math_programs import programs as math_programs

from hirc.tools.hirc import main as hirc

SECONDS = 120


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program, tmp_path: Path) -> None:
    output = tmp_path / program.name
    words = [word for word in program.command if not word.startswith("--offload-arch")]
    assert hirc([*words, "--offload-arch=cpu", "-o", str(output)]) == 0
    ran = subprocess.run([output], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert without_addresses(ran.stdout) == program.expected
    assert ran.returncode == program.status, ran.stderr
    if program.errors:
        assert re.search(program.errors, ran.stderr), ran.stderr
    else:
        assert not ran.stderr


@pytest.mark.parametrize("program", math_programs(), ids=lambda program: program.name)
def test_math_program(program: MathProgram, tmp_path: Path) -> None:
    source, output = tmp_path / "program.mlir", tmp_path / "program"
    source.write_text(program.mlir)
    assert hirc([str(source), "--offload-arch=cpu", "-o", str(output)]) == 0
    ran = subprocess.run([output], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert check(program, ran.stdout) == []
