"""Kernels run on the CPU device, over the tensors' own memory."""

from __future__ import annotations

import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret
from support.host_ir import program

KERNEL = """
gpu.module @kernels {
  gpu.func @scale(%x: memref<?xf32, strided<[?], offset: ?>>, %y: memref<?xf32>, %f: f32, %n: i32)
      kernel {
    %thread = gpu.global_id x
    %size = arith.index_cast %n : i32 to index
    %inside = arith.cmpi ult, %thread, %size : index
    scf.if %inside {
      %a = memref.load %x[%thread] : memref<?xf32, strided<[?], offset: ?>>
      %b = arith.mulf %a, %f : f32
      memref.store %b, %y[%thread] : memref<?xf32>
    }
    gpu.return
  }
}
"""
NAMED = (
    '"hir.kernel"() {sym_name = "named", function = @kernels::@scale, '
    "writes = array<i64: %s>} : () -> ()\n"
)


def launch(kernel: str) -> str:
    body = f"""\
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %threads = arith.constant 32 : index
  %y = "hir.allocate"(%2) : (index) -> memref<?xf32>
  %n = arith.index_cast %2 : index to i32
  %blocks = index.ceildivs %2, %threads
  "hir.launch"(%blocks, %one, %one, %threads, %one, %one, %zero) ({{
    "hir.argument"(%0) : (memref<?xf32, strided<[?], offset: ?>>) -> ()
    "hir.argument"(%y) : (memref<?xf32>) -> ()
    "hir.argument"(%1) : (f32) -> ()
    "hir.argument"(%n) : (i32) -> ()
  }}) {{kernel = {kernel}}} : (index, index, index, index, index, index, index) -> ()"""
    return program(
        ["memref<?xf32, strided<[?], offset: ?>>", "f32", "index"], body, ["%y: memref<?xf32>"]
    )


@pytest.mark.parametrize("kernel", ["@kernels::@scale", "@named"])
def test_a_kernel(kernel: str) -> None:
    x = torch.arange(200.0)[::2]
    text = launch(kernel) + NAMED % "1" + KERNEL
    (y,) = interpret(text, [x, 3.0, 100])
    assert torch.equal(y, x * 3)
    assert interpret(text, [x, 3.0, 0])[0].shape == (0,)


def test_what_a_kernel_does_not_write_is_not_written() -> None:
    text = launch("@named") + NAMED % "0" + KERNEL
    with pytest.raises(InputError, match="output 'output0': nothing was written"):
        interpret(text, [torch.zeros(8), 1.0, 8])
