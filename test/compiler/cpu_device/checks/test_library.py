"""Libraries with checks: the caller's tensors are memory of the device, as far as they go."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_clang
from support.dl_tensor import DL_TENSOR
from support.program_command import build

_SHIFT = """\
func.func @shift(%x: memref<?xf32>, %y: memref<?xf32>, %by: index, %from: index) {
  %one = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  gpu.launch blocks(%bx, %byy, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %one, %sz = %one)
             workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %at = arith.addi %tx, %by : index
    %v = memref.load %x[%at] : memref<?xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    %next = arith.addi %tx, %from : index
    %other = arith.remui %next, %sx : index
    %w = memref.load %s[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}
"""
_SCALE = """\
"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %k: f32):
  %y = "hir.binary"(%x, %k) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x4xf32>) -> ()
}) {sym_name = "scale", inputs = [{name = "x", sizes = ["n", 4]}, {name = "k"}],
    function_type = (memref<?x4xf32>, f32) -> memref<?x4xf32>} : () -> ()
"""
_CALLS = """
import sys, numpy as np, hirc
shift, scale = map(hirc.load, sys.argv[1:3])
x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
# In the middle of memory that is larger.
shift.shift(x[1:5], y[:4], 0, 0)
assert y.tolist() == [1, 2, 3, 4, 0, 0, 0, 0]
z = x.reshape(2, 4)
for _ in range(3):
    z = scale.scale(z, 2)
z[0, 0] = 7  # what the library has allocated is the caller's
assert scale.scale(z, 1).reshape(-1).tolist() == [7, *range(8, 64, 8)]
print("right", flush=True)
shift.shift(x[:4], y[:4], int(sys.argv[3]), int(sys.argv[4]))
"""
_MANY = """
import sys, numpy as np, hirc
found = [hirc.load(each) for each in sys.argv[1:]]
x = np.ones((2, 4), np.float32)
for each in found:
    x = each.scale(x, 2)
assert x[1, 3] == 2 ** len(found)
print("right", flush=True)
"""
_CALLER = (
    """
#include <stdint.h>
#include <stdio.h>
"""
    + DL_TENSOR
    + """\
int hirc_program_scale(const DLTensor *const *inputs, DLTensor *const *outputs, void *stream);
void hirc_free_output(void *data, void *stream);
void hirc_synchronize(void *stream);
int main(void) {
  float elements[8] = {0, 1, 2, 3, 4, 5, 6, 7}, factor = 0.5f;
  int64_t sizes[2] = {2, 4}, y_sizes[2], y_strides[2];
  DLTensor x = {elements, {1, 0}, 2, {2, 32, 1}, sizes, 0, 0};
  DLTensor k = {&factor, {1, 0}, 0, {2, 32, 1}, 0, 0, 0};
  for (int i = 0; i < 2; ++i) {
    DLTensor y = {.shape = y_sizes, .strides = y_strides};
    const DLTensor *inputs[] = {&x, &k};
    DLTensor *outputs[] = {&y};
    if (hirc_program_scale(inputs, outputs, 0) != 0) return 1;
    hirc_synchronize(0);
    printf("%g\\n", ((const float *)((const char *)y.data + y.byte_offset))[7]);
    hirc_free_output(y.data, 0);
  }
}
"""
)


@pytest.mark.parametrize("checks", ["memory", "race", "memory,race"])
def test_library(checks: str, tmp_path: Path) -> None:
    words = ("--emit=shared", f"--check={checks}")
    shift = build(_SHIFT, tmp_path / "shift.so", "--entry=shift", *words)
    scale = build(_SCALE, tmp_path / "scale.so", *words)

    def calls(by: int, other: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", _CALLS, shift, scale, str(by), str(other)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    right = calls(0, 0)
    assert (right.returncode, right.stdout, right.stderr) == (0, "right\n", "")
    beyond, racing = calls(1, 0), calls(0, 1)
    assert beyond.stdout == racing.stdout == "right\n"
    if "memory" in checks:
        assert "out-of-bounds read of 4 bytes in kernel shift_kernel" in beyond.stderr
        assert "is 0 bytes after a tensor of 16 bytes that the library" in beyond.stderr
    if "race" in checks:
        assert "race" in racing.stderr
        assert "shift.mlir:13" in racing.stderr

    if checks == "memory,race":
        # Each reserves addresses: not so many that none are left for others.
        copies = [shutil.copy(scale, tmp_path / f"{number}.so") for number in range(24)]
        many = subprocess.run(
            [sys.executable, "-c", _MANY, *copies],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (many.returncode, many.stdout, many.stderr) == (0, "right\n", "")

    caller = tmp_path / "caller.c"
    caller.write_text(_CALLER)
    parts = [caller, scale, f"-Wl,-rpath,{tmp_path}", "-o", tmp_path / "caller"]
    subprocess.run([find_clang().path, *parts], check=True, timeout=60)
    done = subprocess.run(
        [tmp_path / "caller"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.5\n3.5\n", "")
