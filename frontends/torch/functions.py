"""Functions that torch.export cannot see through: it fixes sizes, or asks for elements."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch import SymInt, Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ...compiler.errors import UnsupportedError
from .losses import ctc_loss
from .user_errors import stack_position


class ReplacedFunctions(TorchFunctionMode):
    """Calls of these functions become others, which keep sizes open and give the same.

    Packed sequences are refused where they are made: torch.export fails later, and says less.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "_pack_padded_sequence":
            raise UnsupportedError(
                "packed sequences are not supported: their sizes are elements of a tensor",
                position=stack_position("".join(traceback.format_stack())),
                op="aten._pack_padded_sequence",
                stage="import",
                hint="give the layer padded sequences, and mask what it returns",
            )
        return (_REPLACED.get(func) or func)(*args, **(kwargs or {}))


def _fill_diagonal(x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Of a matrix; a longer one's further diagonals are filled by torch alone."""
    if x.dim() != 2 or wrap or not any(isinstance(size, SymInt) for size in x.shape):
        return x.fill_diagonal_(fill_value, wrap)
    sizes: list[Any] = list(x.shape)
    rows, columns = (torch.arange(size, device=x.device) for size in sizes)
    return x.masked_fill_(rows.unsqueeze(-1) == columns, fill_value)


def _linspace(start: Any, end: Any, steps: Any, **given: Any) -> Tensor:
    """From both ends to the middle."""
    kind = given.get("dtype") or torch.get_default_dtype()
    count: Any = steps
    is_known = not isinstance(steps, SymInt) or not kind.is_floating_point
    if is_known or any(isinstance(each, complex | Tensor) for each in (start, end)):
        return torch.linspace(start, end, count, **given)
    wide = torch.float64 if kind is torch.float64 else torch.float32
    # Numbers may be open sizes too.
    numbers: list[Any] = [start, end, count - 1]
    first, last, most = (
        torch.full((), each, dtype=wide, device=given.get("device")) for each in numbers
    )
    place = torch.arange(count, dtype=wide, device=given.get("device"))
    step = (last - first) / most.clamp(min=1)
    first, last = first + step * place, last - step * (most - place)
    return torch.where(place <= most / 2, first, last).to(kind)


def _interpolate(input: Tensor, size: Any, scale_factor: Any, **more: Any) -> Tensor:
    """Of an open size torch asks whether a multiple, computed in f64, is a whole number."""
    factors: list[Any] = [scale_factor] * (input.dim() - 2)
    if isinstance(scale_factor, (tuple, list)):
        factors = [*scale_factor]
    sizes: list[Any] = list(input.shape[2:])
    is_open = any(isinstance(each, SymInt) for each in sizes)
    if size is None and is_open and all(factor == int(factor) for factor in factors):
        size = [each * int(factor) for each, factor in zip(sizes, factors, strict=True)]
        scale_factor, more["recompute_scale_factor"] = None, None
    return functional.interpolate(input, size, scale_factor, **more)


def _gaussian_loss(*args: Any, **kwargs: Any) -> Tensor:
    """torch looks whether a variance is negative."""
    with mock.patch.object(torch, "any", return_value=False):
        return functional.gaussian_nll_loss(*args, **kwargs)


_REPLACED: dict[Any, Callable[..., Any]] = {
    Tensor.fill_diagonal_: _fill_diagonal,
    torch.linspace: _linspace,
    functional.interpolate: _interpolate,
    functional.gaussian_nll_loss: _gaussian_loss,
    functional.ctc_loss: ctc_loss,
    torch.ctc_loss: ctc_loss,
}
