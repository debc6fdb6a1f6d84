"""Losses of which torch's own form is not what torch computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_ATEN = torch.ops.aten


def loss_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of losses."""
    return {_ATEN.multilabel_margin_loss_forward.default: _multilabel_margin_loss}


def _multilabel_margin_loss(x: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """torch's own form takes what comes after a row's labels for labels of the first class."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
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
