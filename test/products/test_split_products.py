"""Products of f32 as three of bf16: how exact they are, and what is not finite."""

from __future__ import annotations

import math

import torch
from torch import Tensor

import hirc

# What docs/matrix-products.md says of a product of two elements.
_BOUND = 2**-14


def _products(x: Tensor, w: Tensor, bias: Tensor, batches: Tensor) -> list[Tensor]:
    return [
        torch.addmm(bias, x, w),
        batches @ batches.mT,
        x @ w[:, 0],
        x.bfloat16().to(x.dtype) @ w,
    ]


def test_each_product_is_within_the_bound() -> None:
    torch.manual_seed(0)
    # Of all magnitudes, so that terms do not cancel and errors show.
    x, w = (torch.randn(size) * torch.randn(size).mul(4).exp() for size in ((5, 40), (40, 6)))
    given = x, w, torch.randn(6), torch.randn(3, 4, 20)
    net = hirc.compile(_products, given, target="cpu", opt_level=0, float32_products="bf16x3")
    exact = _products(*(each.double() for each in given))
    sizes = _products(*(each.double().abs() for each in given))
    errors = [
        ((one.double() - other).abs() / size).max().item()
        for one, other, size in zip(net(*given), exact, sizes, strict=True)
    ]
    assert max(errors) < _BOUND
    # Rounded to bf16 alone they are not.
    rounded = _products(*(each.bfloat16().double() for each in given))
    assert ((rounded[0] - exact[0]).abs() / sizes[0]).max() > 8 * _BOUND


def test_what_is_not_finite_is_as_in_f32() -> None:
    # More than the greatest bf16.
    most = 0.9995 * torch.finfo(torch.float32).max
    x = torch.tensor([[math.inf, 1.0], [math.nan, 1.0], [most, 0.0], [2.0, -math.inf], [0.0, 3.0]])
    w = torch.tensor([[1.0, math.inf, 0.5, 1 / 3], [2.0, 1.0, 0.1, 0.0]])
    net = hirc.compile(torch.mm, (x, w), target="cpu", opt_level=0, float32_products="bf16x3")
    torch.testing.assert_close(net(x, w), x @ w, rtol=1e-4, atol=0, equal_nan=True)
