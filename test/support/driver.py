"""Programs and toolchains for the driver's tests."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_cuda
from hirc.tools.hirc import main

# A program whose kernel prints a line from each of its two threads.
HELLO = """\
func.func @main() {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %two, %sy = %one, %sz = %one) {
    gpu.printf "thread %lld\\n", %tx : index
    gpu.terminator
  }
  return
}
"""
# One kernel that adds one to each of 32 numbers, launched by the entry.
PROGRAM = """\
func.func @main() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = gpu.alloc () : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1.0 : f32
    %0 = memref.load %m[%tx] : memref<32xf32>
    %1 = arith.addf %0, %one : f32
    memref.store %1, %m[%tx] : memref<32xf32>
    gpu.terminator
  }
  gpu.dealloc %m : memref<32xf32>
  return
}
"""

# Calls a C function with 20 and exits with what that returns.
CALLER = """\
func.func private @answer(i32) -> i32
func.func @main() -> i32 {
  %0 = arith.constant 20 : i32
  %1 = call @answer(%0) : (i32) -> i32
  return %1 : i32
}
"""
ANSWER = "int answer(int n) { return 2 * n + 2; }\n"

ARCH = "--offload-arch=sm_90"


@dataclass(frozen=True)
class Ran:
    """A run of hirc in this process: its status and what it wrote."""

    status: int
    output: str
    errors: str


class Hirc:
    """Runs hirc's main; a test that gets a traceback fails."""

    def __init__(self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture = capfd
        self._patch = monkeypatch

    def __call__(self, *words: str | Path, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            self._patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin)))
        self._capture.readouterr()
        status = main([str(word) for word in words])
        captured = self._capture.readouterr()
        assert "Traceback" not in captured.err, captured.err
        return Ran(status, captured.out, captured.err)

    def succeeds(self, *words: str | Path, stdin: bytes | None = None) -> Ran:
        ran = self(*words, stdin=stdin)
        assert ran.status == 0, ran.errors
        return ran

    def fails(self, *words: str | Path, stdin: bytes | None = None, status: int = 1) -> str:
        """Fails as it should, with an error message, which it returns."""
        ran = self(*words, stdin=stdin)
        assert ran.status == status, ran.errors
        assert "error: " in ran.errors
        return ran.errors


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def cuda_with(folder: Path, ptxas: str) -> Path:
    """A CUDA whose ptxas is a shell script; `$REAL` in it is the real one's path."""
    real = find_cuda().root
    for name in os.listdir(real):
        if name != "bin":
            (folder / name).symlink_to(real / name)
    (folder / "bin").mkdir()
    for name in os.listdir(real / "bin"):
        if name != "ptxas":
            (folder / "bin" / name).symlink_to(real / "bin" / name)
    script(folder / "bin" / "ptxas", f"REAL={real / 'bin' / 'ptxas'}\n{ptxas}")
    return folder


def listing(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
