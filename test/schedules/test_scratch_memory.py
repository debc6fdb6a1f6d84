"""Scratch memory of kernels: reported when a program is compiled, held while it runs, and freed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from schedules.programs import reduce_loops

from hirc.tools.hirc import main as run_hirc

# The sums over one of the loops r and c.
_SUMS = f"""
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {{
  %kept = arith.constant KEPT : index
  %n = tensor.dim %x, %kept : tensor<?x?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {{
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (LOOP)>],
    iterator_types = KINDS
  }} ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?xf32>) {{
  ^bb0(%a: f32, %b: f32):
    {reduce_loops("%s", "addf", "%a", "f32", 9)}
    linalg.yield %s : f32
  }} -> tensor<?xf32>
  return %y : tensor<?xf32>
}}
"""


def _sums(reduced: int) -> str:
    loop, kinds = (
        ("c", '["reduction", "parallel"]')
        if reduced == 0
        else (
            "r",
            '["parallel", "reduction"]',
        )
    )
    text = _SUMS.replace("KEPT", str(1 - reduced)).replace("LOOP", loop).replace("KINDS", kinds)
    return text.replace("i64: 9", f"i64: {reduced}")


@pytest.mark.parametrize(
    ("reduced", "long", "short", "outputs"),
    [(0, "2000x127", "9x127", 127), (1, "2x70000", "2x9", 2)],
)
def test_scratch_memory(
    reduced: int,
    long: str,
    short: str,
    outputs: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, command = tmp_path / "sum.mlir", tmp_path / "sum"
    source.write_text(_sums(reduced))
    words = [str(source), "-o", str(command), "--offload-arch=cpu", "--time-report"]
    assert run_hirc(words) == 0
    report = capsys.readouterr().err
    found = re.search(r"scratch memory of @main: at most (\d+) bytes more", report)
    assert found is not None, report
    scratch = int(found[1])
    given = 4 * outputs
    for sizes, held in (
        (long, f"{given + scratch} bytes at most at a time, 2 allocations, 1 freed"),
        (short, f"{given} bytes at most at a time, 1 allocation, 0 freed"),
    ):
        flags = [f"--input={sizes}xf32=@iota", "--time", "--repeat=1"]
        run = subprocess.run(
            [command, *flags], capture_output=True, text=True, timeout=60, check=True
        )
        assert held in run.stdout, run.stdout
