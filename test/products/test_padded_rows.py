"""Products whose tensors have padded rows, through a cuBLASLt that multiplies on the host."""

from __future__ import annotations

import re

import pytest
import torch

from support.matmul_library import Fake

_DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


def _program(rows: int, terms: int, columns: int, element: str) -> str:
    """The product of -x and -w, and the absolute values of its elements."""
    sizes = {"x": f"{rows}x{terms}", "w": f"{terms}x{columns}", "y": f"{rows}x{columns}"}
    kinds = {name: f"tensor<2x{size}x{element}>" for name, size in sizes.items()}

    def each(name: str, kind: str, of: str, op: str) -> str:
        return f"""
  %{name}_to = tensor.empty() : {kind}
  %{name} = linalg.generic {{indexing_maps = [#same, #same],
                             iterator_types = ["parallel", "parallel", "parallel"]}}
    ins(%{of} : {kind}) outs(%{name}_to : {kind}) {{
  ^bb0(%a: {element}, %o: {element}):
    %v = {op} %a : {element}
    linalg.yield %v : {element}
  }} -> {kind}"""

    x, w, y = kinds.values()
    return f"""
#same = affine_map<(i, j, k) -> (i, j, k)>
func.func @main(%x: {x}, %w: {w}) -> {y} {{
  %zero = arith.constant 0.0 : {element}{each("left", x, "x", "arith.negf")}{
        each("right", w, "w", "arith.negf")
    }
  %empty = tensor.empty() : {y}
  %zeros = linalg.fill ins(%zero : {element}) outs(%empty : {y}) -> {y}
  %sums = linalg.batch_matmul ins(%left, %right : {x}, {w}) outs(%zeros : {y}) -> {y}{
        each("result", y, "sums", "math.absf")
    }
  return %result : {y}
}}"""


def leading_dims(calls: list[str]) -> list[int]:
    """Those of the one call: the second operand's, the first one's and the result's."""
    (call,) = calls
    found = re.search(r" ld (\d+) (\d+) (\d+) ", call)
    assert found is not None, call
    return [int(each) for each in found.groups()]


@pytest.mark.parametrize("element", _DTYPES)
def test_each_tensor_has_rows_of_whole_16_bytes(fake: Fake, element: str) -> None:
    program = fake.library(_program(100, 101, 102, element), "-O0")
    x, w = (
        torch.randint(-3, 4, size).to(_DTYPES[element]) for size in ((2, 100, 101), (2, 101, 102))
    )
    got: list[torch.Tensor] = []
    calls = fake.log(lambda: got.append(program.main(x, w)))
    assert leading_dims(calls) == [104, 104, 104]
    # Small whole numbers: at most 9 * 101, which bf16 rounds once.
    assert torch.equal(got[0], (x.double() @ w.double()).abs().to(_DTYPES[element]))


def test_rows_of_whole_16_bytes_stay_packed(fake: Fake) -> None:
    program = fake.library(_program(100, 96, 112, "bf16"), "-O0")
    x, w = torch.ones(2, 100, 96).bfloat16(), torch.ones(2, 96, 112).bfloat16()
    assert leading_dims(fake.log(lambda: program.main(x, w))) == [112, 96, 112]
