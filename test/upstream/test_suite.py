"""The runner of programs with RUN and CHECK lines tells right from wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from upstream.build import build
from upstream.suite import arch_for, find_cases

_RUN = """\
// RUN: mlir-opt %s \\
// RUN: | mlir-opt -gpu-lower-to-nvvm-pipeline="cubin-chip=sm_90a {options}" \\
// RUN: | mlir-runner --entry-point-result=void \\
// RUN: | FileCheck %s {prefix}
"""
_PROGRAM = """
func.func private @printNewline()
func.func @main() {
  %two = arith.constant 2 : i32
  vector.print %two : i32
  call @printNewline() : () -> ()
  return
}
"""


def _write(folder: Path, name: str, checks: str, options: str = "", prefix: str = "") -> None:
    text = _RUN.format(options=options, prefix=prefix) + checks + _PROGRAM
    (folder / f"{name}.mlir").write_text(text)


def test_cases(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    bare = "kernel-bare-ptr-calling-convention=1 ptxas-cmd-options='-v --maxrregcount=8'"
    _write(tmp_path / "below", "bare", "// GPU: 2\n", bare, "--check-prefix=GPU")
    (case,) = find_cases(tmp_path)
    assert case.name == "below-bare"
    flags = ("--kernel-bare-pointers", "--ptxas-arg=-v", "--ptxas-arg=--maxrregcount=8")
    assert (case.flags, case.chip, case.runs, case.prefix) == (flags, "sm_90a", True, "GPU")
    assert (arch_for(case, "gpu"), arch_for(case, "cpu")) == ("sm_90a", "cpu")


def test_right_and_wrong(tmp_path: Path) -> None:
    sources, built = tmp_path / "sources", tmp_path / "built"
    sources.mkdir()
    _write(sources, "right", "// CHECK: 2\n")
    _write(sources, "wrong", "// CHECK: 3\n")
    (sources / "refused.mlir").write_text("// RUN: mlir-runner %s\nfunc.func @main() { nothing }")
    assert build(sources, built, "cpu", []) == 1
    done = subprocess.run(
        [sys.executable, built / "run.py"], capture_output=True, text=True, timeout=60, check=False
    )
    verdicts = [line.split()[:2] for line in done.stdout.splitlines()]
    assert verdicts[:3] == [["WRONG", "refused"], ["right", "right"], ["WRONG", "wrong"]]
    assert done.stdout.splitlines()[-1] == "3 programs, 2 wrong"
    assert done.returncode == 1
    assert "error:" in (built / "report.md").read_text()
