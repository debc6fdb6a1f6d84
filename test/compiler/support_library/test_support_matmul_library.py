"""Which cuBLASLt a program takes, and what it says of one that is missing or fails."""

from __future__ import annotations

from ctypes.util import find_library
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library

_FAKE = Path(__file__).parents[2] / "support" / "fake_cublaslt.c"

_CALL = """
import os
if PATH: os.environ["HIRC_CUBLASLT"] = PATH
site = (c.c_int64 * 10)(0, 0, 68, 0, 0, 0, 3, 5, 6, 3)
cache = (c.c_int64 * 8)()
extents = (c.c_int64 * 18)(1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0)
number, result = (c.c_float * 1)(2), (c.c_float * 1)()
lib.hirc_matmul(site, cache, extents, number, number, result, None, None, None, b"p.mlir:3:4")
lib.hirc_program_end(None)
print(lib.fake_log.argtypes or result[0], flush=True)
"""


@pytest.fixture(scope="module")
def fake(library: Library) -> Path:
    """A cuBLASLt that multiplies on the host."""
    path = library.folder / "libcublasLt.so.0"
    library.clang("-shared", _FAKE, "-o", path)
    return path


def call(library: Library, path: str, *before: str) -> tuple[int, str, str]:
    statements = [*before, *_CALL.replace("PATH", repr(path)).strip().splitlines()]
    done = library.run(*statements)
    return done.returncode, done.stdout, done.stderr


def test_a_call_in_a_process_of_its_own(fake: Path, library: Library) -> None:
    assert call(library, str(fake)) == (0, "4.0\n", "")


@pytest.mark.skipif(
    find_library("cublasLt") is not None or Path("/usr/local/cuda/lib64/libcublasLt.so").exists(),
    reason="cuBLAS is installed here",
)
def test_the_library_is_missing(library: Library) -> None:
    status, _, errors = call(library, "")
    assert status == 1
    first, note = errors.splitlines()
    assert first.startswith(
        "p.mlir:3:4: error: this program calls cuBLASLt for its matrix products, and it cannot be "
        "loaded: libcublasLt.so.13: "
    )
    assert "pip install nvidia-cublas" in note
    assert "HIRC_CUBLASLT" in note
    assert "--products=own" in note


def test_what_the_environment_names_is_no_library(library: Library) -> None:
    status, _, errors = call(library, "/nowhere/libcublasLt.so.13")
    assert status == 1
    assert "what HIRC_CUBLASLT names cannot be loaded: /nowhere/libcublasLt.so.13: " in errors


def test_another_library_is_told_apart(library: Library) -> None:
    status, _, errors = call(library, str(library.shared))
    assert status == 1
    assert "the one found lacks a function: " in errors
    assert "cublasLt" in errors


def test_a_copy_in_the_process_is_taken(fake: Path, library: Library) -> None:
    folder = library.folder / "torch"
    folder.mkdir()
    copy = folder / "libcublasLt.so.12"
    library.clang("-shared", f"-Wl,-soname,{copy.name}", _FAKE, "-o", copy)
    status, output, errors = call(library, "", f"c.CDLL({str(copy)!r})")
    assert (status, output, errors) == (0, "4.0\n", "")


@pytest.mark.parametrize(
    ("failing", "status", "name"),
    [
        ("cublasLtCreate", 1, "CUBLAS_STATUS_OTHER (1)"),
        ("cublasLtMatmul", 13, "CUBLAS_STATUS_EXECUTION_FAILED (13)"),
        ("cublasLtMatmulAlgoGetHeuristic", 15, "CUBLAS_STATUS_NOT_SUPPORTED (15)"),
    ],
)
def test_a_call_fails(fake: Path, library: Library, failing: str, status: int, name: str) -> None:
    text = f"{failing} {status}"
    before = f"import os; os.environ['FAKE_CUBLASLT_FAIL'] = {text!r}"
    ended, _, errors = call(library, str(fake), before)
    assert ended == 1
    first = errors.splitlines()[0]
    assert first == f"p.mlir:3:4: error: {failing} failed: {name}, of cuBLASLt 130002"


def test_no_algorithm_is_found(fake: Path, library: Library) -> None:
    before = (
        f"other = c.CDLL({str(fake)!r}); c.c_int.in_dll(other, 'fake_lt_finds_nothing').value = 1"
    )
    status, _, errors = call(library, str(fake), before)
    assert status == 1
    assert "cublasLtMatmulAlgoGetHeuristic failed: CUBLAS_STATUS_NOT_SUPPORTED (15)" in errors
    assert "note: it has no algorithm for this product: 1 of 1 x 1 times 1 x 1, leading" in errors


def test_kept_memory_is_freed_at_the_end(fake: Path, library: Library) -> None:
    before = (
        f"other = c.CDLL({str(fake)!r}); "
        "c.c_size_t.in_dll(other, 'fake_lt_workspace').value = 100; "
        "lib.fake_log.restype = c.c_char_p"
    )
    statements = _CALL.replace("PATH", repr(str(fake))).strip().splitlines()
    statements[-1] = "print(lib.fake_log().decode(), flush=True)"
    done = library.run(before, *statements)
    lines = done.stdout.split("\n")
    assert any(line.startswith("cudaMallocAsync") for line in lines)
    assert any(line.startswith("cudaFree ") for line in lines), lines
