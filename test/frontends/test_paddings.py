"""Padding with a tensor's own elements, and rolls, on the CPU device, against torch."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hirc
from support.stages import text_after

_MODES = ("reflect", "replicate", "circular")
_PADDINGS: dict[int, list[tuple[int, ...]]] = {
    1: [(2, 1), (0, 0), (-1, 2), (4, 0)],
    2: [(2, 1, 0, 3), (-1, -1, 2, 0), (3, 3, 3, 3)],
    3: [(1, 2, 3, 0, 1, 1), (0, -2, 1, 1, 2, -1)],
}


@pytest.mark.parametrize(
    ("dims", "shape", "element"),
    [
        (1, (4, 5, 6), torch.float32),
        (1, (3, 5), torch.float64),
        (2, (2, 3, 4, 5), torch.bfloat16),
        (2, (3, 4, 5), torch.int64),
        (3, (2, 2, 4, 4, 5), torch.float32),
    ],
)
def test_paddings(dims: int, shape: tuple[int, ...], element: torch.dtype) -> None:
    ways = list(product(_MODES, _PADDINGS[dims]))

    def padded(x: Tensor) -> list[Tensor]:
        return [F.pad(x, padding, mode) for mode, padding in ways]

    x = (torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 9).to(element)
    net = hirc.compile(padded, (x,), target="cpu", opt_level=0)
    for way, got, wanted in zip(ways, net(x), padded(x), strict=True):
        assert torch.equal(got, wanted), way


def test_paddings_of_open_sizes() -> None:
    def padded(x: Tensor) -> list[Tensor]:
        return [F.pad(x, (2, 1, -1, 2), mode) for mode in _MODES]

    some = torch.export.Dim.AUTO
    given = (torch.randn(2, 3, 6, 7),)
    net = hirc.compile(padded, given, dynamic_shapes=({2: some, 3: some},), target="cpu")
    for sides in ((6, 7), (4, 9), (11, 3)):
        x = torch.randn(2, 3, *sides)
        assert all(map(torch.equal, net(x), padded(x)))


@pytest.mark.parametrize("mode", _MODES)
def test_all_dims_are_padded_in_one_pass(mode: str, tmp_path: Path) -> None:
    def padded(x: Tensor) -> Tensor:
        return F.pad(x, (3, 3, 3, 3), mode).relu()

    text = text_after("fusion", padded, [torch.zeros(2, 3, 8, 9)], tmp_path)
    assert text.count("linalg.generic") == 1
    assert "tensor.insert_slice" not in text


_ROLLS: list[tuple[Any, Any]] = [
    ((1, -2), (0, 2)),
    ((-3, 9, 4), (1, 2, -2)),
    ((0, 0), (0, 1)),
    ((5, -7), (1, 3)),
    ((2, 3, 4, 5), (0, 1, 2, 3)),
    (3, None),
    (-2, 1),
    (4, 2),
]


def test_rolls() -> None:
    def rolled(x: Tensor) -> list[Tensor]:
        return [x.roll(shifts, dims) for shifts, dims in _ROLLS]

    for x in (torch.arange(120.0).reshape(2, 3, 4, 5), torch.zeros(2, 0, 3, 4)):
        net = hirc.compile(rolled, (x,), target="cpu", opt_level=0)
        for roll, got, wanted in zip(_ROLLS, net(x), rolled(x), strict=True):
            assert torch.equal(got, wanted), roll


def test_rolls_of_open_sizes() -> None:
    def rolled(x: Tensor) -> list[Tensor]:
        return [x.roll((3, -2), (1, 2)), x.roll(2, 1), x.roll((-1, 4), (0, 2))]

    some = torch.export.Dim.AUTO
    net = hirc.compile(
        rolled, (torch.zeros(2, 6, 7),), dynamic_shapes=({1: some, 2: some},), target="cpu"
    )
    for sides in ((6, 7), (2, 9)):
        x = torch.randn(2, *sides)
        assert all(map(torch.equal, net(x), rolled(x)))


def test_several_dims_are_rolled_in_one_pass(tmp_path: Path) -> None:
    def rolled(x: Tensor) -> Tensor:
        return x + (x * 2).roll((-1, 2), (1, 2))

    text = text_after("fusion", rolled, [torch.zeros(2, 8, 9, 3)], tmp_path)
    assert text.count("= linalg.generic") == 1
    assert "tensor.concat" not in text
