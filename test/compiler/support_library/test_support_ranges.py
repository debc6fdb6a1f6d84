"""NVTX's ranges around programs and launches, with a tool that writes them to a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library

_MAIN = """
#include "hirc_runtime.h"
#include "ranges.h"
#include <stddef.h>

static int work(void *first, void *second, void *stream) {
  (void)second, (void)stream;
  hirc_range_begin("program");
  _Bool is_shown = hirc_range_begin("prog.mlir:3:5");
  if (first)
    hirc_refuse("refused", 0, 0, "");
  hirc_range_end(is_shown);
  hirc_range_end(hirc_range_begin(NULL));
  return 0;
}

int main(void) {
  hirc_range_end(hirc_range_begin("outside"));
  return hirc_guard(work, NULL, NULL, NULL) != 0 ||
         hirc_guard(work, "fails", NULL, NULL) != HIRC_FAILED;
}
"""
_CALL = "begin program\nbegin prog.mlir:3:5\nend\n"
_SHOWN = f"begin outside\nend\n{_CALL}begin launch\nend\nend\n{_CALL}end\n"


@pytest.fixture(scope="module")
def program(library: Library) -> Path:
    folder = library.folder / "ranges"
    folder.mkdir()
    library.clang("-shared", Path(__file__).with_name("fake_nvtx.c"), "-o", folder / "tool.so")
    source = folder / "main.c"
    source.write_text(_MAIN)
    library.compile(source, folder / "main.o")
    parts = [library.bitcode[name] for name in ("ranges", "calls", "failure", "refuse")]
    library.clang(folder / "main.o", *parts, "-o", folder / "program")
    return folder / "program"


def _run(
    command: list[str | Path], shown: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "FAKE_NVTX": str(shown), **environment}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, env=known
    )


def test_ranges_of_a_call_end_where_it_fails(program: Path, tmp_path: Path) -> None:
    tool = str(program.with_name("tool.so"))
    shown = tmp_path / "shown"
    said = _run([program], shown, HIRC_NVTX="1", NVTX_INJECTION64_PATH=tool).stderr
    assert said == ""
    assert shown.read_text() == _SHOWN


@pytest.mark.parametrize(
    "environment",
    [{}, {"HIRC_NVTX": "0"}, {"HIRC_NVTX": "1", "FAKE_NVTX_REFUSES": "1"}],
)
def test_nothing_is_shown_to_a_tool_that_nobody_asked_for(
    program: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    tool = str(program.with_name("tool.so"))
    _run([program], tmp_path / "shown", NVTX_INJECTION64_PATH=tool, **environment)
    assert not (tmp_path / "shown").exists()


def test_a_tool_that_is_none_is_told_of(program: Path, tmp_path: Path) -> None:
    tool = str(tmp_path / "tool.so")
    said = _run([program], tmp_path / "shown", HIRC_NVTX="1", NVTX_INJECTION64_PATH=tool).stderr
    assert said.startswith("warning: HIRC_NVTX has no ranges: ")
    assert tool in said
    assert "\nnote: NVTX_INJECTION64_PATH names" in said
    assert _run([program], tmp_path / "shown", HIRC_NVTX="1").stderr == ""


_IN_PROCESS = '''
import numpy as np
import hirc
text = """
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
program = hirc.compile(text, target="cpu", entry="twice")
assert program(np.ones(4, np.float32)).tolist() == [2.0] * 4
'''


def test_a_program_and_its_launch_are_ranges(program: Path, tmp_path: Path) -> None:
    tool = str(program.with_name("tool.so"))
    shown = tmp_path / "shown"
    command = [sys.executable, "-c", _IN_PROCESS]
    _run(list[str | Path](command), shown, HIRC_NVTX="1", NVTX_INJECTION64_PATH=tool)
    assert shown.read_text() == "begin twice\nbegin <stdin>:3:8\nend\nend\n"
