"""Window functions of signal processing, and the frequencies of Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

_ATEN = torch.ops.aten


def window_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of windows, and of frequencies."""
    found: dict[Any, Callable[..., Any]] = {
        _ATEN.fft_fftfreq.default: _frequencies,
        _ATEN.fft_rfftfreq.default: _frequencies_up_from_0,
    }
    for name, window in (
        ("hamming", _hamming),
        ("blackman", _blackman),
        ("bartlett", _bartlett),
        ("kaiser", _kaiser),
    ):
        operator = getattr(_ATEN, f"{name}_window")
        for overload in operator.overloads():
            if not overload.endswith("out"):
                found[getattr(operator, overload)] = partial(_window, window)
    return found


def _window(
    window: Callable[..., Tensor],
    length: int,
    periodic: bool = True,
    *given: float,
    dtype: torch.dtype | None = None,
    **_: Any,
) -> Tensor:
    """Returns a window, which is computed in f64. A periodic one is the next longer without its
    last element.
    """
    kind = dtype or torch.get_default_dtype()
    if length < 2:
        return torch.ones(length, dtype=kind)
    last = length if periodic else length - 1
    return window(torch.arange(length, dtype=torch.float64) / last, *given).to(kind)


def _hamming(place: Tensor, alpha: float = 0.54, beta: float = 0.46) -> Tensor:
    return alpha - beta * torch.cos(2 * math.pi * place)


def _blackman(place: Tensor) -> Tensor:
    turn = 2 * math.pi * place
    # In this order the sides are 0.
    return 0.08 * torch.cos(2 * turn) - 0.5 * torch.cos(turn) + 0.42


def _bartlett(place: Tensor) -> Tensor:
    return 1 - (2 * place - 1).abs()


def _kaiser(place: Tensor, beta: float = 12.0) -> Tensor:
    side = 2 * place - 1
    # Products of rounded numbers may be more than 1.
    root = (1 - side * side).clamp(min=0).sqrt()
    return torch.special.i0(beta * root) / torch.special.i0(torch.full((), beta, dtype=side.dtype))


def _frequencies(
    count: int, distance: float = 1.0, *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    number = torch.arange(count)
    number = torch.where(number < (count + 1) // 2, number, number - count)
    return _scaled(number, count, distance, dtype)


def _frequencies_up_from_0(
    count: int, distance: float = 1.0, *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return _scaled(torch.arange(count // 2 + 1), count, distance, dtype)


def _scaled(number: Tensor, count: int, distance: float, dtype: torch.dtype | None) -> Tensor:
    kind = dtype or torch.get_default_dtype()
    return number.to(kind) * (1.0 / (count * distance))
