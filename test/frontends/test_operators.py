"""Operators of torch that torch-mlir does not lower, or lowers to something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hirc
from hirc.compiler.errors import UnsupportedError
from hirc.frontends.torch.import_model import import_model


def _constants(x: Tensor) -> list[Tensor]:
    """Numbers of one type with tensors that are filled with one of another."""
    ones, two, true = torch.ones(3), torch.full((3,), 2), torch.ones(3, dtype=torch.bool)
    values = [
        ones == 1,
        ones - 1,
        ones * -1 + x[0, :3],
        two == 2.0,
        two > 1.5,
        true > -1,
        true == 1,
    ]
    return [
        *values,
        torch.tensor([1.5, 1.5]) < 2,
        1 / torch.tensor([0.0, -0.0]),
        torch.full((x.shape[0],), 3.0).sum() - 1,
    ]


def _numbers(x: Tensor, n: Tensor) -> list[Tensor]:
    truths = x > 0
    return [
        *(n | 3, n ^ 3, n & 3, ~n, n << 2, n >> 1, 1 << n, truths | True, truths > -1),
        *(n**3, n**0, 2**n, n**1.5, torch.hypot(x, x * 1e30), torch.copysign(x, -0.0)),
        (x / truths == x / truths),
        F.pad(x, (-1, 1, 0, -1), value=2.0),
        torch.complex(x, x + 1).abs(),
        *(torch.fft.fft2(x).imag, torch.fft.irfft(torch.fft.rfft(x, norm="ortho")[:, :3], n=5)),
        torch.cdist(x, x + 1, p=1.0),
        F.pdist(x),
        *F.adaptive_max_pool2d(x[None], (3, 4), return_indices=True),
        F.conv1d(x[None], torch.full((4, 2, 3), 0.5), groups=2, padding="same"),
    ]


def _orders(x: Tensor, n: Tensor) -> list[Tensor]:
    some_nan = torch.where(x > 1, torch.nan, x)
    return [
        *some_nan.median(1),
        *some_nan.nanmedian(0, keepdim=True),
        x.median(),
        *x.kthvalue(2, dim=0),
        *n.mode(1),
        *some_nan.cummax(1),
        *n.cummin(0),
        torch.searchsorted(x.sort().values, x, right=True),
        F.embedding_bag(n, x.T.repeat(2, 1), padding_idx=1, mode="mean"),
        F.embedding_bag(n.flatten(), x.T.repeat(2, 1), torch.tensor([0, 5, 5, 9]), mode="max"),
    ]


def test_operators() -> None:
    torch.manual_seed(0)
    x, n = torch.randn(4, 6), torch.randint(0, 9, (4, 6))

    def model(x: Tensor, n: Tensor) -> list[Tensor]:
        return [*_constants(x), *_numbers(x, n), *_orders(x, n)]

    found = hirc.compile(model, (x, n), target="cpu", opt_level=0)(x, n)
    for number, (ours, theirs) in enumerate(zip(found, model(x, n), strict=True)):
        torch.testing.assert_close(
            ours, theirs, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
        )


def _as_integers(x: Tensor) -> Tensor:
    return x.view(torch.int32)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (_as_integers, "aten.view.dtype"),
        (torch.lgamma, "lgamma"),
        (torch.linalg.inv, "linalg"),
    ],
)
def test_what_is_not_lowered_is_named(function: Callable[[Tensor], Tensor], name: str) -> None:
    def model(x: Tensor) -> Tensor:
        return function(torch.ones(3, 3) * 2 + x)

    with pytest.raises(UnsupportedError, match=name) as caught:
        import_model(model, (torch.rand(3, 3),))
    assert caught.value.position is not None
    assert caught.value.position.file == __file__
