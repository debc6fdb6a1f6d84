"""A failing assertion ends its thread, as on a GPU: all that fail say so, and the others go on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hirc.tools.hirc import main as hirc

_PROGRAM = """\
module attributes {gpu.container_module} {
gpu.module @kernels {
  func.func private @checked(%ok: i1, %x: i32) -> i32 attributes {no_inline} {
    cf.assert %ok, "in a function"
    %one = arith.constant 1 : i32
    %y = arith.addi %x, %one : i32
    return %y : i32
  }
  gpu.func @k() kernel {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %yes = arith.constant true
    %b = gpu.block_id x
    %t = gpu.thread_id x
    cf.assert %yes, "never seen"
    gpu.printf "%lld %lld: before\\0A", %b, %t : index, index
    %not0 = arith.cmpi ne, %t, %c0 : index
    cf.assert %not0, "thread 0"
    %sum = scf.for %i = %c0 to %t step %c1 iter_args(%s = %zero) -> i32 {
      %not33 = arith.constant 33 : index
      %ok = arith.cmpi ne, %t, %not33 : index
      %r = func.call @checked(%ok, %s) : (i1, i32) -> i32
      scf.yield %r : i32
    }
    gpu.barrier
    gpu.printf "%lld %lld: after %d\\0A", %b, %t, %sum : index, index, i32
    gpu.return
  }
}
func.func @main() {
  %c2 = arith.constant 2 : index
  %c40 = arith.constant 40 : index
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@k blocks in (%c2, %c1, %c1) threads in (%c40, %c1, %c1)
  return
}
}
"""


@pytest.mark.parametrize("words", [("-O0",), ("-O2",), ("-O2", "--check=memory", "--check=race")])
def test_the_others_go_on(words: tuple[str, ...], tmp_path: Path) -> None:
    source, program = tmp_path / "asserting.mlir", tmp_path / "asserting"
    source.write_text(_PROGRAM)
    assert hirc([str(source), *words, "--offload-arch=cpu", "-o", str(program)]) == 0
    ran = subprocess.run([program], capture_output=True, text=True, timeout=30, check=False)
    assert ran.returncode == 1
    printed = [(b, t) for b in range(2) for t in range(40)]
    before = [f"{b} {t}: before" for b, t in printed]
    after = [f"{b} {t}: after {t}" for b, t in printed if t not in (0, 33)]
    assert sorted(ran.stdout.splitlines()) == sorted(before + after)
    *failures, last = ran.stderr.splitlines()
    expected = [
        f"{source}:{line}: (unknown): block: [{b},0,0], thread: [{t},0,0] {what}"
        for line, t, what in (
            (19, 0, "Assertion `thread 0` failed."),
            (4, 33, "Assertion `in a function` failed."),
        )
        for b in range(2)
    ]
    assert sorted(failures) == sorted(expected)
    assert "cudaErrorAssert (710)" in last
