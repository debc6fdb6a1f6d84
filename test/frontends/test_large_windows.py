"""Poolings of large windows that overlap, which are reduced along one dim after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional

import hirc
from support.stages import text_after

_Pooling = Callable[[Tensor], Tensor]


def _pyramid(x: Tensor) -> Tensor:
    """As detectors have it, after an activation and before a concatenation."""
    x = functional.silu(x)
    return torch.cat([x, *(functional.max_pool2d(x, k, 1, k // 2) for k in (5, 9, 13))], 1)


def _contrast(x: Tensor) -> Tensor:
    mean = functional.avg_pool2d(x, 11, 1, 5)
    return (functional.avg_pool2d(x * x, 11, 1, 5) - mean * mean).clamp(min=0)


_POOLINGS: dict[str, tuple[_Pooling, tuple[int, ...], int]] = {
    "maximum": (lambda x: functional.max_pool2d(x, 13, 1, 6), (2, 3, 15, 17), 2),
    "steps": (lambda x: functional.max_pool2d(x, (16, 18), (2, 3), (4, 9)), (2, 2, 40, 41), 2),
    "dilated": (lambda x: functional.max_pool2d(x, 11, 1, 2, 2), (1, 2, 30, 27), 2),
    "average": (lambda x: functional.avg_pool2d(x, 11, 1, 5), (2, 3, 14, 19), 2),
    "of_there": (
        lambda x: functional.avg_pool2d(x, 12, 1, 3, count_include_pad=False),
        (1, 2, 20, 21),
        2,
    ),
    "volume": (lambda x: functional.avg_pool3d(x, 5, 1), (1, 2, 8, 9, 11), 2),
    "maximum_3d": (lambda x: functional.max_pool3d(x, 7, 2, 3), (1, 2, 9, 10, 11), 2),
    "last": (
        lambda x: functional.max_pool2d(x.permute(0, 3, 1, 2), 13, 1, 6).permute(0, 2, 3, 1),
        (2, 14, 15, 5),
        2,
    ),
    "pyramid": (_pyramid, (1, 4, 16, 18), 4),
    "contrast": (_contrast, (1, 3, 18, 20), 4),
    # Near misses: windows that few have in common, small ones, and one dim.
    "apart": (lambda x: functional.avg_pool2d(x, 16, 8), (1, 2, 40, 48), 1),
    "small": (lambda x: functional.max_pool2d(x, 9, 1, 4), (1, 2, 20, 21), 1),
    "line": (lambda x: functional.max_pool1d(x, 129, 1, 64), (2, 3, 200), 1),
}


@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("name", _POOLINGS)
def test_like_torch(name: str, element: torch.dtype, is_open: bool) -> None:
    model, shape, _ = _POOLINGS[name]
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=element)
    if "average" not in name and element == torch.float32:
        x.view(-1)[7] = torch.nan
    sizes = ({0: Dim("batch", max=64)},) if is_open else None
    found = hirc.compile(
        model, (x,), target="cpu", opt_level=0, schedules="tuned", dynamic_shapes=sizes
    )(x)
    wanted = model(x.double()).to(element)
    bound = {torch.float32: 2e-6, torch.bfloat16: 2**-7, torch.float64: 1e-13}[element]
    torch.testing.assert_close(found, wanted, rtol=bound, atol=bound, equal_nan=True)


def test_sums_of_16_bits() -> None:
    """They may be beyond what 16 bits hold, and are rounded once, when they have been divided."""
    torch.manual_seed(0)
    for element in (torch.float16, torch.bfloat16):
        x = (torch.randn(1, 2, 24, 26).abs() * 9000).to(element)

        def model(x: Tensor) -> Tensor:
            return functional.avg_pool2d(x, 13, 1, 6)

        found = hirc.compile(model, (x,), target="cpu", opt_level=0, schedules="tuned")(x)
        wanted = model(x.double())
        nearest = (found.double() - wanted).abs() / wanted
        assert nearest.max() <= 0.501 * torch.finfo(element).eps


@pytest.mark.parametrize("name", _POOLINGS)
def test_reductions(name: str, tmp_path: Path) -> None:
    """A pass along a dim, and others along the rest; one where less would be saved."""
    model, shape, count = _POOLINGS[name]
    text = text_after("fusion", model, (torch.zeros(shape),), tmp_path)
    assert text.count('"hir.reduce_loops"') == count
