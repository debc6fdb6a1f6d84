"""An mbarrier that each thread of a block makes, and copies of more bytes than a phase expects."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hirc.tools.hirc import main as run_hirc

_TEXT = """
!tile = memref<64x32xf32, #gpu.address_space<workgroup>>
!tile_map = !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = none, l2promo = none, oob = zero,
                                        interleave = none>
!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
module attributes {gpu.container_module} {
  memref.global "private" @tile : !tile
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 64 : index
    %columns = arith.constant 32 : index
    %threads = arith.constant THREADS : index
    %seven = arith.constant 7.0 : f32
    %x, %made = gpu.alloc async () : memref<64x32xf32>
    %filled = gpu.memset async [%made] %x, %seven : memref<64x32xf32>, f32
    gpu.wait [%filled]
    %any = memref.cast %x : memref<64x32xf32> to memref<*xf32>
    %map = nvgpu.tma.create.descriptor %any box[%rows, %columns] : memref<*xf32> -> !tile_map
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
      %bytes = arith.constant BYTES : index
      %ticks = arith.constant 10000000 : index
      %even = arith.constant false
      %i0 = arith.constant 0 : index
      %last_row = arith.constant 63 : index
      %last_column = arith.constant 31 : index
      %tile = memref.get_global @tile : !tile
      %b = nvgpu.mbarrier.create -> !barrier
      nvgpu.mbarrier.init %b[%i0], %sx : !barrier
      %is_first = arith.cmpi eq, %tx, %i0 : index
      scf.if %is_first {
        nvgpu.tma.async.load %map[%i0, %i0], %b[%i0] to %tile : !tile_map, !barrier -> !tile
        nvgpu.mbarrier.arrive.expect_tx %b[%i0], %bytes : !barrier
      } else {
        nvgpu.mbarrier.arrive.expect_tx %b[%i0], %i0 : !barrier
      }
      nvgpu.mbarrier.try_wait.parity %b[%i0], %even, %ticks : !barrier
      %value = memref.load %tile[%last_row, %last_column] : !tile
      %is_last = arith.addi %tx, %c1 : index
      %ends = arith.cmpi eq, %is_last, %sx : index
      scf.if %ends {
        gpu.printf "last thread sees %f\\n", %value : f32
      }
      gpu.terminator
    }
    return
  }
}
"""


@pytest.mark.parametrize(
    ("threads", "bytes_expected", "output"),
    [
        (128, 8192, "last thread sees 7.000000\n"),
        (96, 4096, "last thread sees 7.000000\n"),
        (32, 8320, "for 0 of 32 arrivals and 128 more bytes"),
    ],
)
def test_each_thread_makes_the_mbarrier(
    threads: int, bytes_expected: int, output: str, tmp_path: Path
) -> None:
    source = tmp_path / "barrier.mlir"
    text = _TEXT.replace("THREADS", str(threads)).replace("BYTES", str(bytes_expected))
    source.write_text(text)
    built = source.with_suffix("")
    assert run_hirc([str(source), "-o", str(built), "--offload-arch=cpu", "-O0"]) == 0
    done = subprocess.run([str(built)], capture_output=True, text=True, timeout=60, check=False)
    if output.startswith("last"):
        assert (done.returncode, done.stdout) == (0, output), done.stderr
    else:
        assert done.returncode == 1
        assert output in done.stderr


_MADE_BY_ONE = """
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
func.func @main() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %other = arith.constant 32 : index
    %ticks = arith.constant 10000000 : index
    %odd = arith.constant true
    %even = arith.constant false
    %b = nvgpu.mbarrier.create -> !barriers
    %makes = arith.cmpi eq, %tx, %i0 : index
    scf.if %makes {
      nvgpu.mbarrier.init %b[%i0], %i1 : !barriers
      nvgpu.mbarrier.init %b[%i1], %i1 : !barriers
      nvgpu.mbarrier.init %b[%i2], %i1 : !barriers
      nvgpu.mbarrier.init %b[%i3], %i1 : !barriers
    }
    %uses = arith.cmpi eq, %tx, %other : index
    scf.if %uses {
      nvgpu.mbarrier.try_wait.parity %b[%i3], %odd, %ticks : !barriers
      %token = nvgpu.mbarrier.arrive %b[%i3] : !barriers -> !nvgpu.mbarrier.token
    }
    nvgpu.mbarrier.try_wait.parity %b[%i3], %even, %ticks : !barriers
    scf.if %makes {
      gpu.printf "arrived\\n"
    }
    gpu.terminator
  }
  return
}
"""


def test_one_thread_makes_several_for_others_that_use_them_at_once(tmp_path: Path) -> None:
    """As warps of a GPU do that start together, without a barrier in between."""
    source = tmp_path / "barriers.mlir"
    source.write_text(_MADE_BY_ONE)
    built = source.with_suffix("")
    assert run_hirc([str(source), "-o", str(built), "--offload-arch=cpu", "-O0"]) == 0
    done = subprocess.run([str(built)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "arrived\n"), done.stderr
