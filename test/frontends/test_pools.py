"""Greatest elements of windows and their places, on the CPU device, against torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hirc
from support.stages import text_after

_Windows = list[dict[str, Any]]
_OF_PICTURES: _Windows = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 1, "padding": 1, "dilation": 2},
    {"kernel_size": (2, 3), "stride": (2, 1), "ceil_mode": True},
    {"kernel_size": (3, 2), "stride": 2, "padding": 1, "dilation": (2, 3)},
    # Of more elements than are compared one after the other.
    {"kernel_size": 7, "stride": 3, "padding": 3},
]
_OF_ROOMS: _Windows = [
    {"kernel_size": 2, "stride": 1, "padding": 1, "dilation": 2},
    {"kernel_size": (2, 3, 4), "ceil_mode": True},
]


def _pooled(x: Tensor, windows: Sequence[dict[str, Any]], dims: int) -> list[Tensor]:
    pool: Any = F.max_pool2d if dims == 2 else F.max_pool3d
    found = [pool(x, **each) for each in windows]
    return [*found, *(each for way in windows for each in pool(x, return_indices=True, **way))]


def _drawn(*shape: int) -> Tensor:
    """Numbers of which many are equal."""
    return (torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 2).round()


def _with(x: Tensor, value: float, share: float) -> Tensor:
    chosen = torch.rand(x.shape, generator=torch.Generator().manual_seed(1)) < share
    return torch.where(chosen, value, x)


_PICTURES = _drawn(2, 3, 11, 13)


@pytest.mark.parametrize(
    ("x", "windows", "dims"),
    [
        (_PICTURES, _OF_PICTURES, 2),
        (_PICTURES[0].bfloat16(), _OF_PICTURES[1:3], 2),
        (_with(_PICTURES, torch.nan, 0.3), _OF_PICTURES, 2),
        (_with(_PICTURES, -torch.inf, 0.8), _OF_PICTURES, 2),
        (_PICTURES.long(), _OF_PICTURES[1:4], 2),
        (_with(_drawn(2, 2, 6, 7, 8), torch.nan, 0.2), _OF_ROOMS, 3),
        (_drawn(2, 6, 7, 8).int(), _OF_ROOMS, 3),
    ],
)
def test_greatest_and_places(x: Tensor, windows: _Windows, dims: int) -> None:
    def pooled(x: Tensor) -> list[Tensor]:
        return _pooled(x, windows, dims)

    net = hirc.compile(pooled, (x,), target="cpu", opt_level=0)
    for got, wanted in zip(net(x), pooled(x), strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


def test_rows_and_uneven_windows() -> None:
    def pooled(x: Tensor) -> list[Tensor]:
        return [
            F.max_pool1d(x, 3, 2, 1),
            F.max_pool1d(x[0], 2, ceil_mode=True),
            F.max_pool1d(x, 3, 1, 1, 2),
            *F.max_pool1d(x, 3, 2, 1, return_indices=True),
            *F.adaptive_max_pool1d(x, 5, return_indices=True),
            *F.adaptive_max_pool2d(x, (2, 5), return_indices=True),
        ]

    x = _with(_drawn(4, 3, 12), torch.nan, 0.1)
    net = hirc.compile(pooled, (x,), target="cpu", opt_level=0)
    for got, wanted in zip(net(x), pooled(x), strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


def test_places_of_open_sizes() -> None:
    def pooled(x: Tensor) -> list[Tensor]:
        return [*F.max_pool2d(x, 3, 2, 1, return_indices=True)]

    some = torch.export.Dim.AUTO
    net = hirc.compile(
        pooled, (_drawn(2, 3, 8, 9),), dynamic_shapes=({2: some, 3: some},), target="cpu"
    )
    for sides in ((8, 9), (5, 12)):
        x = _drawn(2, 3, *sides)
        assert all(map(torch.equal, net(x), pooled(x)))


def test_places_are_compared_in_one_pass(tmp_path: Path) -> None:
    def pooled(x: Tensor) -> list[Tensor]:
        return [*F.max_pool2d(x, 3, 2, 1, return_indices=True)]

    text = text_after("fusion", pooled, [_drawn(4, 8, 32, 32)], tmp_path)
    kernels = [each.partition("^bb0")[0] for each in text.split("linalg.generic")[1:]]
    # The values and the places.
    assert sum("tensor<4x8x" in each for each in kernels) == 2
    assert "f64" not in text


def test_adaptive_windows_are_not_stored(tmp_path: Path) -> None:
    def pooled(x: Tensor) -> Tensor:
        return F.adaptive_max_pool2d(x, (5, 7))

    text = text_after("fusion", pooled, [_drawn(4, 8, 32, 32)], tmp_path)
    kernels = [each.partition("^bb0")[0] for each in text.split("linalg.generic")[1:]]
    # One dim's windows after the other's.
    large = [each for each in kernels if "tensor<4x8x" in each]
    assert len(large) == 2
    assert "tensor<4x8x5x32xf32>" in large[0]
