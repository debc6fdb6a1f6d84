"""Units whose device code calls one another: MLIR's, and one in CUDA C++."""

from __future__ import annotations

# Launches a kernel of four threads, which shows 1, 3, 5 and 7 by what another unit has.
LAUNCH = """\
func.func @main() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
  return
}
"""
CALLS = f"""\
module attributes {{gpu.container_module}} {{
gpu.module @m {{
  func.func private @twice(f32) -> f32
  func.func @plus_one(%x: f32) -> f32 {{
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %x, %one : f32
    return %0 : f32
  }}
  gpu.func @k() kernel {{
    %t = gpu.thread_id x
    %0 = arith.index_cast %t : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = func.call @twice(%1) : (f32) -> f32
    gpu.printf "%f\\n", %2 : f32
    gpu.return
  }}
}}
{LAUNCH}}}
"""
TWICE = """\
gpu.module @other {
  func.func private @plus_one(f32) -> f32
  func.func @twice(%x: f32) -> f32 {
    %0 = arith.addf %x, %x : f32
    %1 = func.call @plus_one(%0) : (f32) -> f32
    return %1 : f32
  }
}
"""
TWICE_CUDA = """\
extern "C" __attribute__((device)) float plus_one(float x);
extern "C" __attribute__((device)) float twice(float x) { return plus_one(2 * x); }
"""
