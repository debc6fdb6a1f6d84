"""A trace of what GPUs do, with a CUPTI that needs none."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hirc.compiler.toolchain import find_cuda

if TYPE_CHECKING:
    from conftest import Library

_FAKE = Path(__file__).with_name("fake_cupti.c")


_MAIN = """
#include <dlfcn.h>
int main(void) {
  for (int i = 0; i < 4; ++i) {
    void *library = dlopen(i % 2 ? "libone.so" : "libtwo.so", RTLD_NOW | RTLD_LOCAL);
    void (*begin)(void) = library ? (void (*)(void))dlsym(library, "hirc_trace_gpus") : 0;
    if (!begin)
      return 1;
    begin();
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(library: Library) -> Path:
    """A program that uses the device first in two libraries, twice in each."""
    folder = library.folder / "traced"
    folder.mkdir()
    library.clang("-shared", _FAKE, "-o", folder / "libcupti.so.13")
    for name in ("one", "two"):
        library.clang("-shared", library.bitcode["gpu_trace"], "-o", folder / f"lib{name}.so")
    source = folder / "main.c"
    source.write_text(_MAIN)
    library.clang(source, "-o", folder / "program")
    return folder / "program"


def _run(program: Path, **environment: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={name: os.fspath(value) for name, value in environment.items()},
    )


def _events(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text().rstrip().rstrip(",") + "]")


def test_kernels_copies_and_fills_are_in_the_trace(program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    before = time.monotonic_ns() / 1e3
    for _ in range(2):
        done = _run(program, HIRC_TRACE=trace, LD_LIBRARY_PATH=program.parent)
        assert done.stderr == ""
    events = _events(trace)
    # The second library leaves it to the first, and the second process writes behind the first's.
    assert [event["ph"] for event in events] == ["M", "X", "M", "X", "X"] * 2
    named, kernel, other_named, copy, fill = events[:5]
    assert (named["args"], other_named["args"]) == (
        {"name": "GPU 1, stream 7"},
        {"name": "GPU 0, stream 7"},
    )
    assert (kernel["name"], kernel["cat"], kernel["dur"]) == ("scale_kernel", "kernel", 5)
    assert kernel["args"] == {"grid": [4, 3, 2], "block": [32, 8, 1]}
    assert (copy["name"], copy["dur"], copy["args"]) == ("copy", 1, {"bytes": 4096})
    assert (fill["name"], fill["dur"], fill["args"]) == ("fill", 0.5, {"bytes": 64})
    assert (kernel["tid"], copy["tid"]) == (named["tid"], other_named["tid"])
    assert before < kernel["ts"] < time.monotonic_ns() / 1e3
    assert events[5]["pid"] != kernel["pid"]


def test_without_a_trace_nothing_is_loaded(program: Path) -> None:
    said = _run(program, LD_LIBRARY_PATH=program.parent, LD_DEBUG="files").stderr
    assert "libone.so" in said
    assert "libcupti" not in said


@pytest.mark.parametrize("environment", [{}, {"FAKE_CUPTI_REFUSES": "1"}])
def test_a_program_runs_where_cupti_cannot_be_used(
    program: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "libraries"
    folder.mkdir()
    for path in program.parent.glob("lib*"):
        if environment or "cupti" not in path.name:
            (folder / path.name).symlink_to(path)
    # One that is installed finds no driver, or a GPU that does nothing.
    done = _run(program, HIRC_TRACE=tmp_path / "trace.json", LD_LIBRARY_PATH=folder, **environment)
    if environment:
        assert done.stderr.startswith("warning: HIRC_TRACE has nothing of GPUs")


def test_a_trace_that_cannot_be_written(program: Path, tmp_path: Path) -> None:
    done = _run(program, HIRC_TRACE=tmp_path / "no" / "t.json", LD_LIBRARY_PATH=program.parent)
    assert "t.json cannot be written: No such file" in done.stderr


_LAYOUTS = """
#include "gpu_trace.c"
#include <cupti.h>
#define SAME(ours, member, theirs, other) \\
  _Static_assert(offsetof(struct ours, member) == offsetof(theirs, other), #member)
SAME(kernel_record, start, CUpti_ActivityKernel9, start);
SAME(kernel_record, end, CUpti_ActivityKernel9, end);
SAME(kernel_record, device, CUpti_ActivityKernel9, deviceId);
SAME(kernel_record, stream, CUpti_ActivityKernel9, streamId);
SAME(kernel_record, grid, CUpti_ActivityKernel9, gridX);
SAME(kernel_record, block, CUpti_ActivityKernel9, blockX);
SAME(kernel_record, name, CUpti_ActivityKernel9, name);
SAME(memory_record, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(memory_record, start, CUpti_ActivityMemcpy5, start);
SAME(memory_record, device, CUpti_ActivityMemcpy5, deviceId);
SAME(memory_record, stream, CUpti_ActivityMemcpy5, streamId);
SAME(memory_record, bytes, CUpti_ActivityMemset4, bytes);
SAME(memory_record, start, CUpti_ActivityMemset4, start);
SAME(memory_record, device, CUpti_ActivityMemset4, deviceId);
SAME(memory_record, stream, CUpti_ActivityMemset4, streamId);
_Static_assert((int)CONCURRENT_KERNEL == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
               (int)COPY == CUPTI_ACTIVITY_KIND_MEMCPY &&
               (int)FILL == CUPTI_ACTIVITY_KIND_MEMSET, "kinds");
"""


def test_layouts_are_those_of_cupti(library: Library, tmp_path: Path) -> None:
    folders = [*find_cuda().root.glob("include"), Path("/usr/local/cuda/include")]
    found = next((each for each in folders if (each / "cupti.h").is_file()), None)
    if found is None:
        pytest.skip("needs CUPTI's headers")
    (tmp_path / "layouts.c").write_text(_LAYOUTS)
    library.compile(tmp_path / "layouts.c", tmp_path / "layouts.o", "-isystem", str(found))
