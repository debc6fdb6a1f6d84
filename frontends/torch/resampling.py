"""Resizing of images with antialiasing, as products with what each place takes of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor

_ATEN = torch.ops.aten


def resampling_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of resizing with antialiasing, from sizes that are known."""
    return {
        _ATEN._upsample_bilinear2d_aa.default: partial(_resized, _linear),
        _ATEN._upsample_bicubic2d_aa.default: partial(_resized, _cubic),
    }


def _resized(
    kernel: Callable[[Tensor], Tensor],
    x: Tensor,
    output_size: Sequence[int | SymInt],
    align_corners: bool,
    *scales: float | None,
) -> Tensor:
    sizes = [*x.shape[-2:], *output_size]
    if align_corners or any(isinstance(size, SymInt) for size in sizes):
        return NotImplemented
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    factors = scales or (None, None)
    rows, columns = (
        _shares(kernel, x.shape[axis], size, factor, wide)
        for axis, size, factor in zip((-2, -1), output_size, factors, strict=True)
    )
    return (rows @ (wide @ columns.mT)).to(x.dtype)


def _shares(
    kernel: Callable[[Tensor], Tensor], given: Any, made: Any, factor: float | None, like: Tensor
) -> Tensor:
    """What each new place takes of each old one, (made, given).

    Where places become fewer the kernel is as wide as those that become one.
    """
    step = 1 / factor if factor else given / made
    middles = (torch.arange(made, device=like.device) + 0.5) * step
    apart = torch.arange(given, device=like.device) + 0.5 - middles.unsqueeze(1)
    shares = kernel(apart.abs() / max(step, 1.0))
    return (shares / shares.sum(1, keepdim=True)).to(like.dtype)


def _linear(x: Tensor) -> Tensor:
    return (1 - x).clamp(min=0)


def _cubic(x: Tensor) -> Tensor:
    """Keys' cubic of -1/2."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, near, torch.where(x < 2, far, 0.0))
