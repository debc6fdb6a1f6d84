"""Drawn reductions of products and convolutions on the CPU device, against torch in float64.

What is drawn: factors, their types and shapes, a view of the result, what is computed of it, which
of its dims are reduced and how, how many such reductions there are, and whether the result, or a
product of it, is one of the outputs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import hirc

_MAPS: dict[str, Callable[[Tensor], Tensor]] = {
    "plain": lambda y: y,
    "square": lambda y: y.square(),
    "relu": lambda y: functional.relu(y - 0.25),
    "sigmoid": torch.sigmoid,
    "absolute": torch.abs,
}
_REDUCTIONS: dict[str, Callable[[Tensor, list[int], bool], Tensor]] = {
    "sum": lambda y, dims, kept: y.sum(dims, keepdim=kept),
    "mean": lambda y, dims, kept: y.mean(dims, keepdim=kept),
    "greatest": lambda y, dims, kept: y.amax(dims, keepdim=kept),
    "least": lambda y, dims, kept: y.amin(dims, keepdim=kept),
}


class _Drawn(nn.Module):
    """A product or a convolution, and some reductions of it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        draw, generator = random.Random(number), torch.Generator().manual_seed(number)

        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator)

        self.dtype = draw.choice([torch.float32, torch.bfloat16, torch.float16])
        self.is_convolution = draw.random() < 0.4
        rows = [draw.choice([1, 3, 5]), draw.choice([48, 64, 70, 130])]
        heads, size = draw.choice([1, 3, 4, 6]), draw.choice([40, 64, 67, 96, 128])
        self.view = None if heads == 1 else (*rows, heads, size)
        columns, terms = heads * size, draw.choice([72, 136, 264])
        shape = (*rows, terms)
        self.weight = nn.Parameter(normal(columns, terms) / terms**0.5)
        if self.is_convolution:
            window, channels = draw.choice([1, 3]), draw.choice([16, 32, 64])
            sides = [draw.choice([7, 14, 16, 33]) for _ in range(2)]
            self.view = None
            columns, shape = draw.choice([64, 96]), (draw.choice([2, 5]), channels, *sides)
            self.weight = nn.Parameter(
                normal(columns, channels, window, window) / (channels * window**2) ** 0.5
            )
        self.bias = nn.Parameter(normal(columns)) if draw.random() < 0.5 else None
        self.to(self.dtype)
        self.x = normal(*shape).to(self.dtype)
        rank = 4 if self.view or self.is_convolution else 3
        dims = [each for count in (1, 2, 3) for each in combinations(range(rank), count)]
        self.reductions = [
            (draw.choice(list(_MAPS)), draw.choice(list(_REDUCTIONS)), list(draw.choice(dims)))
            for _ in range(draw.choice([1, 1, 2, 3]))
        ]
        self.keeps = draw.random() < 0.3
        self.gives = draw.choice(["nothing", "result", "product"])

    def forward(self, x: Tensor) -> list[Tensor]:
        if self.is_convolution:
            y = functional.conv2d(x, self.weight, self.bias, padding=self.weight.shape[-1] // 2)
        else:
            y = functional.linear(x, self.weight, self.bias)
        z = y if self.view is None else y.view(self.view)
        # What a program computes of 16 bits in f32 is not rounded.
        wide = z.float() if z.dtype != torch.float64 else z
        found = [
            _REDUCTIONS[how](_MAPS[of](wide), dims, self.keeps) for of, how, dims in self.reductions
        ]
        if self.gives == "result":
            found.append(y)
        if self.gives == "product":
            found.append(y @ y.mT)
        return found


@pytest.mark.parametrize("number", range(24))
def test_drawn(number: int) -> None:
    model = _Drawn(number)
    with torch.no_grad():
        exact = _Drawn(number).double()(model.x.double())
    compiled = hirc.compile(
        model, (model.x,), target="cpu", opt_level=0, products="own", schedules="tuned"
    )
    found = compiled(model.x)
    again = compiled(model.x)
    error = {torch.float32: 2e-6, torch.bfloat16: 1.2e-2, torch.float16: 1.5e-3}[model.dtype]
    for each, other, wanted in zip(found, again, exact, strict=True):
        assert each.shape == wanted.shape
        assert torch.equal(each, other)
        # The results themselves are about 1.
        bound = error * max(float(wanted.abs().max()), 1.0)
        assert float((each.double() - wanted).abs().max()) <= bound


class _Images(nn.Module):
    """A convolution whose tiles have several images each, and reductions within these and over."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        self.weight = nn.Parameter(torch.randn((128, 128, 3, 3), generator=generator) / 34)
        self.to(dtype)
        self.x = torch.randn((91, 128, 8, 4), generator=generator).to(dtype)

    def forward(self, x: Tensor) -> list[Tensor]:
        y = functional.conv2d(x, self.weight, padding=1)
        wide = y.float() if y.dtype != torch.float64 else y
        return [functional.relu(y - 0.25).mean((2, 3)), wide.sigmoid().sum((0, 2, 3))]


def test_images() -> None:
    model = _Images(torch.float16)
    with torch.no_grad():
        exact = _Images(torch.float16).double()(model.x.double())
    compiled = hirc.compile(
        model, (model.x,), target="cpu", opt_level=0, products="own", schedules="tuned"
    )
    for each, wanted in zip(compiled(model.x), exact, strict=True):
        assert float((each.double() - wanted).abs().max() / wanted.abs().max()) <= 1.5e-3
