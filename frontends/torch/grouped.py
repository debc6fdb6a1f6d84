"""Products of groups of rows, columns or terms with one matrix each, as in mixtures of experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def grouped_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decomposition of grouped products."""
    return {torch.ops.aten._grouped_mm.default: grouped_mm}


def grouped_mm(
    x: Tensor,
    y: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Multiplies each row or column of a matrix with the matrix of its group, read in place.

    The other operand is a batch of these matrices. Two operands of two dims give a matrix for each
    group of terms. `offs` are the ends of the groups. The results behind the last group are
    undefined in torch.
    """
    kind = out_dtype or x.dtype
    if offs is None or x.dim() == y.dim() == 3:
        result = torch.bmm(x, y)
    elif x.dim() == 3:
        group = _groups(offs, y.shape[1]).clamp(max=x.shape[0] - 1)
        result = torch.bmm(x[group], y.transpose(0, 1).unsqueeze(-1)).squeeze(-1).transpose(0, 1)
    elif y.dim() == 3:
        group = _groups(offs, x.shape[0]).clamp(max=y.shape[0] - 1)
        result = torch.bmm(x.unsqueeze(1), y[group]).squeeze(1)
    else:
        number = torch.arange(offs.shape[0], device=x.device).view(-1, 1, 1)
        is_here = _groups(offs, x.shape[1]) == number
        result = torch.matmul(torch.where(is_here, x, 0), y)
    return (result if bias is None else result + bias).to(kind)


def _groups(offs: Tensor, count: Any) -> Tensor:
    """Returns the group of each of `count` positions: the number of groups that end before it."""
    places = torch.arange(count, device=offs.device)
    return (offs <= places.unsqueeze(-1)).sum(-1)
