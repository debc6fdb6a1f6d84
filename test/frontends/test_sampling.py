"""Samples of pictures at places that a grid holds, on the CPU device, against torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hirc
from support.stages import text_after

# Interpolation, what is outside, and whether the corners are the outermost places.
_Way = tuple[str, str, bool]
_WAYS: list[_Way] = list(
    product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True))
)
_FEW = _WAYS[::5]


def _compare(x: Tensor, grid: Tensor, ways: Sequence[_Way] = _FEW) -> None:
    """Compares samples with torch's in f64."""

    def sampled(x: Tensor, grid: Tensor) -> list[Tensor]:
        return [F.grid_sample(x, grid, *how[:2], align_corners=how[2]) for how in ways]

    net = hirc.compile(sampled, (x, grid), target="cpu", opt_level=0)
    exact = sampled(x.double(), grid.double())
    for how, got, wanted in zip(ways, net(x, grid), exact, strict=True):
        assert got.dtype == x.dtype
        error = 1e-12 if x.dtype == torch.float64 else 3e-5
        assert torch.allclose(got.double(), wanted, error, error, equal_nan=True), how


def _pictures(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _grid(*shape: int) -> Tensor:
    return torch.rand((*shape, 2), generator=torch.Generator().manual_seed(1)) * 3 - 1.5


def test_every_way() -> None:
    x = _pictures(2, 3, 5, 7)
    x[0, 0, 0, 0], x[1, 1, 2, 3] = torch.nan, torch.inf
    _compare(x, _grid(2, 4, 6), _WAYS)


@pytest.mark.parametrize(
    ("pictures", "places"),
    [((1, 1, 1, 1), (1, 3, 3)), ((3, 2, 1, 9), (3, 1, 5)), ((2, 4, 8, 8), (2, 5, 0))],
)
def test_sides_of_one_and_none(pictures: tuple[int, ...], places: tuple[int, ...]) -> None:
    _compare(_pictures(*pictures), _grid(*places))


def test_doubles() -> None:
    _compare(_pictures(2, 3, 5, 7).double(), _grid(2, 4, 6).double())


def test_places_that_are_no_numbers() -> None:
    grid = _grid(2, 4, 6)
    grid[0, 0, 0, 0], grid[0, 1, 1, 1], grid[1, 2, 2, 0] = torch.nan, torch.inf, -torch.inf
    grid[1, 3, 3, 1] = 1e20
    # Mirrored, what is beyond all numbers is anywhere.
    ways = [each for each in _WAYS[::2] if each[1] != "reflection"]
    _compare(_pictures(2, 3, 5, 7), grid, ways)


@pytest.mark.filterwarnings("ignore:.*affine_grid behavior has changed:UserWarning")
@pytest.mark.parametrize("sides", [(6, 5), (1, 5), (8, 8)])
def test_affine_grids(sides: tuple[int, int]) -> None:
    def turned(x: Tensor, theta: Tensor) -> list[Tensor]:
        grids = [F.affine_grid(theta, list(x.shape), align_corners=each) for each in (False, True)]
        return [F.grid_sample(x, grid, align_corners=False) for grid in grids]

    x, theta = _pictures(2, 3, *sides), _pictures(2, 2, 3) * 0.5
    net = hirc.compile(turned, (x, theta), target="cpu", opt_level=0)
    for got, wanted in zip(net(x, theta), turned(x.double(), theta.double()), strict=True):
        assert torch.allclose(got.double(), wanted, 2e-5, 2e-5)


def test_places_are_computed_once_for_all_channels(tmp_path: Path) -> None:
    def turned(x: Tensor, theta: Tensor) -> Tensor:
        grid = F.affine_grid(theta, list(x.shape), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)

    given = _pictures(8, 64, 32, 32), _pictures(8, 2, 3)
    kernels = text_after("fusion", turned, given, tmp_path).split("linalg.generic")[1:]
    # The places, what is read there and which share of it, and the samples.
    assert len(kernels) == 3
    are_samples = ["tensor<8x64x32x32xf32>" in each.partition("^bb0")[0] for each in kernels]
    assert are_samples == [False, False, True]
