"""The environment variables of a program for the CPU device, where they hold nonsense."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hirc.tools.hirc import main as hirc
from support.driver import PROGRAM, write


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    source, output = write(folder, "prog.mlir", PROGRAM), folder / "prog"
    assert hirc([str(source), "--offload-arch=cpu", "-o", str(output)]) == 0
    return output


@pytest.mark.parametrize(
    ("setting", "warning"),
    [
        ("HIRC_CPU_MEMORY=abc", "warning: HIRC_CPU_MEMORY=abc is no size (8G, 512M)"),
        ("HIRC_CPU_MEMORY=8Gb", "warning: HIRC_CPU_MEMORY=8Gb is no size (8G, 512M)"),
        ("HIRC_CPU_MEMORY=64M", ""),
        ("HIRC_CPU_THREADS=many", "warning: HIRC_CPU_THREADS=many is no number of threads"),
        ("HIRC_CPU_THREADS=3", ""),
    ],
)
def test_setting(setting: str, warning: str, program: Path) -> None:
    ran = subprocess.run(
        ["env", setting, program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stderr.startswith(warning)
    assert ran.stderr.count("\n") == (1 if warning else 0)


def test_too_little_memory(program: Path) -> None:
    ran = subprocess.run(
        ["env", "HIRC_CPU_MEMORY=16", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1
    assert "cudaErrorMemoryAllocation" in ran.stderr
