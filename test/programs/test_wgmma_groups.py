"""A group of wgmma is the warpgroup's: no warp goes on before the others have issued theirs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hirc.tools.hirc import main as run_hirc

_NVVM = """nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0"""
_PTX = """llvm.inline_asm has_side_effects "wgmma.commit_group.sync.aligned;", "" : () -> ()
    llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "" : () -> ()"""
_TEXT = """
memref.global "private" @flag : memref<1xi32, #gpu.address_space<workgroup>>
func.func @main() {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %i0 = arith.constant 0 : index
    %last = arith.constant 127 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %flag = memref.get_global @flag : memref<1xi32, #gpu.address_space<workgroup>>
    %is_first = arith.cmpi eq, %tx, %i0 : index
    %is_last = arith.cmpi eq, %tx, %last : index
    memref.store %zero, %flag[%i0] : memref<1xi32, #gpu.address_space<workgroup>>
    gpu.barrier
    scf.if %is_last {
      %seen = memref.load %flag[%i0] : memref<1xi32, #gpu.address_space<workgroup>>
      gpu.printf "the last warp sees %d\\n", %seen : i32
    }
    GROUP
    scf.if %is_first {
      memref.store %one, %flag[%i0] : memref<1xi32, #gpu.address_space<workgroup>>
    }
    gpu.terminator
  }
  return
}
"""


@pytest.mark.parametrize("form", [_NVVM, _PTX], ids=["nvvm", "ptx"])
def test_waiting_for_a_group(form: str, tmp_path: Path) -> None:
    source = tmp_path / "groups.mlir"
    source.write_text(_TEXT.replace("GROUP", form))
    built = source.with_suffix("")
    assert run_hirc([str(source), "-o", str(built), "--offload-arch=cpu", "-O0"]) == 0
    done = subprocess.run([str(built)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "the last warp sees 0\n"), done.stderr
