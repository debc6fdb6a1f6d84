"""Which boxes of an image tiles have: few lie beyond its edges, and they take little to copy."""

from __future__ import annotations

from math import prod
from typing import cast

import pytest

from hirc.pipelines.schedules.contraction.form import Factor
from hirc.pipelines.schedules.contraction.window import Axis, Window

_SIZES = (1, 3, 7, 13, 14, 22, 28, 33, 55, 56, 64, 99, 111, 224)


def _window(*extents: int) -> Window:
    """An image of 64 channels whose results have these extents, outermost first."""
    axes = [Axis(size, 1, 0, {}) for size in (64, *reversed(extents))]
    return Window(cast(Factor, None), extents, tuple(axes), 0)


@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("rows", [64, 128, 256])
def test_boxes_have_places_beside_one_another(size: int, rows: int) -> None:
    box = _window(64, size, size).box(rows)
    assert box is not None
    assert prod(box) == rows
    # Of 64 images a place each would always fill a tile, and take several times as long to copy.
    assert box[-1] >= min(8, size)


@pytest.mark.parametrize("size", [each for each in _SIZES if each > 3])
def test_few_results_lie_beyond_the_edges(size: int) -> None:
    window = _window(64, size, size)
    assert window.count(128) * 128 <= 1.35 * 64 * size * size
