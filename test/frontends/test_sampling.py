"""Samples of pictures at places that a grid holds, and resizing by cubics, on the CPU device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize(
    ("element", "error"),
    [(torch.float32, 1e-5), (torch.float64, 1e-13), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)],
)
def test_cubic_resizing(element: torch.dtype, error: float) -> None:
    ways: list[dict[str, Any]] = [
        {"size": (7, 11)},
        {"size": (3, 4), "align_corners": True},
        {"size": (1, 5), "align_corners": True},
        {"scale_factor": (1.7, 0.6)},
        {"scale_factor": (1.7, 0.6), "recompute_scale_factor": True},
    ]

    def resized(x: Tensor) -> list[Tensor]:
        return [F.interpolate(x, mode="bicubic", **way) for way in ways]

    x = torch.randn((2, 3, 5, 6), generator=torch.Generator().manual_seed(0)).to(element)
    net = hirc.compile(resized, (x,), target="cpu", opt_level=0)
    for way, got, wanted in zip(ways, net(x), resized(x.double()), strict=True):
        assert got.dtype == element
        assert torch.allclose(got.double(), wanted, error, error), way


def test_cubic_resizing_of_bytes() -> None:
    def resized(x: Tensor) -> Tensor:
        return F.interpolate(x, mode="bicubic", size=(7, 11))

    x = torch.arange(90, dtype=torch.uint8).reshape(1, 3, 5, 6) * 2
    assert torch.equal(hirc.compile(resized, (x,), target="cpu", opt_level=0)(x), resized(x))


def test_cubic_resizing_is_one_pass_an_axis(tmp_path: Path) -> None:
    def resized(x: Tensor) -> Tensor:
        return F.interpolate(x, mode="bicubic", scale_factor=2)

    text = text_after("fusion", resized, [torch.zeros(4, 8, 32, 32)], tmp_path)
    kernels = [each.partition("^bb0")[0] for each in text.split("linalg.generic")[1:]]
    # What is taken of which elements, which is the same along both axes, and the axes.
    assert ["tensor<4x8x" in each for each in kernels] == [False, True, True]
