"""What torch counts: elements that differ, how often they come, and repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import SymInt, Tensor

from ...compiler.errors import UnsupportedError

_ATEN = torch.ops.aten
# Rows of more elements are not put into an order: every column is sorted.
_MOST_SORTED = 64


def counting_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of operators whose results are as long as what is counted."""
    return {
        _ATEN._unique.default: _unique_of_two,
        _ATEN._unique2.default: _unique,
        _ATEN.unique_consecutive.default: _unique_consecutive,
        _ATEN.unique_dim.default: _unique_rows,
        _ATEN.unique_dim_consecutive.default: _unique_rows_beside,
        _ATEN.repeat_interleave.Tensor: _repeated,
        _ATEN.bincount.default: _bincount,
        _ATEN.nonzero.default: _nonzero,
        _ATEN.nonzero_static.default: _nonzero_static,
        _ATEN.histogram.bin_ct: _histogram,
        _ATEN.histc.default: _histc,
    }


def _unique_of_two(
    x: Tensor, sorted: bool = True, return_inverse: bool = False
) -> tuple[Tensor, Tensor]:
    return _unique(x, sorted, return_inverse)[:2]


def _unique(
    x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """In ascending order, also where torch need not."""
    values, order = torch.sort(_sortable(x.reshape(-1)), stable=True)
    found, groups, counts = _runs(values, values != values.roll(1, 0))
    inverse = torch.zeros_like(groups).index_copy(0, order, groups)
    return found.to(x.dtype), inverse.reshape(x.shape), counts


def _unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    if dim is not None:
        return _unique_rows_beside(x, dim)
    values = x.reshape(-1)
    found, groups, counts = _runs(values, values != values.roll(1, 0))
    return found, groups.reshape(x.shape), counts


def _unique_rows(
    x: Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows are put into an order by one column after the other, the first one last."""
    rows = x.movedim(dim, 0).flatten(1) if x.dim() > 1 else x.unsqueeze(1)
    width: int | SymInt = rows.shape[1]
    if isinstance(width, SymInt) or width > _MOST_SORTED:
        raise UnsupportedError(
            f"rows of more than {_MOST_SORTED} elements, or of an open number, are not ordered",
            stage="import",
            hint="give each row a number, and take torch.unique of these",
        )
    order = torch.arange(rows.shape[0], device=x.device)
    for column in reversed(range(width)):
        _, places = torch.sort(_sortable(rows[:, column])[order], stable=True)
        order = order[places]
    found, groups, counts = _unique_rows_beside(x.index_select(dim, order), dim)
    return found, torch.zeros_like(groups).index_copy(0, order, groups), counts


def _unique_rows_beside(
    x: Tensor, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    rows = x.movedim(dim, 0)
    differs = rows != rows.roll(1, 0)
    found, groups, counts = _runs(rows, differs.flatten(1).any(1) if x.dim() > 1 else differs)
    return found.movedim(0, dim), groups, counts


def _sortable(x: Tensor) -> Tensor:
    return x.to(torch.uint8) if x.dtype is torch.bool else x


def _runs(values: Tensor, differs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the first of each run of what is equal, the runs that all are in, and their lengths.

    `differs` says of each place but the first if its value is another than the one before.
    """
    begins = differs | (torch.arange(values.shape[0], device=values.device) == 0)
    groups = begins.long().cumsum(0) - 1
    places = begins.nonzero().squeeze(1)
    counts = torch.zeros_like(places).index_add(0, groups, torch.ones_like(groups))
    return values.index_select(0, places), groups, counts


def _repeated(repeats: Tensor, *, output_size: int | SymInt | None = None) -> Tensor:
    """Returns each place as often as is said there: how many begin at or before a place, less 1."""
    ends = repeats.long().cumsum(0)
    count: Any = output_size
    if output_size is None:
        count = _size_in(repeats.long().sum())
    begun = torch.zeros(count + 1, dtype=torch.int64, device=repeats.device)
    begins = (ends - repeats).clamp(min=0).minimum(torch.full_like(ends, count))
    begun = begun.index_add(0, begins, torch.ones_like(ends))
    return (begun.cumsum(0) - 1)[:-1]


def _size_in(x: Tensor) -> Any:
    """Returns a size that an element is."""
    count: Any = x.item()
    torch._check(count >= 0)  # pyright: ignore[reportPrivateUsage]
    return count


def _bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    places = x.long()
    # torch.export takes a result's size for an element of a tensor, and for no sum of one.
    count = _size_in(torch.cat([places, places.new_full((1,), minlength - 1)]).amax() + 1)
    kind = torch.int64
    if weights is not None:
        kind = weights.dtype if weights.dtype is torch.float32 else torch.float64
    each = torch.ones_like(places) if weights is None else weights.to(kind)
    return torch.zeros(count, dtype=kind, device=x.device).index_add(0, places, each)


def _nonzero(x: Tensor) -> Tensor:
    if x.is_complex():
        return x.bool().nonzero()
    return NotImplemented if x.dim() else x.reshape(1).nonzero()[:, :0]


def _nonzero_static(x: Tensor, *, size: int | SymInt, fill_value: int = -1) -> Tensor:
    """Writes the index of each nonzero element to the position that its running count gives."""
    counted = x.reshape(-1) != 0
    number = counted.long().cumsum(0) - 1
    count: Any = size
    # Elements that are 0, or beyond the count, go to a position behind the last.
    place = torch.where(counted, number.clamp(max=count), count)
    here = torch.arange(counted.shape[0], device=x.device)
    flat = torch.full((count + 1,), -1, dtype=torch.int64, device=x.device)
    flat = flat.index_copy(0, place, here)[:-1]
    axes: list[Tensor] = []
    left = flat
    for extent in reversed(x.shape):
        along: Any = extent
        axes.append(torch.where(flat < 0, fill_value, left % along))
        left = left // along
    return torch.stack(axes[::-1], 1) if axes else flat.new_zeros([count, 0])


def _histogram(
    x: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """Returns a histogram and its edges. An element at the upper end is in the last bin."""
    values = x.reshape(-1)
    sizes: list[int | SymInt] = list(x.shape)
    if range is None and 0 in [each for each in sizes if not isinstance(each, SymInt)]:
        range = (0.0, 1.0)
    if range is None:
        least, most = values.min(), values.max()
    else:
        least, most = (torch.full((), each, dtype=x.dtype, device=x.device) for each in range)
    alike = least == most
    least, most = torch.where(alike, least - 0.5, least), torch.where(alike, most + 0.5, most)
    number = torch.arange(bins + 1, dtype=x.dtype, device=x.device)
    edges = torch.where(number == bins, most, least + (most - least) / bins * number)
    place = (torch.searchsorted(edges, values, right=True) - 1).clamp(max=bins - 1)
    counted = (values >= least) & (values <= most)
    each = counted.to(x.dtype) if weight is None else weight.reshape(-1) * counted
    none = torch.zeros(bins, dtype=x.dtype, device=x.device)
    found = none.index_add(0, place.clamp(min=0), each)
    return (found / (found.sum() * edges.diff()) if density else found), edges


def _histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """torch-mlir has none. An element of the last bin's upper end is in that."""
    if x.dtype not in (torch.float32, torch.float64):
        return NotImplemented
    values = x.reshape(-1)
    least = torch.full((), min, dtype=x.dtype, device=x.device)
    most = torch.full((), max, dtype=x.dtype, device=x.device)
    if min == max == 0:
        least, most = values.min(), values.max()
    alike = least == most
    least, most = torch.where(alike, least - 1, least), torch.where(alike, most + 1, most)
    counted = (values >= least) & (values <= most)
    place = ((values - least) / (most - least) * bins).long().clamp(0, bins - 1)
    place = torch.where(counted, place, 0)
    none = torch.zeros(bins, dtype=x.dtype, device=x.device)
    return none.index_add(0, place, counted.to(x.dtype))
