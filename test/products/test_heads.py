"""Products of heads, read and written in place by a cuBLASLt that multiplies on the host."""

from __future__ import annotations

import pytest
import torch

import hirc
from support.fake_library import Fake

# Heads of queries, keys or values lie side by side in a row, of which the others are more parts.
_SCORES = """
func.func @scores_{b}(%x: tensor<{b}x{t}x{row}xf32>) -> tensor<{b}x{h}x{t}x{t}xf32> {{
  %zero = arith.constant 0.0 : f32
  %q = tensor.extract_slice %x[0, 0, 0] [{b}, {t}, {width}] [1, 1, 1]
    : tensor<{b}x{t}x{row}xf32> to tensor<{b}x{t}x{width}xf32>
  %k = tensor.extract_slice %x[0, 0, {width}] [{b}, {t}, {width}] [1, 1, 1]
    : tensor<{b}x{t}x{row}xf32> to tensor<{b}x{t}x{width}xf32>
  %qh = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [{b}, {t}, {h}, {d}]
    : tensor<{b}x{t}x{width}xf32> into tensor<{b}x{t}x{h}x{d}xf32>
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [{b}, {t}, {h}, {d}]
    : tensor<{b}x{t}x{width}xf32> into tensor<{b}x{t}x{h}x{d}xf32>
  %e = tensor.empty() : tensor<{b}x{h}x{t}x{d}xf32>
  %f = tensor.empty() : tensor<{b}x{h}x{d}x{t}xf32>
  %qt = linalg.transpose ins(%qh : tensor<{b}x{t}x{h}x{d}xf32>)
    outs(%e : tensor<{b}x{h}x{t}x{d}xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%kh : tensor<{b}x{t}x{h}x{d}xf32>)
    outs(%f : tensor<{b}x{h}x{d}x{t}xf32>) permutation = [0, 2, 3, 1]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]]
    : tensor<{b}x{h}x{t}x{d}xf32> into tensor<{n}x{t}x{d}xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]]
    : tensor<{b}x{h}x{d}x{t}xf32> into tensor<{n}x{d}x{t}xf32>
  %s = tensor.empty() : tensor<{n}x{t}x{t}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<{n}x{t}x{t}xf32>) -> tensor<{n}x{t}x{t}xf32>
  %y = linalg.batch_matmul ins(%qc, %kc : tensor<{n}x{t}x{d}xf32>, tensor<{n}x{d}x{t}xf32>)
    outs(%z : tensor<{n}x{t}x{t}xf32>) -> tensor<{n}x{t}x{t}xf32>
  %r = tensor.expand_shape %y [[0, 1], [2], [3]] output_shape [{b}, {h}, {t}, {t}]
    : tensor<{n}x{t}x{t}xf32> into tensor<{b}x{h}x{t}x{t}xf32>
  return %r : tensor<{b}x{h}x{t}x{t}xf32>
}}"""
_VALUES = """
func.func @values_{b}(%w: tensor<{n}x{t}x{t}xf32>, %v: tensor<{b}x{t}x{h}x{d}xf32>)
    -> tensor<{b}x{t}x{width}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{b}x{h}x{t}x{d}xf32>
  %vt = linalg.transpose ins(%v : tensor<{b}x{t}x{h}x{d}xf32>)
    outs(%e : tensor<{b}x{h}x{t}x{d}xf32>) permutation = [0, 2, 1, 3]
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]]
    : tensor<{b}x{h}x{t}x{d}xf32> into tensor<{n}x{t}x{d}xf32>
  %s = tensor.empty() : tensor<{n}x{t}x{d}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<{n}x{t}x{d}xf32>) -> tensor<{n}x{t}x{d}xf32>
  %y = linalg.batch_matmul ins(%w, %vc : tensor<{n}x{t}x{t}xf32>, tensor<{n}x{t}x{d}xf32>)
    outs(%z : tensor<{n}x{t}x{d}xf32>) -> tensor<{n}x{t}x{d}xf32>
  %h = tensor.expand_shape %y [[0, 1], [2], [3]] output_shape [{b}, {h}, {t}, {d}]
    : tensor<{n}x{t}x{d}xf32> into tensor<{b}x{h}x{t}x{d}xf32>
  %to = tensor.empty() : tensor<{b}x{t}x{h}x{d}xf32>
  %m = linalg.transpose ins(%h : tensor<{b}x{h}x{t}x{d}xf32>)
    outs(%to : tensor<{b}x{t}x{h}x{d}xf32>) permutation = [0, 2, 1, 3]
  %r = tensor.collapse_shape %m [[0], [1], [2, 3]]
    : tensor<{b}x{t}x{h}x{d}xf32> into tensor<{b}x{t}x{width}xf32>
  return %r : tensor<{b}x{t}x{width}xf32>
}}"""


_HEADS, _TOKENS, _SIZE = 3, 40, 8


@pytest.fixture(scope="module")
def program(fake: Fake) -> hirc.Library:
    """Scores and values, of one sequence and of two."""
    sizes = {
        "h": _HEADS, "t": _TOKENS, "d": _SIZE, "width": _HEADS * _SIZE, "row": 3 * _HEADS * _SIZE,
    }  # fmt: skip
    texts = [each.format(b=b, n=b * _HEADS, **sizes) for each in (_SCORES, _VALUES) for b in (1, 2)]
    return fake.library("\n".join(texts), "-O0")


# A sequence is one call for all of its heads.
@pytest.mark.parametrize("b", [1, 2])
def test_scores(fake: Fake, program: hirc.Library, b: int) -> None:
    x = torch.randint(-3, 4, (b, _TOKENS, 3 * _HEADS * _SIZE)).float()
    got: list[torch.Tensor] = []
    assert len(fake.log(lambda: got.append(getattr(program, f"scores_{b}")(x)))) == b
    q, k, _ = (each.unflatten(-1, (_HEADS, _SIZE)).transpose(1, 2) for each in x.chunk(3, -1))
    assert torch.equal(got[0], q @ k.transpose(-1, -2))


@pytest.mark.parametrize("b", [1, 2])
def test_values(fake: Fake, program: hirc.Library, b: int) -> None:
    w = torch.randint(-3, 4, (b * _HEADS, _TOKENS, _TOKENS)).float()
    v = torch.randint(-3, 4, (b, _TOKENS, _HEADS, _SIZE)).float()
    got: list[torch.Tensor] = []
    assert len(fake.log(lambda: got.append(getattr(program, f"values_{b}")(w, v)))) == b
    each = w.unflatten(0, (b, _HEADS)) @ v.transpose(1, 2)
    assert torch.equal(got[0], each.transpose(1, 2).flatten(2))
