"""Transposed convolutions in steps, on tensor cores of the CPU device, against torch in float64."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import hirc
from hirc.pipelines.contractions import subpixel

_PER_RANK = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)
# Half a unit in the last place of the results, and what sums of f32 add; tf32 rounds the factors.
_ERRORS = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-10, torch.float32: 2.0**-9}
_AFTER: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    lambda y, r: y,
    lambda y, r: y.relu(),
    lambda y, r: (y + r).relu(),
)


@dataclass(frozen=True)
class _Drawn:
    """A drawn convolution, whose phases may have results beyond the ends and places without one."""

    seed: int

    @cached_property
    def arguments(self) -> dict[str, Any]:
        draw = random.Random(self.seed)
        rank = draw.choice((1, 2, 2, 2, 3))
        steps = [draw.choice((1, 2, 2, 3)) for _ in range(rank)]
        steps[0] = max(steps[0], 2)
        window = [draw.choice((1, 2, 3, 4, 5) if rank < 3 else (1, 2, 3)) for _ in range(rank)]
        dilation = [draw.choice((1, 1, 1, 2)) for _ in range(rank)]
        reach = [by * (size - 1) for by, size in zip(dilation, window, strict=True)]
        groups = draw.choice((1, 1, 1, 2, 3))
        most = {1: 50, 2: 10, 3: 4}[rank]
        return {
            "stride": steps,
            "padding": [draw.randint(0, min(far, 2)) for far in reach],
            "output_padding": [draw.randint(0, step - 1) for step in steps],
            "dilation": dilation,
            "groups": groups,
            "window": window,
            "size": [draw.randint(3, most) for _ in range(rank)],
            "channels": groups * draw.choice((8, 16, 17, 24, 40, 64)),
            "filters": draw.choice((3, 8, 12, 16, 33, 40)),
            "batch": draw.choice((1, 2, 3)),
            "after": draw.randrange(len(_AFTER)),
            "last": int(rank > 1 and draw.random() < 0.3),
        }

    def convolve(self, x: Tensor, w: Tensor, b: Tensor, r: Tensor) -> Tensor:
        found = dict(self.arguments)
        for name in ("window", "size", "channels", "filters", "batch"):
            del found[name]
        after, last = found.pop("after"), found.pop("last")
        if last:
            x = x.permute(0, -1, *range(1, x.dim() - 1))
        return _AFTER[after](_PER_RANK[x.dim() - 3](x, w, b, **found), r)

    def inputs(self, dtype: torch.dtype) -> tuple[Tensor, ...]:
        found = self.arguments
        generator = torch.Generator().manual_seed(self.seed)
        batch, channels, size = found["batch"], found["channels"], found["size"]
        shape = (batch, *size, channels) if found["last"] else (batch, channels, *size)
        filters = found["filters"] * found["groups"]
        weights = (channels, found["filters"], *found["window"])
        x, w, b = (
            torch.randn(sizes, generator=generator).to(dtype)
            for sizes in (shape, weights, (filters,))
        )
        result = self.convolve(x, w, b, torch.zeros((), dtype=dtype))
        return x, w, b, torch.randn(result.shape, generator=generator).to(dtype)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones are left to threads that gather elements: here these take longer than anything."""
    for name in ("_SINGLE_APART", "TOGETHER"):
        monkeypatch.setattr(f"hirc.pipelines.contractions.subpixel.{name}", 1.0)


@pytest.mark.parametrize("special", [float("inf"), float("nan")])
def test_how_far_a_special_number_reaches(special: float) -> None:
    step, window, at = 2, 3, 8

    def convolve(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv_transpose1d(x, w, stride=step, padding=1, output_padding=1)

    generator = torch.Generator().manual_seed(0)
    x, w = (
        torch.randn(sizes, generator=generator).bfloat16()
        for sizes in ((2, 16, 20), (16, 8, window))
    )
    x[1, 3, at] = special
    got = hirc.compile(convolve, (x, w), target="cpu", cache=False)(x, w)
    expected = convolve(x.double(), w.double())
    places = torch.arange(expected.shape[-1])
    # Windows of all phases: a step more than an element's own.
    near = (places - at * step).abs() <= window - 1 + step
    apart = torch.ones_like(expected, dtype=torch.bool)
    apart[1, :, near] = False
    assert bool(expected[apart].isfinite().all())
    torch.testing.assert_close(got.double()[apart], expected[apart], rtol=2.0**-7, atol=0.05)
    assert not bool(got[~expected.isfinite()].isfinite().any())


@pytest.mark.parametrize("seed", range(14))
def test_drawn(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    formed: list[bool] = []
    emit = subpixel.Subpixel.emit

    def emitting(self: subpixel.Subpixel) -> Any:
        formed.append(True)
        return emit(self)

    monkeypatch.setattr(subpixel.Subpixel, "emit", emitting)
    drawn = _Drawn(seed)
    dtype = (torch.bfloat16, torch.float16, torch.float32)[seed % 3]
    inputs = drawn.inputs(dtype)
    products = "tf32" if dtype == torch.float32 else "ieee"
    options: dict[str, Any] = {"float32_products": products, "cache": False}
    compiled = hirc.compile(drawn.convolve, inputs, target="cpu", **options)
    assert formed
    got = compiled(*inputs).double()
    expected = drawn.convolve(*(each.double() for each in inputs))
    assert got.shape == expected.shape
    scale = expected.square().mean().sqrt()
    near = (got - expected).abs() <= _ERRORS[dtype] * (2 * expected.abs() + 3 * scale)
    assert bool(near.all()), (drawn.arguments, got[~near][:4], expected[~near][:4])
