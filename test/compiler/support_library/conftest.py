"""Builds the support library once for all its tests, with a CUDA runtime that needs no device."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

_SOURCES = Path(__file__).parents[3] / "compiler" / "runtime"
_FAKE = Path(__file__).with_name("fake_cudart.c")
_CLANG = ["clang-22", "-std=c11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror"]


@dataclass(frozen=True)
class Library:
    """The compiled library: its bitcode by file, and a shared library of it and the fake runtime.

    `loaded` is the shared library in this process; what ends a program or prints goes through
    `run` or `execute`, in a process of its own.
    """

    # What each part that may fail is linked with.
    failing: ClassVar = (
        "check",
        "failure",
        "calls",
        "refuse",
        "program_end",
        "gpu_trace",
        "ranges",
    )

    folder: Path
    bitcode: dict[str, Path]
    fake: Path
    shared: Path
    loaded: ctypes.CDLL

    def compile(self, source: Path, result: Path, *options: str) -> None:
        """Compiles one C file that may include the library's headers."""
        self.clang("-c", f"-I{_SOURCES}", *options, source, "-o", result)

    @staticmethod
    def clang(*arguments: str | Path) -> None:
        command = [*_CLANG, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"

    def run(self, *statements: str) -> subprocess.CompletedProcess[str]:
        """Runs Python statements in a new process, where `lib` is the shared library."""
        lines = ["import ctypes as c", f"lib = c.CDLL({str(self.shared)!r})", *statements]
        return _run([sys.executable, "-I", "-S", "-c", "\n".join(lines)])

    def execute(
        self, name: str, source: str, *objects: str | Path
    ) -> subprocess.CompletedProcess[str]:
        """Compiles a C program, links it with `objects` and runs it."""
        code, program = self.folder / f"{name}.c", self.folder / name
        code.write_text(source)
        self.compile(code, program.with_suffix(".o"))
        self.clang(program.with_suffix(".o"), *objects, "-o", program)
        return _run([str(program)])

    def calls(self, call: Callable[[], object]) -> list[str]:
        """The CUDA calls that `call` makes, as the fake runtime logs them."""
        self.loaded.fake_reset()
        call()
        return self.loaded.fake_log().decode().splitlines()

    @staticmethod
    def integers(*values: int) -> ctypes.Array[ctypes.c_int64]:
        """An int64_t array."""
        return (ctypes.c_int64 * len(values))(*values)

    def strides(self, view: np.ndarray) -> ctypes.Array[ctypes.c_int64]:
        """The view's strides in elements."""
        return self.integers(*(stride // view.itemsize for stride in view.strides))

    def descriptor(self, view: np.ndarray, offset: int = 0) -> ctypes.Array[ctypes.c_int64]:
        """The ranked memref descriptor of the view, its first element `offset` elements in."""
        start = view.ctypes.data - offset * view.itemsize
        return self.integers(start, start, offset, *view.shape, *self.strides(view))


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"CUDA_VISIBLE_DEVICES": ""},
    )


@pytest.fixture(scope="package")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("support")
    fake, shared = folder / "fake.o", folder / "libsupport.so"
    bitcode = {source.stem: folder / f"{source.stem}.bc" for source in _SOURCES.glob("*.c")}
    for name, result in bitcode.items():
        Library.clang("-c", "-emit-llvm", _SOURCES / f"{name}.c", "-o", result)
    Library.clang("-c", f"-I{_SOURCES}", _FAKE, "-o", fake)
    Library.clang("-shared", *bitcode.values(), fake, "-o", shared, "-lpthread")
    loaded = ctypes.CDLL(str(shared))
    loaded.fake_log.restype = ctypes.c_char_p
    return Library(folder, bitcode, fake, shared, loaded)
