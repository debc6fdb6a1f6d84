"""Tensors without dims or elements, and operations that split numbers into their bits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hirc


def _without_dims(x: Tensor) -> list[Tensor]:
    return [
        *(x.argmin(), x.amax(0), *x.max(0), x.logsumexp(0), x.log_softmax(0), x.softmax(-1)),
        *(x.gather(0, torch.tensor(0)), *x.mode(), x.cumprod(0), x.argmax(0), x.nonzero()),
        *(torch.polar(x, x.expand(2)).imag, x.angle()),
        *(x.mean(0), x.var(-1, unbiased=False), *torch.var_mean(x, 0, correction=0)),
        *(x.flip(0), x.prod(-1), x.prod(0, keepdim=True), x.any(0), x.all(-1), x.bool().any(0)),
        *(x.clone().resize_(1), x.clone().resize_(()), x.expand(3).clone().resize_(1, 2)),
    ]


def _without_elements(x: Tensor) -> list[Tensor]:
    square = x.new_zeros(2, 0, 0)
    return [
        *(F.adaptive_avg_pool1d(x, 2), x.sum(0), x.permute(2, 1, 0).reshape(4, -1), x @ x.mT),
        *(torch.cat([x, x], 1), F.group_norm(x, 2), x.argwhere(), F.pixel_shuffle(x[None], 1)),
        *(torch.linalg.inv(x), torch.linalg.det(x), torch.linalg.cholesky(x), *torch.linalg.qr(x)),
        *torch.histogram(x, 3),
        *(torch.linalg.det(square), *torch.linalg.slogdet(square), torch.linalg.inv(square)),
    ]


def _taken_apart(x: Tensor) -> list[Tensor]:
    edges = torch.tensor([0.0, -0.0, 1, -3, 1e-40, -1e-45, math.inf, -math.inf, math.nan, 1e38])
    some = torch.cat([edges, x[0]])
    return [
        *(torch.nextafter(some, some.flip(0)), torch.nextafter(some, some * 0 - 1)),
        *(each for kind in (some, some.double(), some.half()) for each in torch.frexp(kind)),
        *(some.angle(), torch.permute_copy(x, (1, 0)), *(torch.split_copy(x, 2) or ())),
        *(torch.nonzero_static(x > 0, size=9), torch.nonzero_static(x[0] > 0, size=1)),
        torch.nonzero_static(x > 0, size=30, fill_value=7),
        *torch.histogram(x, 5, range=(-1.0, 1.0)),
        *torch.histogram(x, 3, weight=x.abs(), density=True),
        *(x.clone().as_strided((3, 2), (2, 1), 1), x[:1].masked_select(x > 0)),
        (x < 9).index_add(0, torch.tensor([1, 1]), x[:2] < 9),
        (x > 1).index_put((torch.tensor([1, 1]),), x[:2] < 9, accumulate=True),
        torch.as_strided_scatter(x, x[:3, :2], (3, 2), (7, 2), 1),
        torch.zeros(5, 6).index_put((torch.tensor([1, -1], dtype=torch.int32),), x[:2]),
    ]


def test_degenerate_tensors() -> None:
    torch.manual_seed(0)
    inputs = torch.tensor(-1.5), torch.zeros(0, 4, 4), torch.randn(4, 6)

    def model(scalar: Tensor, empty: Tensor, x: Tensor) -> list[Tensor]:
        return [*_without_dims(scalar), *_without_elements(empty), *_taken_apart(x)]

    found = hirc.compile(model, inputs, target="cpu", opt_level=0)(*inputs)
    for number, (ours, theirs) in enumerate(zip(found, model(*inputs), strict=True)):
        torch.testing.assert_close(
            ours, theirs, equal_nan=True, msg=lambda said, number=number: f"{number}: {said}"
        )


def _of_windows(x: Tensor, size: int) -> Tensor:
    """Computes with overlapping windows, and with windows that leave elements out."""
    return (x.unfold(1, size, 3) ** 3).sum()


def test_windows_of_a_transform() -> None:
    torch.manual_seed(0)
    x, window = torch.randn(2, 40), torch.hann_window(12)

    def model(x: Tensor, window: Tensor) -> list[Tensor]:
        half = torch.stft(x, 12, 4, window=window, return_complex=True)
        short = torch.stft(
            x[0], 12, 5, 10, window[:10], center=False, normalized=True, return_complex=True
        )
        whole = torch.stft(x, 12, window=window, onesided=False, return_complex=True)
        return [
            *(half.real, half.imag, half.abs(), short.real, short.imag, whole.real, whole.imag),
            torch.istft(half, 12, 4, window=window, length=39),
            torch.istft(torch.polar(half.abs(), half.angle()), 12, 4, window=window),
            *(torch.func.grad(_of_windows)(x, size) for size in (4, 2)),
        ]

    found = hirc.compile(model, (x, window), target="cpu", opt_level=0)(x, window)
    for number, (ours, theirs) in enumerate(zip(found, model(x, window), strict=True)):
        torch.testing.assert_close(
            ours, theirs, rtol=1e-4, atol=1e-4,
            msg=lambda said, number=number: f"{number}: {said}",
        )  # fmt: skip


def test_windows_and_frequencies() -> None:
    lengths, windows = (0, 1, 2, 7, 16), (torch.hamming_window, torch.blackman_window)
    windows += torch.bartlett_window, torch.kaiser_window, torch.hann_window

    def model(x: Tensor) -> list[Tensor]:
        made = [
            window(length, periodic=is_periodic, dtype=torch.float64)
            for window in windows
            for length in lengths
            for is_periodic in (True, False)
        ]
        made += [torch.hamming_window(9, False, 0.6, 0.4), torch.kaiser_window(9, True, 5.5)]
        for length in lengths[1:]:
            made += [torch.fft.fftfreq(length, 0.3), torch.fft.rfftfreq(length, 0.3)]
        return [x * each for each in made]

    x = torch.ones((), dtype=torch.float64)
    found = hirc.compile(model, (x,), target="cpu", opt_level=0)(x)
    torch.testing.assert_close(found, model(x), rtol=1e-6, atol=1e-15)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0")
def test_places_in_pictures_with_a_side_of_one() -> None:
    flat, deep = torch.randn(2, 2, 3), torch.randn(2, 3, 4)

    def model(flat: Tensor, deep: Tensor) -> list[Tensor]:
        return [
            F.affine_grid(theta, [2, 3, *sides], align_corners=is_aligned)
            for is_aligned in (True, False)
            for theta, sides in ((flat, (1, 5)), (flat, (1, 1)), (flat, (4, 3)), (deep, (4, 1, 5)))
        ]

    found = hirc.compile(model, (flat, deep), target="cpu", opt_level=0)(flat, deep)
    torch.testing.assert_close(found, model(flat, deep))


def test_what_an_example_is_conjugated_or_negative_of() -> None:
    def model(x: Tensor) -> Tensor:
        return x.imag + x.real

    x = torch.randn(3, 4, dtype=torch.complex64)
    compiled = hirc.compile(model, (x.conj(),), target="cpu", opt_level=0)
    assert compiled(x).equal(model(x))
