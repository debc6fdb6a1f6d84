"""What torch computes by putting elements into an order, of what torch-mlir lowers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor

from ...compiler.errors import UnsupportedError
from .integers import as_tensor

_ATEN = torch.ops.aten
# Of more elements than that not every one is compared with every other.
_MOST_COMPARED = 512


def ordering_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of sorts, medians, modes, quantiles and binary searches."""
    return {
        _ATEN.median.default: _median_of_all,
        _ATEN.median.dim: _median,
        _ATEN.nanmedian.default: _nanmedian_of_all,
        _ATEN.nanmedian.dim: _nanmedian,
        _ATEN.kthvalue.default: _kthvalue,
        _ATEN.mode.default: _mode,
        _ATEN.quantile.default: partial(_quantile, skips_nan=False),
        _ATEN.quantile.scalar: partial(_quantile, skips_nan=False),
        _ATEN.nanquantile.default: partial(_quantile, skips_nan=True),
        _ATEN.nanquantile.scalar: partial(_quantile, skips_nan=True),
        _ATEN.searchsorted.Tensor: _searchsorted,
        _ATEN.searchsorted.Scalar: _searchsorted,
        _ATEN.topk.default: _topk,
        _ATEN.sort.default: _sort,
        _ATEN.sort.stable: _sort_stable,
        _ATEN.bucketize.Tensor: _bucketize,
        _ATEN.bucketize.Scalar: _bucketize,
    }


def _median_of_all(x: Tensor) -> Tensor:
    return _median(x.reshape(-1), 0)[0]


def _nanmedian_of_all(x: Tensor) -> Tensor:
    return _nanmedian(x.reshape(-1), 0)[0]


def _median(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Returns the lower of two; the first nan where there is one."""
    return _middle(x, dim, keepdim, skips_nan=False)


def _nanmedian(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _middle(x, dim, keepdim, skips_nan=True)


def _middle(x: Tensor, dim: int, keepdim: bool, *, skips_nan: bool) -> tuple[Tensor, Tensor]:
    if not x.dim():
        return x, torch.zeros((), dtype=torch.int64, device=x.device)
    values, places = torch.sort(x, dim=dim, stable=True)
    # nan comes last.
    numbers = (~x.isnan()).sum(dim, keepdim=True)
    where = ((numbers - 1) // 2).clamp(min=0)
    if not skips_nan:
        where = torch.where(numbers < x.shape[dim], numbers, where)
    found = values.gather(dim, where), places.gather(dim, where)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


def _kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    values, places = torch.sort(x, dim=dim, stable=True)
    found = values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


def _mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Returns the least of the most frequent elements, and its last place."""
    size: int | SymInt = x.shape[dim]
    if isinstance(size, SymInt) or size > _MOST_COMPARED:
        which = "an open size" if isinstance(size, SymInt) else f"{size} elements"
        raise UnsupportedError(
            f"'aten.mode' along {which} has no lowering: {_MOST_COMPARED} elements are the most",
            op="aten.mode",
            stage="import",
            hint="count with bincount or unique(return_counts=True), and take the argmax",
        )
    last = x.movedim(dim, -1)
    count = (last.unsqueeze(-1) == last.unsqueeze(-2)).sum(-1)
    is_frequent = count == count.amax(-1, keepdim=True)
    ordered, order = torch.sort(last, dim=-1, stable=True)
    first = is_frequent.gather(-1, order).long().argmax(-1, keepdim=True)
    value = ordered.gather(-1, first)
    here = torch.arange(size, device=x.device)
    place = torch.where(last == value, here, 0).amax(-1, keepdim=True)
    value, place = value.movedim(-1, dim), place.movedim(-1, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _quantile(
    x: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    skips_nan: bool,
) -> Tensor:
    """torch computes the places as numbers of an open size."""
    where = q if isinstance(q, Tensor) else torch.full((), q, dtype=x.dtype, device=x.device)
    rows = x.reshape(-1) if dim is None else x.movedim(dim, -1)
    values, _ = torch.sort(rows, dim=-1, stable=True)
    numbers = (~values.isnan()).sum(-1, keepdim=True)
    place = where.reshape(-1) * (numbers - 1).clamp(min=0).to(x.dtype)
    if interpolation == "nearest":
        place = place.round()
    low, high = place.floor(), place.ceil()
    found = values.gather(-1, (high if interpolation == "higher" else low).long())
    if interpolation in ("linear", "midpoint"):
        weight = 0.5 * (high - low) if interpolation == "midpoint" else place - low
        found = torch.lerp(found, values.gather(-1, high.long()), weight)
    if not skips_nan:
        found = torch.where(numbers == values.shape[-1], found, torch.nan)
    found = found.movedim(-1, 0)
    if keepdim:
        ones = [1] * x.dim()
        found = found.reshape(-1, *ones) if dim is None else found.unsqueeze(dim % x.dim() + 1)
    return found if where.dim() else found.squeeze(0)


def _searchsorted(
    boundaries: Tensor,
    x: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Returns how many boundaries come before each element: every one is compared."""
    if not isinstance(x, Tensor):
        kind = torch.result_type(boundaries, x)
        boundaries, x = boundaries.to(kind), as_tensor(x, kind)
    if sorter is not None:
        boundaries = boundaries.gather(-1, sorter)
    limits, here = boundaries.unsqueeze(-2), x.unsqueeze(-1)
    if boundaries.dim() == 1:
        limits = boundaries
    is_right = right or side == "right"
    comes_after = (limits > here) if is_right else (limits >= here)
    # A nan comes after all numbers, and after those that are among the boundaries.
    if boundaries.is_floating_point():
        comes_after = comes_after | limits.isnan()
    if x.is_floating_point():
        comes_after = comes_after & ~here.isnan()
    count = (~comes_after).sum(-1)
    return count.to(torch.int32) if out_int32 else count


def _bucketize(
    x: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return _searchsorted(boundaries, x, out_int32=out_int32, right=right)


def _topk(
    x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """torch-mlir makes a sort of it, of as many steps as the size has bits."""
    return _first_in_order(x, k, dim, descending=largest)


def _sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return _first_in_order(x, None, dim, descending=descending)


def _sort_stable(
    x: Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    found = _first_in_order(x, None, dim, descending=descending)
    # What the compiler makes of a sort keeps the order of equal elements.
    return _ATEN.sort.default(x, dim, descending) if found is NotImplemented else found


def _first_in_order(
    x: Tensor, count: int | None, dim: int, *, descending: bool
) -> tuple[Tensor, Tensor]:
    """Returns the first elements in an order, which keeps equal ones as they are, and their places.

    An element's rank is how many come before it. nan is greater than all others.
    """
    size: int | SymInt = x.shape[dim] if x.dim() else 1
    if isinstance(size, SymInt) or size > _MOST_COMPARED or not x.dim():
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
