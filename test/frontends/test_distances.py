"""Sums over pairs of elements that are no products, as distances are: tiles compute them."""

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

_Distance = Callable[[Tensor, Tensor], Tensor]


def _squares(x: Tensor, y: Tensor) -> Tensor:
    return ((x[:, :, None] - y[:, None]) ** 2).sum(-1)


def _absolute(x: Tensor, y: Tensor) -> Tensor:
    return (x[:, :, None] - y[:, None]).abs().mean(-1)


def _kernel(x: Tensor, y: Tensor) -> Tensor:
    return torch.exp(-_squares(x, y) * 0.01).sum(-1)


def _columns(x: Tensor, y: Tensor) -> Tensor:
    """Terms are not neighbours in memory."""
    return _squares(x.mT.contiguous().mT, y.mT.contiguous().mT).mT


def _least(x: Tensor, y: Tensor) -> Tensor:
    """A comparison and a choice, as it is imported."""
    return torch.minimum(x[:, :, None], y[:, None]).sum(-1)


def _huber(x: Tensor, y: Tensor) -> Tensor:
    """What is computed of each pair is more than a few operations of arithmetic."""
    return functional.smooth_l1_loss(
        *torch.broadcast_tensors(x[:, :, None], y[:, None]), reduction="none"
    ).sum(-1)


def _shifted(x: Tensor, y: Tensor) -> Tensor:
    """Of zeros this is not 0."""
    return ((x[:, :, None] - y[:, None] + 1) ** 2).sum(-1)


def _long(x: Tensor, y: Tensor) -> Tensor:
    """More operations than a tile computes of a pair."""
    found = x[:, :, None] - y[:, None]
    for _ in range(9):
        found = found * 0.9 + y[:, None] * 0.1
    return found.sum(-1)


def _of_three(x: Tensor, y: Tensor) -> Tensor:
    return ((x[:, :, None] - y[:, None]) * x[:, :1, None]).sum(-1)


_DISTANCES: dict[str, tuple[_Distance, bool]] = {
    "squares": (_squares, True),
    "absolute": (_absolute, True),
    "kernel": (_kernel, True),
    "columns": (_columns, True),
    "least": (_least, False),
    "shifted": (_shifted, False),
    "long": (_long, False),
    "of_three": (_of_three, False),
    "huber": (_huber, False),
}


# Of the first there are enough for tiles.
_SIZES = [(2, 165, 230, 67), (2, 65, 130, 37), (1, 128, 128, 64), (3, 5, 70, 1)]


@pytest.mark.parametrize("sizes", _SIZES, ids=str)
@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("name", _DISTANCES)
def test_like_torch(name: str, is_open: bool, sizes: tuple[int, ...]) -> None:
    model, _ = _DISTANCES[name]
    batch, rows, columns, terms = sizes
    torch.manual_seed(0)
    x, y = torch.randn(batch, rows, terms), torch.randn(batch, columns, terms)
    shapes = ({1: Dim.AUTO}, {1: Dim.AUTO}) if is_open else None
    found = hirc.compile(
        model, (x, y), target="cpu", opt_level=0, schedules="tuned", dynamic_shapes=shapes
    )(x, y)
    wanted = model(x.double(), y.double()).float()
    torch.testing.assert_close(found, wanted, rtol=5e-6, atol=5e-6)


def _shares(x: Tensor, y: Tensor) -> Tensor:
    between = (x[:, :, None] - y[:, None]).abs()
    return between / between.sum(-1, keepdim=True)


def _centred(x: Tensor, y: Tensor) -> Tensor:
    between = x[:, :, None] - y[:, None]
    return between - between.mean(-1, keepdim=True)


def _weighted(x: Tensor, y: Tensor) -> Tensor:
    return (x[:, :, None] * y[:, None]).sum(-1, keepdim=True) * x[:1, :1, None]


@pytest.mark.parametrize("model", [_shares, _centred, _weighted])
@pytest.mark.parametrize("sizes", [(1, 256, 300, 64), (1, 5, 6, 7)], ids=str)
def test_results_along_terms(model: _Distance, sizes: tuple[int, ...]) -> None:
    """What is made of a sum for each of its terms is no tile's."""
    batch, rows, columns, terms = sizes
    x, y = torch.rand(batch, rows, terms), torch.rand(batch, columns, terms)
    found = hirc.compile(model, (x, y), target="cpu", opt_level=0, schedules="tuned")(x, y)
    wanted = model(x.double(), y.double()).float()
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def _loss(x: Tensor, y: Tensor) -> Tensor:
    return torch.exp(-_squares(x, y) * 0.01).sum() + _absolute(x, y).amin(2).sum()


def _gradients(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.func.grad(_loss, argnums=(0, 1))(x, y)


def test_gradients() -> None:
    x, y = torch.randn(1, 256, 64), torch.randn(1, 300, 64)
    found = hirc.compile(_gradients, (x, y), target="cpu", opt_level=0, schedules="tuned")(x, y)
    wanted = _gradients(x.double(), y.double())
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other.float(), rtol=1e-4, atol=1e-4)


def test_no_convolution(tmp_path: Path) -> None:
    given = (torch.randn(2, 256, 64), torch.randn(2, 256, 64))
    text = text_after("schedules", _squares, given, tmp_path, "--convolutions=library")
    assert "library_convolution" not in text


@pytest.mark.parametrize("name", ["squares", "absolute", "least"])
def test_what_is_no_number(name: str) -> None:
    model, _ = _DISTANCES[name]
    x, y = torch.randn(1, 66, 35), torch.randn(1, 67, 35)
    x[0, 65, 34], y[0, 66, 0], y[0, 3, 5] = torch.inf, -torch.inf, torch.nan
    found = hirc.compile(model, (x, y), target="cpu", opt_level=0, schedules="tuned")(x, y)
    torch.testing.assert_close(found, model(x, y), rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("element", [torch.float64, torch.bfloat16, torch.int32], ids=str)
def test_other_elements(element: torch.dtype) -> None:
    x = (torch.randn(1, 70, 33) * 8).to(element)
    y = (torch.randn(1, 90, 33) * 8).to(element)
    found = hirc.compile(_squares, (x, y), target="cpu", opt_level=0, schedules="tuned")(x, y)
    wanted = _squares(x.double(), y.double()).to(found.dtype)
    bound = 2e-2 if element == torch.bfloat16 else 1e-13
    torch.testing.assert_close(found, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("name", _DISTANCES)
def test_kernels(name: str, tmp_path: Path) -> None:
    model, is_tiled = _DISTANCES[name]
    given = (torch.randn(4, 256, 64), torch.randn(4, 256, 64))
    for words in ([], ["--float32-products=tf32"]):
        text = text_after("schedules", model, given, tmp_path, *words)
        assert ('family = "contraction"' in text) == is_tiled
        assert "mma" not in text
