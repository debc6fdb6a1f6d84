"""Losses of which torch's own form is not what torch computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from .halves import widened

_ATEN = torch.ops.aten


def loss_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of losses."""
    return {
        _ATEN.multilabel_margin_loss_forward.default: _multilabel_margin_loss,
    }


def _multilabel_margin_loss(x: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """torch's own form takes what comes after a row's labels for labels of the first class."""
    wide = widened(x)
    classes = x.shape[-1]
    named = (target == -1).cumsum(-1) == 0
    labels = torch.where(named, target, 0)
    places = torch.arange(classes, device=x.device)
    is_target = ((labels.unsqueeze(-1) == places) & named.unsqueeze(-1)).any(-2)
    margins = 1 - wide.gather(-1, labels).unsqueeze(-1) + wide.unsqueeze(-2)
    counted = named.unsqueeze(-1) & ~is_target.unsqueeze(-2)
    losses = torch.where(counted, margins.clamp(min=0), 0.0).sum((-2, -1)) / classes
    if reduction:
        losses = losses.mean() if reduction == 1 else losses.sum()
    return losses.to(x.dtype), is_target.to(x.dtype)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int | str = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """Returns torch.ctc_loss, as a loop: torch.export cannot see a size that an element says."""
    losses = _ctc_losses(log_probs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        losses = torch.where(losses == math.inf, 0.0, losses)
    if reduction in (1, "mean"):
        return (losses / _numbers(target_lengths, losses).clamp(min=1)).mean()
    return losses.sum() if reduction in (2, "sum") else losses


def _ctc_losses(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int,
) -> Tensor:
    """Returns the losses of a batch.

    A loop over time carries the logarithms of the probabilities of all ways to each label, where
    there is a blank before every label and after the last one.
    """
    if log_probs.dim() == 2:
        rows = log_probs.unsqueeze(1), targets.reshape(1, -1)
        return _ctc_losses(*rows, input_lengths, target_lengths, blank).squeeze(0)
    wide = widened(log_probs)
    time, batch = wide.shape[:2]
    steps, counts = (
        _numbers(each, wide).long().reshape(-1) for each in (input_lengths, target_lengths)
    )
    labels = targets.long()
    if labels.dim() == 1:
        # One row after the other.
        here = torch.arange(labels.shape[0], device=wide.device)
        begins = (counts.cumsum(0) - counts).unsqueeze(1)
        labels = labels[torch.minimum(begins + here, begins * 0 + labels.shape[0] - 1)]
    # What comes after a row's labels may be anything.
    labels = labels.clamp(0, wide.shape[2] - 1)
    blanks = torch.full_like(labels, blank)
    ways = torch.nn.functional.pad(torch.stack([blanks, labels], 2).flatten(1), (0, 1), value=blank)
    length = ways.shape[1]
    places = torch.arange(length, device=wide.device)
    before = torch.nn.functional.pad(ways, (2, 0), value=blank)[:, :-2]
    may_skip = (ways != blank) & (ways != before) & (places > 1)
    none = torch.full((batch, length), -math.inf, dtype=wide.dtype, device=wide.device)
    # As if there were a step before the first, from which the first two places can be reached.
    begin = torch.where(places == 0, 0.0, none)

    def step(
        sums: Tensor, here: Tensor, scores: Tensor, ways: Tensor, may_skip: Tensor, steps: Tensor
    ) -> list[Tensor]:
        by_one = torch.nn.functional.pad(sums, (1, 0), value=-math.inf)[:, :-1]
        by_two = torch.nn.functional.pad(sums, (2, 0), value=-math.inf)[:, :-2]
        by_two = torch.where(may_skip & (here > 0), by_two, -math.inf)
        made = _log_sum([sums, by_one, by_two]) + scores.gather(1, ways)
        return [torch.where((here < steps).unsqueeze(1), made, sums), here.clone()]

    numbers = torch.arange(time, device=wide.device)
    stays = ways, may_skip, steps
    ends, _ = torch.ops.higher_order.scan(step, [begin], [numbers, wide], stays)
    return _ctc_ends(ends, counts).to(log_probs.dtype)


def _ctc_ends(sums: Tensor, counts: Tensor) -> Tensor:
    """Returns the losses of the two places that are ends: the last label's, and the blank after."""
    last = (2 * counts).unsqueeze(1)
    ends = sums.gather(1, last), sums.gather(1, (last - 1).clamp(min=0))
    label = torch.where(last > 0, ends[1], -math.inf)
    return -_log_sum([ends[0], label]).squeeze(1)


def _numbers(given: Tensor | Sequence[int], like: Tensor) -> Tensor:
    return (
        given
        if isinstance(given, Tensor)
        else torch.tensor(given, dtype=torch.int64, device=like.device)
    )


def _log_sum(logarithms: Sequence[Tensor]) -> Tensor:
    most = reduce(torch.maximum, logarithms)
    base = torch.where(most == -math.inf, 0.0, most)
    return reduce(torch.add, [(each - base).exp() for each in logarithms]).log() + base
