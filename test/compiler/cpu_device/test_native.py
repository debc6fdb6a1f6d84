"""`native` where there is no GPU, and `cpu` among the chips."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.driver import PROGRAM, Hirc, write


@pytest.fixture
def hirc(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hirc:
    return Hirc(capfd, monkeypatch)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return write(tmp_path, "prog.mlir", PROGRAM)


@pytest.mark.parametrize("words", [(), ("--offload-arch=native",)], ids=["default", "named"])
def test_native_without_a_gpu(
    words: tuple[str, ...],
    hirc: Hirc,
    program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctypes.CDLL", _no_driver)
    ran = hirc.succeeds(program, *words, "-o", tmp_path / "out")
    assert ran.errors == "hirc: note: native is the CPU device here: no NVIDIA driver\n"
    subprocess.run([tmp_path / "out"], timeout=60, check=True)


def _no_driver(name: str) -> None:
    raise OSError(f"{name}: cannot open shared object file")


@pytest.mark.parametrize("emit", ["ptx", "cubin"])
def test_no_gpu_code(emit: str, hirc: Hirc, program: Path) -> None:
    errors = hirc.fails(program, "--offload-arch=cpu", f"--emit={emit}", "-o", "-")
    assert f"error: --emit={emit} is for a GPU" in errors
