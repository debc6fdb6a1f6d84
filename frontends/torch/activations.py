"""Activations, and the greater or lesser of two numbers, where torch-mlir's differ from torch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .halves import HALVES, widened

_ATEN = torch.ops.aten


def activation_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of activations, and of extremes of two numbers."""
    return {
        _ATEN.maximum.default: partial(_extreme_of_two, torch.gt),
        _ATEN.minimum.default: partial(_extreme_of_two, torch.lt),
        _ATEN.fmax.default: partial(_of_numbers_first, torch.maximum),
        _ATEN.fmin.default: partial(_of_numbers_first, torch.minimum),
        _ATEN.rrelu.default: _rrelu,
        _ATEN.rrelu_with_noise.default: _rrelu_with_noise,
        _ATEN.gelu.default: _gelu,
        _ATEN.selu.default: _selu,
    }


def _extreme_of_two(is_beyond: Callable[..., Tensor], x: Tensor, y: Tensor) -> Any:
    """Returns x where it is beyond y or nan, else y: torch-mlir drops a nan of one operand."""
    if not torch.result_type(x, y).is_floating_point:
        return NotImplemented
    return torch.where(is_beyond(x, y) | (x != x), x, y)


def _of_numbers_first(of_both: Callable[..., Tensor], x: Tensor, y: Tensor) -> Tensor:
    """Returns the greater or lesser where both are numbers: torch-mlir takes no
    sizes that differ.
    """
    kind = torch.result_type(x, y)
    x, y = (each.to(kind) for each in (x, y))
    both = of_both(x, y)
    if not kind.is_floating_point:
        return both
    return torch.where(x.isnan(), y, torch.where(y.isnan(), x, both))


def _rrelu(
    x: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *given: Any
) -> Tensor:
    """Applies the middle slope where none is drawn: outside of training."""
    return NotImplemented if training else torch.nn.functional.leaky_relu(x, (lower + upper) / 2)


def _rrelu_with_noise(x: Tensor, noise: Tensor, *given: Any) -> Tensor:
    return _rrelu(x, *given)


def _selu(x: Tensor) -> Any:
    """torch-mlir's rounds each of several numbers between to 16 bits."""
    return torch.selu(x.float()).to(x.dtype) if x.dtype in HALVES else NotImplemented


def _gelu(x: Tensor, *, approximate: str = "none") -> Any:
    """torch-mlir's constant for tanh is sqrt(2 / pi) to three digits."""
    if approximate != "tanh":
        return NotImplemented
    wide = widened(x)
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide * wide * wide)
    return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)
