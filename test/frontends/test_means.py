"""Means of more 16-bit elements than the type has numbers for: f16 ends at 65504."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as functional
from torch import Tensor
from torch.export import Dim

import hirc

# Counts that f16 does not hold (70000), or not exactly (2049), and that it does (4096).
_MEANS: dict[str, Callable[[Tensor], Tensor]] = {
    "rows": lambda x: x.mean(1),
    "all": lambda x: x.mean(),
    "kept": lambda x: x.mean((0, 1), keepdim=True),
    "wide": lambda x: x.mean(1, dtype=torch.float32),
    "few": lambda x: x[:, :2049].mean(1),
    "exact": lambda x: x[:, :4096].mean(1),
    "adaptive": lambda x: functional.adaptive_avg_pool1d(x[None], 1),
    "planes": lambda x: functional.adaptive_avg_pool2d(x.view(1, 2, 280, 250), 1),
    "pool1d": lambda x: functional.avg_pool1d(x[None], 66000, 1000),
    "pool2d": lambda x: functional.avg_pool2d(x.view(1, 2, 280, 250), (280, 250)),
    "pool3d": lambda x: functional.avg_pool3d(x[:, :68921].view(1, 2, 41, 41, 41), 41),
    "divisor": lambda x: functional.avg_pool2d(
        x.view(1, 2, 280, 250), (280, 250), divisor_override=100_000
    ),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_sizes_that_are_known(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    x = torch.rand((2, 70_000), dtype=torch.float64, generator=generator).to(dtype)

    def all_of_them(x: Tensor) -> list[Tensor]:
        return [function(x) for function in _MEANS.values()]

    results = hirc.compile(all_of_them, (x,), target="cpu")(x)
    for name, result, exact in zip(_MEANS, results, all_of_them(x.double()), strict=True):
        assert result.shape == exact.shape, name
        # One rounding to the type.
        bound = exact.abs() * torch.finfo(result.dtype).eps / 2 * 1.01 + 1e-6
        assert ((result.double() - exact).abs() <= bound).all(), name


def test_sizes_that_are_open() -> None:
    x = torch.full((3, 70_000), 0.25, dtype=torch.float16)
    open_rows = ({1: Dim("n", min=2, max=200_000)},)

    def means(x: Tensor) -> tuple[Tensor, Tensor]:
        return x.mean(1), x.mean()

    mean = hirc.compile(means, (x,), dynamic_shapes=open_rows, target="cpu")
    for size in (70_000, 100, 2):
        rows, whole = mean(x[:, :size].contiguous())
        assert (rows == 0.25).all()
        assert whole == 0.25
