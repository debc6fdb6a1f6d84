"""Padding with a tensor's own elements, and rolls: all dims are read at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor
from torch._prims_common import suggest_memory_format

from .places import elements_along

_ATEN = torch.ops.aten
# The place within a dim of the padded one's place, which may be negative, by the dim's size and by
# how many elements come before and after; of negative numbers so many are left out.
_Place = Callable[[Tensor, Any, Any, Any], Tensor]


def padding_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of padding by mirroring, the border and around, and of rolls."""
    found: dict[Any, Callable[..., Any]] = {
        _ATEN._pad_circular.default: partial(_padded, _around),
        _ATEN.roll.default: _rolled,
    }
    for dims in (1, 2, 3):
        found[getattr(_ATEN, f"reflection_pad{dims}d").default] = partial(_padded, _mirrored)
        found[getattr(_ATEN, f"replication_pad{dims}d").default] = partial(_padded, _border)
    return found


def _padded(place: _Place, x: Tensor, padding: Sequence[int | SymInt]) -> Tensor:
    """Pads the last dims; `padding` has what comes before and after of each, the last one first."""
    dims = len(padding) // 2
    places: list[Tensor] = []
    for axis in range(dims):
        size: Any = x.shape[axis - dims]
        before: Any
        after: Any
        before, after = padding[2 * (dims - 1 - axis) :][:2]
        at = torch.arange(-before, size + after, device=x.device)
        places.append(place(at, size, before, after))
    found = elements_along(x, x.dim() - dims, places)
    return found.contiguous(memory_format=suggest_memory_format(x))


def _mirrored(at: Tensor, size: Any, *_: Any) -> Tensor:
    return size - 1 - (size - 1 - at.abs()).abs()


def _border(at: Tensor, size: Any, *_: Any) -> Tensor:
    return at.clamp(0, size - 1)


def _around(at: Tensor, size: Any, before: Any, after: Any) -> Tensor:
    """What is left out is nowhere. No more than all that is left comes before or after."""
    first = torch.sym_max(-before, 0)
    end = size - torch.sym_max(-after, 0)
    left = end - first
    return torch.where(at < first, at + left, torch.where(at >= end, at - left, at))


def _rolled(x: Tensor, shifts: Sequence[int | SymInt], dims: Sequence[int] = ()) -> Tensor:
    """torch-mlir takes neither several dims nor none."""
    if not dims:
        return _rolled(x.reshape(-1), shifts, [0]).reshape(x.shape)
    by: dict[int, Any] = {}
    for shift, dim in zip(shifts, dims, strict=True):
        by[dim % x.dim()] = by.get(dim % x.dim(), 0) + shift
    if 0 in x.shape:
        return x.clone()
    first, last = min(by), max(by)
    places: list[Tensor] = []
    for axis in range(first, last + 1):
        size: Any = x.shape[axis]
        shift = by.get(axis, 0) % size
        if first == last and isinstance(shift, int):
            # Two parts lie side by side.
            parts = [x.narrow(axis, size - shift, shift), x.narrow(axis, 0, size - shift)]
            return torch.cat(parts, axis) if shift else x.clone()
        place = torch.arange(size, device=x.device) - shift
        places.append(torch.where(place < 0, place + size, place))
    return elements_along(x, first, places).contiguous()
