"""Fourier transforms as matrix products, of a whole tensor and of sliding windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import SymInt, Tensor

from .complex_numbers import is_complex, parts_of

_ATEN = torch.ops.aten
# The matrix of a longer transform is larger than what it saves.
_MOST_TRANSFORMED = 4096


def transform_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of transforms."""
    return {
        _ATEN._fft_r2c.default: _fft_r2c,
        _ATEN._fft_c2c.default: _fft_c2c,
        _ATEN._fft_c2r.default: _fft_c2r,
        _ATEN.stft.default: _stft,
        _ATEN.unfold_backward.default: _unfold_backward,
    }


def _fft_r2c(x: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    last = dim[-1]
    size = x.shape[last]
    if not _is_transformed(x, dim):
        return NotImplemented
    count = size // 2 + 1 if onesided else size
    real = _transform(x, None, last, count, -1.0)
    rest = list(dim[:-1])
    total = math.prod(x.shape[each] for each in dim)
    parts = real
    for each in rest:
        parts = _transform(parts[0], parts[1], each, x.shape[each], -1.0)
    return _scaled(parts, total, normalization)


def _fft_c2c(x: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    if not _is_transformed(x, dim):
        return NotImplemented
    parts = parts_of(x)
    for each in dim:
        parts = _transform(parts[0], parts[1], each, x.shape[each], -1.0 if forward else 1.0)
    return _scaled(parts, math.prod(x.shape[each] for each in dim), normalization)


def _fft_c2r(x: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    """Returns the half that is left out is the conjugate of what is given."""
    if not _is_transformed(x, dim) or isinstance(last_dim_size, SymInt):
        return NotImplemented
    parts = parts_of(x)
    for each in dim[:-1]:
        parts = _transform(parts[0], parts[1], each, x.shape[each], 1.0)
    last, count = dim[-1], last_dim_size // 2 + 1
    real, imaginary = (part.narrow(last, 0, count).movedim(last, -1) for part in parts)
    given = torch.arange(count, device=x.device)
    # What stands for its conjugate too counts twice, of which the imaginary parts cancel.
    twice = torch.where((given == 0) | (2 * given == last_dim_size), 1.0, 2.0).to(real.dtype)
    cosine, sine = _waves(count, last_dim_size, last_dim_size, real)
    result = (real * twice) @ cosine - (imaginary * twice) @ sine
    total = last_dim_size * math.prod(x.shape[each] for each in dim[:-1])
    return (result * _factor(total, normalization)).movedim(-1, last)


def _is_transformed(x: Tensor, dim: Sequence[int]) -> bool:
    sizes: list[int | SymInt] = [x.shape[each] for each in dim]
    return all(not isinstance(size, SymInt) and size <= _MOST_TRANSFORMED for size in sizes)


def _waves(rows: int, columns: int, period: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin of 2 pi i j / period, of angles within one turn."""
    i, j = (torch.arange(each, device=like.device) for each in (rows, columns))
    angle = (i.unsqueeze(1) * j % period).to(like.dtype) * (2 * math.pi / period)
    return angle.cos(), angle.sin()


def _transform(
    real: Tensor, imaginary: Tensor | None, dim: int, count: int, sign: float
) -> tuple[Tensor, Tensor]:
    """Returns the first `count` frequencies along a dim."""
    last = real.movedim(dim, -1)
    cosine, sine = _waves(last.shape[-1], count, last.shape[-1], real)
    sine = sine * sign
    both = last @ torch.cat([cosine, sine], 1)
    if imaginary is not None:
        other = imaginary.movedim(dim, -1)
        both = both + other @ torch.cat([-sine, cosine], 1)
    return both[..., :count].movedim(-1, dim), both[..., count:].movedim(-1, dim)


def _scaled(parts: tuple[Tensor, Tensor], total: int, normalization: int) -> Tensor:
    factor = _factor(total, normalization)
    return torch.complex(parts[0] * factor, parts[1] * factor)


def _factor(total: int, normalization: int) -> float:
    """torch's numbers of what divides: nothing, the root, the size."""
    return (1.0, 1 / math.sqrt(total), 1 / total)[normalization]


def _stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Returns half of the frequencies, or all: torch-mlir always returns half."""
    length = n_fft if win_length is None else win_length
    step = n_fft // 4 if hop_length is None else hop_length
    if align_to_window:
        before = n_fft - (n_fft - length) // 2 - length
        x = torch.nn.functional.pad(x, (before, n_fft - length - before))
    frames = x.unfold(-1, n_fft, step)
    if window is None:
        window = torch.ones(length, dtype=x.dtype, device=x.device)
    before = (n_fft - length) // 2
    frames = frames * torch.nn.functional.pad(window, (before, n_fft - length - before))
    norm = "ortho" if normalized else "backward"
    is_half = not is_complex(frames) if onesided is None else onesided
    found = (torch.fft.rfft if is_half else torch.fft.fft)(frames, norm=norm).mT
    return found if return_complex else torch.view_as_real(found)


def _unfold_backward(
    windows: Tensor, sizes: Sequence[int | SymInt], dim: int, size: int, step: int
) -> Tensor:
    """Adds overlapping windows, one step of each window at a time."""
    dim = dim % len(sizes) if sizes else 0
    whole: Any = sizes[dim] if sizes else 1
    each = windows.movedim(dim, -2)
    count, parts = each.shape[-2], -(-size // step)
    each = torch.nn.functional.pad(each, (0, parts * step - size)).unflatten(-1, (parts, step))
    total: Any = 0
    for part in range(parts):
        after: Any = parts - 1 - part
        total = total + torch.nn.functional.pad(each[..., part, :], (0, 0, part, after))
    rest: Any = whole - (count + parts - 1) * step
    found = torch.nn.functional.pad(total.flatten(-2), (0, rest)).movedim(-1, dim)
    return found.expand([*sizes]) if sizes else found.reshape(())
