"""Scratch memory of kernels: reported when a program is compiled, held while it runs, and freed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from schedules.programs import reduce_loops

from hirc.tools.hirc import main as run_hirc

_SUM = f"""
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {{
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %one : tensor<?x?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {{
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  }} ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?xf32>) {{
  ^bb0(%a: f32, %b: f32):
    {reduce_loops("%s", "addf", "%a", "f32", 0)}
    linalg.yield %s : f32
  }} -> tensor<?xf32>
  return %y : tensor<?xf32>
}}
"""


def test_scratch_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, command = tmp_path / "sum.mlir", tmp_path / "sum"
    source.write_text(_SUM)
    words = [str(source), "-o", str(command), "--offload-arch=cpu", "--time-report"]
    assert run_hirc(words) == 0
    report = capsys.readouterr().err
    found = re.search(r"scratch memory of @main: at most (\d+) bytes more", report)
    assert found is not None, report
    scratch = int(found[1])
    for rows, held in (
        (2000, f"{32 + scratch} bytes at most at a time, 2 allocations, 1 freed"),
        (9, "32 bytes at most at a time, 1 allocation, 0 freed"),
    ):
        flags = [f"--input={rows}x8xf32=@iota", "--time", "--repeat=1"]
        run = subprocess.run(
            [command, *flags], capture_output=True, text=True, timeout=60, check=True
        )
        assert held in run.stdout, run.stdout
