"""Operators whose results are as long as what is counted, integer functions, and running sums."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

import hirc


def _compare(found: list[Tensor], wanted: list[Tensor]) -> None:
    for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
        torch.testing.assert_close(
            one,
            other,
            rtol=1e-5,
            atol=1e-5,
            equal_nan=True,
            msg=lambda said, place=place: f"result {place}: {said}",
        )


def _counted(x: Tensor, n: Tensor, u: Tensor, repeats: Tensor) -> list[Tensor]:
    some = (n * 7) % 5
    room = torch.empty(7)
    room[::3] = x[0, 0]
    image = x.reshape(1, 1, 2, 3, 4)
    return [
        *torch.unique(some, return_inverse=True, return_counts=True),
        *torch.unique_consecutive(some.sort().values, return_inverse=True, return_counts=True),
        *torch.unique(some[:, :2], dim=0, return_inverse=True, return_counts=True),
        *(torch.unique(x > 0), torch.unique(u), torch.unique_consecutive(some, dim=1)),
        *(torch.bincount(u, minlength=3), torch.bincount(some.flatten(), x.flatten())),
        *(x.repeat_interleave(repeats, dim=0), torch.repeat_interleave(repeats)),
        *(x.put(torch.tensor([3, -1, 5]), x[0, :3]), x.take(torch.tensor([[3, -1]]))),
        *(torch.gcd(n - 9, n * 6), torch.lcm(n, torch.tensor(6)), torch.gcd(u, u + 4)),
        torch.gcd(n.short() - 4, n.short().flip(0)),
        *(n ** (n.flip(0) - 2), u ** u[:1], 3**n, (n - 6).int() ** (n.int() - 3)),
        x.scatter_reduce(-1, some, x, "sum"),
        *(x.logcumsumexp(-1), (x * 1e4).logcumsumexp(0), x[0, 0].logcumsumexp(0)),
        *(room[::3], F.pad(image, (1, 1, 1, 1, 1, 1), mode="circular")),
    ]


def test_what_is_counted_and_computed_of_integers() -> None:
    torch.manual_seed(0)
    given = [
        torch.randn(4, 6),
        torch.randint(0, 12, (4, 6)),
        torch.randint(0, 9, (17,), dtype=torch.uint8),
        torch.tensor([2, 0, 3, 0]),
    ]
    net = hirc.compile(_counted, tuple(given), target="cpu", opt_level=0)
    _compare(net(*given), _counted(*given))
    given[0][0, 0] = math.nan
    given[1] = torch.randint(0, 12, (4, 6))
    given[3] = torch.tensor([0, 0, 1, 5])
    _compare(net(*given), _counted(*given))


def _labelled(log_probs: Tensor, labels: Tensor, steps: Tensor, counts: Tensor) -> list[Tensor]:
    every = log_probs, labels, steps, counts
    numbers: Any = (6, 6, 6), (3, 2, 4)
    return [
        F.ctc_loss(*every, reduction="none"),
        F.ctc_loss(*every, zero_infinity=True),
        F.ctc_loss(log_probs, labels, *numbers),
        F.ctc_loss(log_probs, labels.flatten()[:9], steps, counts, reduction="sum"),
        torch.ctc_loss(log_probs[:, 0], labels[0, :3], steps[:1], counts[:1], 2, 2),
    ]


def test_labels_that_are_not_aligned() -> None:
    torch.manual_seed(0)
    log_probs = torch.randn(6, 3, 5).log_softmax(-1)
    # Of the last sequence there are fewer steps than its labels take.
    labels = torch.tensor([[1, 3, 4, -1], [4, 4, -1, 2], [1, 1, 1, 1]])
    given = log_probs, labels.clamp(min=1), torch.tensor([6, 5, 4]), torch.tensor([3, 2, 4])
    net = hirc.compile(_labelled, given, target="cpu", opt_level=0)
    _compare(net(*given), _labelled(*given))


def _sampled(x: Tensor, grid: Tensor, z: Tensor) -> list[Tensor]:
    found = [
        F.grid_sample(x, grid, mode, padding, align_corners=padding == "border")
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
    ]
    return [
        *found,
        F.grid_sample(x, grid, "bilinear", "reflection", align_corners=True),
        *(torch.nan_to_num(z), torch.logaddexp(z, z.flip(0)), torch.log1p(z)),
        *(F.pad(z, (1, 2), value=0.5), F.pad(z, (-1, 2))),
    ]


def test_samples_of_rooms_and_complex_numbers() -> None:
    torch.manual_seed(0)
    x, grid = torch.randn(2, 3, 3, 4, 5), torch.randn(2, 2, 3, 2, 3) * 3
    z = torch.tensor([1 + 2j, -0.25 + 0.125j, complex(math.nan, 1), 1e-6j, 100j])
    net = hirc.compile(_sampled, (x, grid, z), target="cpu", opt_level=0)
    _compare(net(x, grid, z), _sampled(x, grid, z))


def _running(x: Tensor, wide: Tensor) -> list[Tensor]:
    ends = torch.where(x > 1, torch.inf, torch.where(x < -1, -torch.inf, x))
    holes = torch.where(x.abs() < 0.1, torch.nan, ends)
    counts = (x * 2).int()
    return [
        *(*wide.cummax(0), *wide.half().cummin(0), wide.logcumsumexp(0)),
        *(*x.cummax(1), *holes.cummin(0), *holes.cummax(-1), *ends.double().cummax(1)),
        *(*counts.cummin(0), *counts.to(torch.int8).cummax(1), *(x > 0).cummax(0)),
        *counts.to(torch.uint8).cummax(1),
        *(ends.logcumsumexp(1), (holes * 100).logcumsumexp(0), (x.double() * 900).logcumsumexp(1)),
        *(x.bfloat16().logcumsumexp(-1), *x[0, 0].cummax(0), torch.complex(x, x).logcumsumexp(0)),
    ]


def test_running_extremes_and_sums_of_powers() -> None:
    torch.manual_seed(0)
    dims = dict.fromkeys((0, 1), torch.export.Dim.AUTO)
    # Several blocks share the long scans.
    x, wide = torch.randn(7, 13), torch.randn(40000)
    net = hirc.compile(
        _running,
        (x, wide),
        target="cpu",
        dynamic_shapes=(dims, {0: torch.export.Dim.AUTO}),
        opt_level=0,
    )
    _compare(net(x, wide), _running(x, wide))
    x, wide = torch.randn(130, 5), torch.randn(3).repeat(5000)
    _compare(net(x, wide), _running(x, wide))


def _messages(x: Tensor, ends: Tensor) -> list[Tensor]:
    ends = ends[:, ends[0] != ends[1]]
    share = torch.ones(ends.shape[1])
    share[ends[0] == 3] -= 0.5
    sent = share.view(-1, 1) * x.index_select(0, ends[0])
    places = ends[1].view(-1, 1).expand_as(sent)
    # Rows of a counted number and others, of two dims each.
    rows = torch.cat([sent, x]).view(-1, 2, 2)
    return [torch.zeros_like(x).scatter_add_(0, places, sent), F.linear(rows, x[:2, :2])]


def test_sizes_of_what_was_written_at_places_are_those_of_what_it_was_written_to() -> None:
    torch.manual_seed(0)
    x, ends = torch.randn(5, 4), torch.randint(5, (2, 30))
    net = hirc.compile(_messages, (x, ends), target="cpu", opt_level=0)
    for case in (ends, torch.randint(2, (2, 30))):
        _compare(net(x, case), _messages(x, case))
