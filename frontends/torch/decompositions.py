"""What torch operations are made of, where torch-mlir's own answer is wrong, or needlessly wide.

A decomposition computes in f32 at least, as torch does, and gives torch's element type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

_ATEN = torch.ops.aten

# Of more elements than that not every one is compared with every other.
_MOST_COMPARED = 512
# Of more places along the axis than that not every one is written by a step of its own.
_MOST_SCATTERED = 32


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions for torch-mlir: its own, but for those of this file."""
    return {
        **get_decomposition_table(),
        _ATEN.gelu.default: _gelu,
        _ATEN.var.correction: _var,
        _ATEN.var_mean.correction: _var_mean,
        _ATEN.topk.default: _topk,
        _ATEN.sort.default: _sort,
        _ATEN.sort.stable: _sort_stable,
        _ATEN.scatter.src: _scatter,
        _ATEN.scatter.value: _scatter,
    }


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _gelu(x: Tensor, *, approximate: str = "none") -> Any:
    """torch-mlir's constant for tanh is sqrt(2 / pi) to three digits."""
    if approximate != "tanh":
        return NotImplemented
    wide = _wide(x)
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide * wide * wide)
    return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)


def _var(
    x: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    """torch-mlir computes it in f64."""
    return _var_mean(x, dim, correction=correction, keepdim=keepdim)[0]


def _var_mean(
    x: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    if x.is_complex():
        return NotImplemented
    dims = list(dim) if dim else list(range(x.dim()))
    count = math.prod(x.shape[each] for each in dims)
    wide = _wide(x)
    mean = wide.mean(dims, keepdim=True)
    apart = wide - mean
    total = (apart * apart).sum(dims, keepdim=keepdim)
    # Fewer elements than the correction give nan or inf, as 0 / 0 does.
    variance = total / max(count - (1 if correction is None else correction), 0)
    kept = mean if keepdim else mean.squeeze(dims)
    return variance.to(x.dtype), kept.to(x.dtype)


def _topk(
    x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """torch-mlir makes a sort of it, in a dialect of its own."""
    return _first_in_order(x, k, dim, descending=largest)


def _sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return _first_in_order(x, None, dim, descending=descending)


def _sort_stable(
    x: Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    return _first_in_order(x, None, dim, descending=descending)


def _first_in_order(
    x: Tensor, count: int | None, dim: int, *, descending: bool
) -> tuple[Tensor, Tensor]:
    """The first elements in an order, which keeps equal ones as they are, and their places.

    An element's rank is how many come before it. nan is greater than all others.
    """
    size = x.shape[dim] if x.dim() else 1
    if size > _MOST_COMPARED or not x.dim():
        return NotImplemented
    last = x.movedim(dim, -1)
    here, other = last.unsqueeze(-1), last.unsqueeze(-2)
    greater, equal = other > here, other == here
    if x.is_floating_point():
        is_nan = last.isnan()
        nan_here, nan_other = is_nan.unsqueeze(-1), is_nan.unsqueeze(-2)
        greater = greater | (nan_other & ~nan_here)
        equal = equal | (nan_other & nan_here)
    places = torch.arange(size, device=x.device)
    earlier = places < places.unsqueeze(-1)
    before = greater if descending else ~(greater | equal)
    rank = (before | (equal & earlier)).sum(-1)
    # Which element has each of the first ranks.
    wanted = rank.unsqueeze(-2) == places[:count].unsqueeze(-1)
    where = torch.where(wanted, places, 0).sum(-1)
    return last.gather(-1, where).movedim(-1, dim), where.movedim(-1, dim)


def _scatter(x: Tensor, dim: int, index: Tensor, source: Tensor | float) -> Tensor:
    """torch-mlir crashes where the index has other sizes than the result."""
    if not x.dim():
        return NotImplemented
    count = index.shape[dim]
    if not 0 < count <= _MOST_SCATTERED:
        return NotImplemented
    if not isinstance(source, Tensor):
        source = torch.full((), source, dtype=x.dtype, device=x.device).expand(index.shape)
    last, where, values = (each.movedim(dim, -1) for each in (x, index, source))
    values = values[tuple(slice(size) for size in where.shape)]
    # Beyond the index nothing is written: no place is -1.
    missing = [0, 0]
    for size, given in zip(last.shape[-2::-1], where.shape[-2::-1], strict=True):
        missing += [0, size - given]
    where = torch.nn.functional.pad(where, missing, value=-1)
    values = torch.nn.functional.pad(values, missing)
    places = torch.arange(last.shape[-1], device=x.device)
    for number in range(count):
        here = slice(number, number + 1)
        last = torch.where(where[..., here] == places, values[..., here], last)
    return last.movedim(-1, dim)
