"""Products of 16-bit elements in padded sizes, by a cuBLASLt that multiplies on the host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import hirc
from support.fake_library import Fake
from support.weights import write_values

# The sums of the product's rows, and of the weight's; and a product with an odd number of terms.
_PROGRAM = """
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @rows(%x: tensor<?x256xf16>, %w: tensor<131x256xf16> {hirc.weight = "w"},
                %v: tensor<3xf32> {hirc.weight = "v"})
    -> (tensor<?xf32>, tensor<131xf16>, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %m = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%m) : tensor<?x131xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x131xf32>) -> tensor<?x131xf32>
  %y = linalg.contract indexing_maps = [#x, #w, #y]
    ins(%x, %w : tensor<?x256xf16>, tensor<131x256xf16>)
    outs(%z : tensor<?x131xf32>) -> tensor<?x131xf32>
  %f = tensor.empty(%m) : tensor<?xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<?x131xf32>) outs(%g : tensor<?xf32>)
    dimensions = [1]
  %h = tensor.empty() : tensor<131xf16>
  %i = linalg.fill ins(%none : f16) outs(%h : tensor<131xf16>) -> tensor<131xf16>
  %t = linalg.reduce {arith.addf} ins(%w : tensor<131x256xf16>) outs(%i : tensor<131xf16>)
    dimensions = [1]
  %u = arith.addf %v, %v : tensor<3xf32>
  return %s, %t, %u : tensor<?xf32>, tensor<131xf16>, tensor<3xf32>
}
func.func @terms(%x: tensor<160x2x1001xf16>, %w: tensor<160x8x1001xf16>) -> tensor<160x2x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<160x2x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<160x2x8xf32>) -> tensor<160x2x8xf32>
  %y = linalg.contract indexing_maps = [
      affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
      affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%x, %w : tensor<160x2x1001xf16>, tensor<160x8x1001xf16>)
    outs(%z : tensor<160x2x8xf32>) -> tensor<160x2x8xf32>
  return %y : tensor<160x2x8xf32>
}"""
_V = torch.arange(3.0)


@pytest.fixture(scope="module")
def program(fake: Fake) -> Path:
    return fake.library(_PROGRAM, "-O0").path


# A weight of the caller's, and one of a file, which is mapped.
@pytest.mark.parametrize("is_mapped", [False, True])
def test_rows_of_a_weight(fake: Fake, program: Path, tmp_path: Path, is_mapped: bool) -> None:
    w, x = (torch.randint(-1, 2, size).half() for size in ((131, 256), (40, 256)))
    weights = {"w": w, "v": _V}
    values = {name: value.numpy() for name, value in weights.items()}
    given = write_values(tmp_path / "w.safetensors", values) if is_mapped else weights
    library = hirc.load(program, weights=given)
    got: list[tuple[torch.Tensor, ...]] = []
    try:
        (call,) = fake.log(lambda: got.append(library.rows(x)))
    finally:
        library.unload_weights()
    assert re.search(r"\b136\b", call)
    sums, of_weight, twice = got[0]
    assert torch.equal(sums, (x.float() @ w.float().T).sum(1))
    assert torch.equal(of_weight, w.float().sum(1).half())
    assert torch.equal(twice, 2 * _V)


def test_terms(fake: Fake, program: Path) -> None:
    x, w = (torch.randint(-1, 2, size).half() for size in ((160, 2, 1001), (160, 8, 1001)))
    library = hirc.load(program)
    got: list[torch.Tensor] = []
    (call,) = fake.log(lambda: got.append(library.terms(x, w)))
    assert re.search(r"\b1008\b", call)
    assert torch.equal(got[0], x.float() @ w.float().mT)
