"""Tiles that TMA cannot copy: the CPU device ends the kernel as a GPU does, and names them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.driver import Hirc

_PROGRAM = """
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>,
  swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!tile = memref<8x64xf16, 3>
memref.global "private" @bytes : memref<4096xi8, 3>
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %given = arith.constant OFFSET : index
  %size = arith.constant 1024 : index
  %ticks = arith.constant 1000 : index
  %data = gpu.alloc () : memref<8x64xf16>
  %zero = arith.constant 0.0 : f16
  gpu.memset %data, %zero : memref<8x64xf16>, f16
  %any = memref.cast %data : memref<8x64xf16> to memref<*xf16>
  %map = nvgpu.tma.create.descriptor %any box[%c8, %c64] : memref<*xf16> -> !map
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %bytes = memref.get_global @bytes : memref<4096xi8, 3>
    %offset = arith.addi %tx, %given : index
    %tile = memref.view %bytes[%offset][] : memref<4096xi8, 3> to !tile
    %bar = nvgpu.mbarrier.create -> !barriers
    nvgpu.mbarrier.init %bar[%c0], %c1 : !barriers
    nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %size : !barriers
    nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %tile : !map, !barriers -> !tile
    %phase = arith.constant 0 : i1
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !barriers
    gpu.printf "done\\n"
    gpu.terminator
  }
  return
}
"""


@pytest.mark.parametrize("check", [[], ["--check=memory"]])
def test_tma_needs_128_bytes(hirc: Hirc, tmp_path: Path, check: list[str]) -> None:
    for offset in (0, 128, 1024, 8, 64):
        source, built = tmp_path / f"at{offset}.mlir", tmp_path / f"at{offset}"
        source.write_text(_PROGRAM.replace("OFFSET", str(offset)))
        hirc.succeeds(source, "-o", built, "--offload-arch=cpu", *check)
        done = subprocess.run([built], capture_output=True, text=True, timeout=20, check=False)
        if offset % 128 == 0:
            assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
        else:
            assert done.returncode == 1
            found = re.search(
                r"a TMA copy at a misaligned address: it is at byte (\d+) of the block's shared ",
                done.stderr,
            )
            assert found is not None, done.stderr
            # Without the check, nothing tells where in shared memory a variable begins.
            assert int(found[1]) % 1024 == offset
            assert "must be at a multiple of 128, in kernel main_kernel" in done.stderr
            assert "cudaErrorMisalignedAddress" in done.stderr
