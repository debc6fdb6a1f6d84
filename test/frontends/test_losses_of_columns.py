"""Losses and gathers along a dim whose neighbours lie apart, which check the places they are given.

As a segmentation's loss over the classes of a picture's places: kernels of columns compute them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional

import hirc
from hirc.compiler.errors import ExecutionError


def _greatest(x: Tensor) -> Tensor:
    """The elements furthest from zero."""
    return torch.gather(x, 1, x.abs().argmax(1, keepdim=True))[:, 0]


def _gathered(x: Tensor, at: Tensor) -> Tensor:
    return torch.gather(x, 1, at).sum(1)


def _weighted(x: Tensor, weights: Tensor, at: Tensor) -> Tensor:
    """Reductions that take what is loaded by an index."""
    return (x - weights[at]).softmax(0)


def _classes(count: int, *sizes: int) -> tuple[Tensor, Tensor]:
    first, *others = sizes
    return torch.randn(first, count, *others), torch.randint(count, sizes)


# Classes that threads keep, those of several parts, sizes that fill no vector, and an empty batch.
_LOSSES = {
    "few": _classes(21, 2, 16, 12),
    "many": _classes(1000, 2, 4, 8),
    "odd": _classes(13, 3, 5, 7),
    "rows": _classes(300, 2, 33),
}


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_cross_entropies_over_classes_that_lie_apart(reduction: str) -> None:
    def losses(*given: Tensor) -> list[Tensor]:
        return [
            functional.cross_entropy(x, y, ignore_index=3, reduction=reduction)
            for x, y in zip(given[::2], given[1::2], strict=True)
        ]

    given = [each for pair in _LOSSES.values() for each in pair]
    found = hirc.compile(losses, tuple(given), target="cpu")(*given)
    wide = [each.double() if each.is_floating_point() else each for each in given]
    for own, wanted in zip(found, losses(*wide), strict=True):
        torch.testing.assert_close(own.double(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (_greatest, (torch.randn(4, 33, 64),)),
        (_greatest, (torch.randn(2, 2000, 8),)),
        (_gathered, (torch.randn(3, 50, 64), torch.randint(50, (3, 12, 64)))),
        (_gathered, (torch.randn(3, 50, 37), torch.randint(50, (3, 129, 37)))),
        (_gathered, (torch.randn(2, 50, 8), torch.randint(50, (2, 3000, 8)))),
        (_weighted, (torch.randn(77, 64), torch.randn(9), torch.randint(9, (64,)))),
    ],
    ids=["greatest", "greatest-long", "gathered", "gathered-odd", "gathered-long", "weighted"],
)
@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
def test_what_is_picked(
    function: Callable[..., Tensor], given: tuple[Tensor, ...], is_open: bool
) -> None:
    sizes = tuple({each.dim() - 1: Dim("n", max=4096)} for each in given) if is_open else None
    if function is _weighted and sizes is not None:
        sizes = (sizes[0], None, sizes[2])
    found = hirc.compile(function, given, target="cpu", dynamic_shapes=sizes)(*given)
    wide = [each.double() if each.is_floating_point() else each for each in given]
    torch.testing.assert_close(found.double(), function(*wide), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["few", "many"])
def test_a_place_that_is_not_there(name: str) -> None:
    x, y = _LOSSES[name]
    wrong = y.clone()
    wrong[1, 3, 5] = x.shape[1]
    compiled = hirc.compile(functional.cross_entropy, (x, y), target="cpu")
    with pytest.raises(ExecutionError, match="device-side assert"):
        compiled(x, wrong)
