"""Tiles of f32 on ordinary cores, each of those to choose from, against torch in float64."""

from __future__ import annotations

import pytest
from schedules.harness import Suite
from schedules.test_contraction import Convolution

from hirc.pipelines.schedules.contraction import configuration
from hirc.pipelines.schedules.contraction.kernel import PartsKernel

_TILES = configuration._TILES  # pyright: ignore[reportPrivateUsage]
_ONES, _ZEROS = (1, 1), (0, 0)
_CONVOLUTIONS = {
    # Few filters of many results, which no tile divides.
    "few": Convolution(2, 5, 9, (11, 13), (3, 3), _ONES, _ONES, _ONES),
    "whole": Convolution(1, 16, 32, (16, 32), (1, 1), _ONES, _ZEROS, _ONES),
    # Steps, of windows whose places lie in short rows.
    "steps": Convolution(1, 7, 17, (19, 23), (3, 3), (2, 2), _ONES, _ONES),
    # In parts, with more terms than are added one after the other.
    "parts": Convolution(1, 150, 21, (5, 4), (3, 3), _ONES, _ONES, _ONES),
}


@pytest.mark.parametrize("tile", _TILES, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_tiles(tile: configuration._Tile, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(configuration, "_TILES", (tile,))
    summed: list[PartsKernel] = []
    emit = PartsKernel.emit

    def counted(kernel: PartsKernel) -> None:
        summed.append(kernel)
        emit(kernel)

    monkeypatch.setattr(PartsKernel, "emit", counted)
    suite = Suite(
        [each.program(f"{name}_{tile.rows}_{tile.columns}") for name, each in _CONVOLUTIONS.items()]
    )
    for name in suite.names:
        suite.check(name)
    assert summed
