"""Libraries whose programs fail: checks, assertions, kernels, products, several threads at once."""

from __future__ import annotations

import ctypes
import itertools
import re
import threading

import numpy as np
import pytest
from host_ir.libraries import library

import hirc
from hirc.compiler.errors import ExecutionError
from support.fake_library import Fake

# A slice whose end is the caller's, a function that asserts, one whose kernel asserts.
_CHECKS = """
"hir.program"() ({
^bb0(%x: memref<?xf32>, %n: index):
  %t = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  %y = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.set"(%t, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "fits", inputs = [{name = "x"}, {name = "n"}],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()
func.func @main(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %h = memref.alloc(%n) : memref<?xf32>
  %even = arith.constant 6 : index
  %is = arith.cmpi ule, %n, %even : index
  cf.assert %is, "at most six"
  memref.dealloc %h : memref<?xf32>
  return %n : index
}
"""
_FAULT = """
func.func @main(%n: index) -> index {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %is = arith.cmpi ne, %n, %c1 : index
    cf.assert %is, "one is too few"
    gpu.terminator
  }
  return %n : index
}
"""


def test_a_check_of_the_program_fails_its_call() -> None:
    checks = library(_CHECKS)
    x = np.arange(4, dtype=np.float32)
    for _ in range(3):
        with pytest.raises(
            ExecutionError, match=r"\.mlir:6:\d+: error: hir\.set: operand 0 does not"
        ):
            checks.fits(x, 5)
        assert np.array_equal(checks.fits(x, 4), -x)


def test_an_assertion_of_the_host_fails_its_call() -> None:
    checks = library(_CHECKS)
    with pytest.raises(ExecutionError, match=r":15:\d+: error: assertion failed: at most six"):
        checks.main(7)
    assert checks.main(6) == 6


def test_threads_fail_each_by_itself() -> None:
    checks = library(_CHECKS)
    x, found = np.ones(4, np.float32), list[str]()

    def call(number: int) -> None:
        for turn in range(20):
            wanted = 4 if turn % 2 else -100 - number
            try:
                checks.fits(x, wanted)
            except ExecutionError as error:
                found.extend({str(error)} if str(wanted) in str(error) else ())

    threads = [threading.Thread(target=call, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40


def test_a_kernel_that_fails_fails_the_call_and_those_after_it() -> None:
    # The device is lost then, as a GPU's is; the process is not.
    fault = library(_FAULT)
    assert fault.main(2) == 2
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"failed: cudaErrorAssert \(710\)"):
            fault.main(1)


_PRODUCT = """
func.func @main(%x: tensor<?x8xf32> {hir.name = "x"}, %w: tensor<8x5xf32> {hir.name = "w"},
                %b: tensor<?x5xf32> {hir.name = "b"}) -> (tensor<?x5xf32> {hir.name = "y"}) {
  %y = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x5xf32>)
                     outs(%b : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
"""


_CONVOLUTION = """
func.func @main(%x: tensor<?x8x5xf32> {hir.name = "x"}, %w: tensor<3x8x2xf32> {hir.name = "w"},
                %b: tensor<?x3x4xf32> {hir.name = "b"}) -> (tensor<?x3x4xf32> {hir.name = "y"}) {
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<?x8x5xf32>, tensor<3x8x2xf32>)
                              outs(%b : tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  return %y : tensor<?x3x4xf32>
}
"""


def test_each_call_of_the_products_library_fails(fake: Fake) -> None:
    # The plan of the call that succeeded: a description, and the layouts of three matrices and of
    # what is added.
    _fails_at_each_call(fake, fake.library(_PRODUCT), "cublasLt", 5, ((8,), (8, 5), (5,)), 8)


def test_each_call_of_the_convolutions_library_fails(convolver: Fake) -> None:
    # Descriptions of the convolution and its three tensors; the handle was there.
    built = convolver.linked(_CONVOLUTION, "--convolutions=library")
    _fails_at_each_call(convolver, built, "cudnn", 4, ((8, 5), (3, 8, 2), (3, 4)), 16)


def _fails_at_each_call(
    fake: Fake,
    built: hirc.Library,
    prefix: str,
    kept: int,
    sizes: tuple[tuple[int, ...], ...],
    terms: int,
) -> None:
    alive, failing, calls = (
        ctypes.c_int.in_dll(fake.loaded, f"fake_library_{name}")
        for name in ("alive", "at", "calls")
    )

    def operands(rows: int) -> list[np.ndarray]:
        x, w, b = sizes
        return [np.ones(each, np.float32) for each in ((rows, *x), w, (rows, *b))]

    built.main(*operands(1))
    before = alive.value
    given = operands(2)  # sizes that no plan is made for yet

    def fails(number: int) -> str:
        calls.value, failing.value = 0, number
        try:
            built.main(*given)
        except ExecutionError as error:
            return str(error)
        finally:
            failing.value = 0
        return ""

    messages = list(itertools.takewhile(bool, map(fails, itertools.count(1))))
    assert len(messages) > 10
    assert all(re.match(rf"\S*\.mlir:4:\d+: error: {prefix}\w+ failed: ", m) for m in messages)
    assert alive.value == before + kept
    assert (built.main(*given) == terms + 1).all()
