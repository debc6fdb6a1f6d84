"""Depthwise convolutions of images and results with channels first or last, on the CPU device."""

from __future__ import annotations

import random

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import hirc


def _drawn(seed: int) -> tuple[Tensor, Tensor, Tensor, dict[str, int]]:
    draw = random.Random(seed)
    channels, window, step = (
        draw.choice((3, 8, 33, 141)),
        draw.choice((2, 3, 5)),
        draw.choice((1, 2)),
    )
    sizes = (draw.choice((1, 2)), draw.randint(6, 19), draw.randint(6, 19), channels)
    generator = torch.Generator().manual_seed(seed)
    x, w, b = (
        torch.randn(each, generator=generator)
        for each in (sizes, (channels, 1, window, window), (channels,))
    )
    padding = draw.randint(0, window // 2)
    return x, w, b, {"stride": step, "padding": padding, "groups": channels}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_last", [True, False], ids=["last", "first"])
def test_images_with_channels_last(seed: int, is_last: bool) -> None:
    x, w, b, options = _drawn(seed)

    def convolve(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        found = functional.conv2d(x.permute(0, 3, 1, 2), w, b, **options).relu()
        return found.permute(0, 2, 3, 1) if is_last else found

    got = hirc.compile(convolve, (x, w, b), target="cpu")(x, w, b)
    expected = convolve(x.double(), w.double(), b.double())
    assert got.shape == expected.shape
    torch.testing.assert_close(got.double(), expected, rtol=1e-5, atol=1e-5)
