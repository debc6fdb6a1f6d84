"""Objects with code for one device go to no link for the other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.driver import ARCH, CALLER, PROGRAM, Hirc, write

CPU = "--offload-arch=cpu"


@pytest.fixture
def hirc(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hirc:
    return Hirc(capfd, monkeypatch)


def test_an_object_says_what_it_is_for(hirc: Hirc, tmp_path: Path) -> None:
    program = write(tmp_path, "prog.mlir", PROGRAM)
    for_cpu, output = tmp_path / "cpu.o", tmp_path / "prog"
    hirc.succeeds(program, CPU, "--emit=object", "-o", for_cpu)
    hirc.succeeds(for_cpu, "-o", output)
    subprocess.run([output], timeout=60, check=True)
    errors = hirc.fails(for_cpu, ARCH, "-o", output)
    assert f"error: {for_cpu} was built for the CPU device, and the program is for GPUs" in errors
    assert "hint: build it again for GPUs" in errors


def test_objects_for_both(hirc: Hirc, tmp_path: Path) -> None:
    program = write(tmp_path, "prog.mlir", PROGRAM)
    for_cpu, for_gpu, output = tmp_path / "cpu.o", tmp_path / "gpu.o", tmp_path / "prog"
    hirc.succeeds(program, CPU, "--emit=object", "-o", for_cpu)
    hirc.succeeds(program, ARCH, "--emit=object", "-o", for_gpu)
    errors = hirc.fails(for_cpu, for_gpu, "-o", output)
    assert f"error: {for_cpu} was built for the CPU device, and {for_gpu} for GPUs" in errors
    errors = hirc.fails(write(tmp_path, "call.mlir", CALLER), for_gpu, CPU, "-o", output)
    assert f"error: {for_gpu} was built for GPUs, and the program is for the CPU device" in errors
    assert not output.exists()
