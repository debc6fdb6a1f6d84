"""`native` where there is no GPU, and `cpu` among the chips."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hirc.compiler import native
from hirc.compiler.nvidia_driver import Gpu, NvidiaDriver
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


_load = ctypes.CDLL


def _no_driver(name: str, *arguments: Any, **settings: Any) -> Any:
    if "libcuda" in str(name):
        raise OSError(f"{name}: cannot open shared object file")
    return _load(name, *arguments, **settings)


def test_native_takes_all_instructions_of_a_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of chip once; before sm_90 none has more instructions than its successors."""
    gpus = tuple(Gpu("", arch) for arch in ("sm_90", "sm_80", "sm_90", "sm_120"))
    monkeypatch.setattr(native, "find_driver", lambda: NvidiaDriver("13.0", gpus))
    assert [target.arch for target in native.native_targets()] == ["sm_90a", "sm_80", "sm_120a"]


@pytest.mark.parametrize("emit", ["ptx", "cubin"])
def test_no_gpu_code(emit: str, hirc: Hirc, program: Path) -> None:
    errors = hirc.fails(program, "--offload-arch=cpu", f"--emit={emit}", "-o", "-")
    assert f"error: --emit={emit} is for a GPU" in errors
