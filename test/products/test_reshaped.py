"""What follows products in another shape, through a cuBLASLt that multiplies on the host."""

from __future__ import annotations

import re

import pytest
import torch

from support.fake_library import Fake

_PROGRAM = """
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#each = affine_map<(i, j, k) -> (i, j, k)>
func.func @main(%x: tensor<?x5xf32>, %w: tensor<5x7xf32>, %bias: tensor<7xf32>)
    -> tensor<?x3x7xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x5xf32>
  %groups = arith.divui %rows, %c3 : index
  %empty = tensor.empty(%rows) : tensor<?x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x7xf32>) -> tensor<?x7xf32>
  %sums = linalg.matmul ins(%x, %w : tensor<?x5xf32>, tensor<5x7xf32>)
                        outs(%zeros : tensor<?x7xf32>) -> tensor<?x7xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row, #same],
                         iterator_types = ["parallel", "parallel"]}
    ins(%sums, %bias : tensor<?x7xf32>, tensor<7xf32>) outs(%empty : tensor<?x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x7xf32>
  %shaped = tensor.expand_shape %sum [[0, 1], [2]] output_shape [%groups, 3, 7]
    : tensor<?x7xf32> into tensor<?x3x7xf32>
  %to = tensor.empty(%groups) : tensor<?x3x7xf32>
  %result = linalg.generic {indexing_maps = [#each, #each],
                            iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%shaped : tensor<?x3x7xf32>) outs(%to : tensor<?x3x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<?x3x7xf32>
  return %result : tensor<?x3x7xf32>
}"""


def test_the_library_applies_it(fake: Fake) -> None:
    program = fake.library(_PROGRAM, "-O0")
    generator = torch.Generator().manual_seed(0)
    x, w, bias = (
        torch.randint(-3, 4, size, generator=generator).float() for size in ((6, 5), (5, 7), (7,))
    )
    got: list[torch.Tensor] = []
    (call,) = fake.log(lambda: got.append(program.main(x, w, bias)))
    # CUBLASLT_EPILOGUE_RELU_BIAS
    assert re.search(r" epilogue 6\b", call)
    assert torch.equal(got[0], (x @ w + bias).relu().reshape(2, 3, 7))


_RESIDUAL = (
    _PROGRAM.replace("%bias: tensor<7xf32>)", "%bias: tensor<7xf32>, %r: tensor<?x3x7xf32>)")
    .replace("""[#each, #each],""", """[#each, #each, #each],""")
    .replace(
        "ins(%shaped : tensor<?x3x7xf32>)",
        "ins(%r, %shaped : tensor<?x3x7xf32>, tensor<?x3x7xf32>)",
    )
    .replace(
        "^bb0(%a: f32, %o: f32):\n    %v = arith.maximumf %a, %zero : f32",
        "^bb0(%b: f32, %a: f32, %o: f32):\n    %v = arith.OPERATION %b, %a : f32",
    )
)


@pytest.mark.parametrize("operation", ["addf", "mulf"])
def test_the_library_adds_a_residual(fake: Fake, operation: str) -> None:
    """Of what it cannot compute, a product with a factor, it still adds the bias before."""
    program = fake.library(_RESIDUAL.replace("OPERATION", operation), "-O0")
    generator = torch.Generator().manual_seed(0)
    x, w, bias, r = (
        torch.randint(-3, 4, size, generator=generator).float()
        for size in ((6, 5), (5, 7), (7,), (2, 3, 7))
    )
    got: list[torch.Tensor] = []
    (call,) = fake.log(lambda: got.append(program.main(x, w, bias, r)))
    # CUBLASLT_EPILOGUE_BIAS
    assert re.search(r" epilogue 4\b", call)
    assert ("beta 1" in call) == (operation == "addf")
    total = (x @ w + bias).reshape(2, 3, 7)
    assert torch.equal(got[0], total + r if operation == "addf" else total * r)
