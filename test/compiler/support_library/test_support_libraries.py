"""Which cuBLASLt or cuDNN a program takes, and what it says of one that is missing or fails."""

from __future__ import annotations

import re
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library

_SUPPORT = Path(__file__).parents[2] / "support"
_CALL = """
import os
if PATH: os.environ["VARIABLE"] = PATH
SITE
cache = (c.c_int64 * 8)()
number, result = (c.c_float * 1)(2), (c.c_float * 1)()
FUNCTION
lib.hirc_program_end(None)
print(lib.fake_log.argtypes or result[0], flush=True)
"""


@dataclass(frozen=True)
class Called:
    """A library: its file, what a program calls it for, and a call that multiplies 2 by 2."""

    name: str
    file: str
    older: str
    package: str
    option: str
    work: str
    site: str
    call: str

    @property
    def variable(self) -> str:
        return f"HIRC_{self.name.upper()}"


_LIBRARIES = (
    Called(
        "cuBLASLt",
        "libcublasLt.so.13",
        "libcublasLt.so.12",
        "nvidia-cublas",
        "--products=own",
        "matrix products",
        """site = (c.c_int64 * 10)(0, 0, 68, 0, 0, 0, 3, 5, 6, 3)
extents = (c.c_int64 * 18)(1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0)""",
        "lib.hirc_matmul(site, cache, extents, number, number, result, None, None, None, "
        'b"p.mlir:3:4")',
    ),
    Called(
        "cuDNN",
        "libcudnn.so.9",
        "libcudnn.so.8",
        "nvidia-cudnn-cu13",
        "--convolutions=own",
        "convolutions",
        """site = (c.c_int64 * 15)(0, 3, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0)
extents = (c.c_int64 * 18)(*[1] * 18)""",
        'lib.hirc_convolution(site, cache, extents, number, number, result, None, b"p.mlir:3:4")',
    ),
)
_FAILURES = {
    "cuBLASLt": [
        ("cublasLtCreate", 1, "CUBLAS_STATUS_OTHER (1), of cuBLASLt 130002"),
        ("cublasLtMatmul", 13, "CUBLAS_STATUS_EXECUTION_FAILED (13), of cuBLASLt 130002"),
        ("cublasLtMatmulAlgoGetHeuristic", 15, "CUBLAS_STATUS_NOT_SUPPORTED (15), of cuBLASLt"),
    ],
    "cuDNN": [
        (
            "cudnnCreate",
            1001,
            "CUDNN_STATUS_OTHER (1001), of cuDNN 91002: the reason that the stand-in gives",
        ),
        ("cudnnConvolutionForward", 3000, "CUDNN_STATUS_NOT_SUPPORTED (3000), of cuDNN 91002: "),
        ("cudnnGetConvolutionForwardAlgorithm_v7", 2000, "CUDNN_STATUS_BAD_PARAM (2000), of cuDNN"),
    ],
}
_UNFOUND = {
    "cuBLASLt": (
        "cublasLtMatmulAlgoGetHeuristic failed: CUBLAS_STATUS_NOT_SUPPORTED (15)",
        "note: it has no algorithm for this product: 1 of 1 x 1 times 1 x 1, leading",
    ),
    "cuDNN": (
        "cuDNN 91002 has no algorithm for this convolution of image 1x1x1 by weights 1x1x1 to "
        "result 1x1x1 in 1 group that is deterministic",
        "note: --convolutions=own builds the program without it",
    ),
}


@pytest.fixture(scope="module", params=_LIBRARIES, ids=lambda each: each.name)
def called(request: pytest.FixtureRequest) -> Called:
    return request.param


@pytest.fixture(scope="module")
def fake(library: Library, called: Called) -> Path:
    """The library that computes on the host."""
    return _build(library, called, library.folder / f"{called.file}.0")


def _build(library: Library, called: Called, path: Path, *options: str) -> Path:
    source = _SUPPORT / f"fake_{called.name.lower()}.c"
    library.clang("-shared", f"-Wl,-soname,{path.name}", *options, source, "-o", path)
    return path


def statements(called: Called, path: str) -> list[str]:
    """What calls the library once, and prints the result."""
    text = _CALL.replace("PATH", repr(path)).replace("VARIABLE", called.variable)
    return text.replace("SITE", called.site).replace("FUNCTION", called.call).strip().splitlines()


def run(library: Library, called: Called, path: str, *before: str) -> tuple[int, str, str]:
    done = library.run(*before, *statements(called, path))
    return done.returncode, done.stdout, done.stderr


def test_a_call_in_a_process_of_its_own(fake: Path, library: Library, called: Called) -> None:
    assert run(library, called, str(fake)) == (0, "4.0\n", "")


def test_the_library_is_missing(library: Library, called: Called) -> None:
    name = called.file.removeprefix("lib").split(".")[0]
    if find_library(name) or Path(f"/usr/local/cuda/lib64/lib{name}.so").exists():
        pytest.skip(f"{called.name} is installed here")
    status, _, errors = run(library, called, "")
    assert status == 1
    first, note = errors.splitlines()
    assert first.startswith(
        f"p.mlir:3:4: error: this program calls {called.name} for its {called.work}, and it cannot "
        f"be loaded: {called.file}: "
    )
    assert f"pip install {called.package}" in note
    assert called.variable in note
    assert called.option in note


def test_what_the_environment_names_is_no_library(library: Library, called: Called) -> None:
    status, _, errors = run(library, called, f"/nowhere/{called.file}")
    assert status == 1
    assert f"what {called.variable} names cannot be loaded: /nowhere/{called.file}: " in errors


def test_another_library_is_told_apart(library: Library, called: Called) -> None:
    status, _, errors = run(library, called, str(library.shared))
    assert status == 1
    assert "the one found lacks a function: " in errors
    assert called.name.lower() in errors.lower()


def test_a_copy_in_the_process_is_taken(library: Library, called: Called) -> None:
    folder = library.folder / "torch"
    folder.mkdir(exist_ok=True)
    copy = _build(library, called, folder / called.older)
    status, output, errors = run(library, called, "", f"c.CDLL({str(copy)!r})")
    assert (status, output, errors) == (0, "4.0\n", "")


def test_an_older_one_gives_no_reasons(library: Library) -> None:
    cudnn = _LIBRARIES[1]
    old = _build(library, cudnn, library.folder / "libcudnn.so.8", "-DWITHOUT_LAST_ERROR")
    assert run(library, cudnn, str(old)) == (0, "4.0\n", "")
    before = "import os; os.environ['FAKE_LIBRARY_FAIL'] = 'cudnnCreate 1001'"
    _, _, errors = run(library, cudnn, str(old), before)
    assert (
        errors
        == "p.mlir:3:4: error: cudnnCreate failed: CUDNN_STATUS_OTHER (1001), of cuDNN 91002\n"
    )


def test_calls_fail(fake: Path, library: Library, called: Called) -> None:
    for failing, status, name in _FAILURES[called.name]:
        before = f"import os; os.environ['FAKE_LIBRARY_FAIL'] = '{failing} {status}'"
        ended, _, errors = run(library, called, str(fake), before)
        assert ended == 1
        assert errors.splitlines()[0].startswith(f"p.mlir:3:4: error: {failing} failed: {name}")


def test_no_algorithm_is_found(fake: Path, library: Library, called: Called) -> None:
    status, _, errors = run(library, called, str(fake), _told(fake, "c_int", "finds_nothing", 1))
    assert status == 1
    assert [each for each in _UNFOUND[called.name] if each not in errors] == []


def test_kept_memory_is_freed_at_the_end(fake: Path, library: Library, called: Called) -> None:
    before = f"{_told(fake, 'c_size_t', 'workspace', 100)}; lib.fake_log.restype = c.c_char_p"
    text = statements(called, str(fake))
    text[-1] = "print(lib.fake_log().decode(), flush=True)"
    lines = library.run(before, *text).stdout.split("\n")
    assert any(line.startswith("cudaMallocAsync") for line in lines)
    assert any(line.startswith("cudaFree ") for line in lines), lines


def test_a_convolution_that_needs_more_memory_frees_it(library: Library) -> None:
    cudnn = _LIBRARIES[1]
    fake = _build(library, cudnn, library.folder / "libcudnn.so.9.1")
    size = 33 << 20
    before = f"{_told(fake, 'c_size_t', 'workspace', size)}; lib.fake_log.restype = c.c_char_p"
    text = statements(cudnn, str(fake))
    text[-1] = "print(result[0], lib.fake_log().decode(), flush=True)"
    printed = library.run(before, *text).stdout
    assert re.match(rf"4.0 cudaMallocAsync {size} in \S+\ncudaFreeAsync ", printed), printed


def _told(fake: Path, kind: str, name: str, value: int) -> str:
    return f"c.{kind}.in_dll(c.CDLL({str(fake)!r}), 'fake_library_{name}').value = {value}"
