"""Reads and writes at computed positions: scatters, and indices along dims."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .halves import widened
from .unsigned import no_indices

_ATEN = torch.ops.aten
# Of more places along the axis than that not every one is written by a step of its own.
_MOST_SCATTERED = 32


def place_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of operators that read or write elements at computed positions."""
    return {
        _ATEN.scatter.src: _scatter,
        _ATEN.scatter.value: _scatter,
        _ATEN.scatter_add.default: _scatter_add,
        _ATEN.index_add.default: _index_add,
        _ATEN.index_copy.default: _index_copy,
        _ATEN.index_put.default: _index_put,
        _ATEN.index_reduce.default: _index_reduce,
        _ATEN.embedding_bag.padding_idx: _embedding_bag_padded,
        _ATEN._embedding_bag.default: _embedding_bag,
        _ATEN._embedding_bag_forward_only.default: _embedding_bag,
        _ATEN.index.Tensor: _index,
        _ATEN.masked_select.default: _masked_select,
        _ATEN.masked_scatter.default: _masked_scatter,
        _ATEN.put.default: _put,
        _ATEN.scatter_reduce.two: _scatter_reduce,
        _ATEN.scatter.reduce: _scatter_and,
        _ATEN.scatter.value_reduce: _scatter_and,
        _ATEN.select_scatter.default: _select_scatter,
        _ATEN.diagonal_scatter.default: _diagonal_scatter,
        _ATEN.as_strided_scatter.default: _as_strided_scatter,
    }


def _index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """torch-mlir fails of masks that pick elements, several indices of open sizes, and i32."""
    if any(each is not None and each.dtype == torch.int32 for each in indices):
        wide = [
            each.long() if each is not None and each.dtype == torch.int32 else each
            for each in indices
        ]
        return _ATEN.index.Tensor(x, wide)
    given = [(axis, each) for axis, each in enumerate(indices) if each is not None]
    if len(given) > 1 and any(isinstance(n, SymInt) for _, each in given for n in each.shape):
        return _index_of_several(x, given)
    if len(given) != 1 or given[0][1].dtype != torch.bool:
        return NotImplemented
    axis, mask = given[0]
    places = mask.reshape(-1).nonzero().squeeze(1)
    last = axis + mask.dim()
    flat = x if mask.dim() == 1 else x.reshape(*x.shape[:axis], -1, *x.shape[last:])
    return flat.index_select(axis, places)


def _index_of_several(x: Tensor, given: Sequence[tuple[int, Tensor]]) -> Tensor:
    """Returns the indices as one of what the dims that they are of make together."""
    first, count = given[0][0], len(given)
    beside = [axis for axis, _ in given] == list(range(first, first + count))
    if not beside or any(each.dtype == torch.bool for _, each in given):
        return NotImplemented
    place: Any = 0
    for axis, each in given:
        size = x.shape[axis]
        place = place * size + torch.where(each < 0, each + size, each)
    merged = x.flatten(first, first + count - 1)
    return merged[(slice(None),) * first + (place,)]


def _masked_select(x: Tensor, mask: Tensor) -> Tensor:
    x, mask = torch.broadcast_tensors(x, mask)
    places = mask.reshape(-1).nonzero().squeeze(1)
    return x.reshape(-1).index_select(0, places)


def _masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Elements that the mask picks are the source's, in order, and may be no more than these."""
    x, mask = torch.broadcast_tensors(x, mask)
    counts = mask.reshape(-1).cumsum(0)
    flat = source.reshape(-1)
    picked: Any = torch.cat([counts.new_zeros(1), counts])[-1].item()
    _ATEN._assert_scalar.default(
        picked <= flat.shape[0], "masked_scatter: the mask picks more elements than the source has"
    )
    places = torch.where(mask, counts.reshape(mask.shape), 0)
    # What is not picked has a place even if the source has none.
    taken = torch.cat([flat.new_zeros(1), flat])[places]
    return torch.where(mask, taken, x)


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Adds each row to its bag's: a product with what is in which has a nan of all beside one."""
    begins = offsets[:-1] if include_last_offset else offsets
    here = torch.arange(indices.shape[0], device=indices.device)
    bag = (begins <= here.unsqueeze(-1)).sum(-1) - 1
    numbers = torch.arange(begins.shape[0], device=indices.device)
    is_in = bag == numbers.unsqueeze(-1)
    if padding_idx is not None and padding_idx >= 0:
        is_in = is_in & (indices != padding_idx)
    count = is_in.sum(-1)
    rows = widened(weight).index_select(0, indices)
    where = torch.zeros_like(count)
    if mode == 2 and statically_known_true(indices.shape[0] == 0):
        result = rows.new_zeros([begins.shape[0], rows.shape[1]])
    elif mode == 2:
        each = torch.where(is_in.unsqueeze(-1), rows, -math.inf)
        where = indices[each.argmax(1)]
        result = torch.where(count.unsqueeze(-1) > 0, each.amax(1), 0.0)
    else:
        if per_sample_weights is not None:
            rows = rows * per_sample_weights.to(rows.dtype).unsqueeze(-1)
        if padding_idx is not None and padding_idx >= 0:
            rows = torch.where((indices == padding_idx).unsqueeze(-1), 0.0, rows)
        result = rows.new_zeros([begins.shape[0], rows.shape[1]]).index_add(0, bag, rows)
        if mode == 1:
            result = result / count.clamp(min=1).unsqueeze(-1)
    return result.to(weight.dtype), bag, count, where


def _embedding_bag_padded(weight: Tensor, *given: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Its number of the padding may count from the end."""
    padding = given[-1]
    if padding is not None and padding < 0:
        padding += weight.shape[0]
    return _embedding_bag(weight, *given[:-1], padding_idx=padding)


def _scatter(x: Tensor, dim: int, index: Tensor, source: Tensor | float) -> Tensor:
    """torch-mlir crashes where the index has other sizes than the result."""
    if _writes_nothing(index):
        return x.clone()
    if not x.dim():
        return NotImplemented
    count: int | SymInt = index.shape[dim]
    if not isinstance(source, Tensor):
        source = torch.full((), source, dtype=x.dtype, device=x.device).expand(index.shape)
    if isinstance(count, SymInt) or not 0 < count <= _MOST_SCATTERED:
        return _scatter_each(x, dim % x.dim(), index, source)
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


def _scatter_add(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """torch-mlir computes by divisions where in the index an element lies."""
    if _writes_nothing(index):
        return x.clone()
    if not x.dim():
        one = [each.reshape(1) for each in (x, index, source)]
        return torch.scatter_add(one[0], 0, one[1], one[2]).reshape(())
    return _scatter_each(x, dim % x.dim(), index, source, accumulate=True)


def _scatter_and(
    x: Tensor, dim: int, index: Tensor, source: Tensor | float, *, reduce: str
) -> Tensor:
    """Reduces as scatter_reduce does; torch-mlir has no lowering of scatter with `reduce`."""
    if not isinstance(source, Tensor):
        source = torch.full((), source, dtype=x.dtype, device=x.device).expand(index.shape)
    kind = {"add": "sum", "multiply": "prod"}[reduce]
    return torch.scatter_reduce(x, dim, index, source, kind)


def _scatter_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Reduces at computed positions. torch-mlir crashes for a negative dim, reads true as -1, and
    rounds means of integers towards 0.
    """
    if _writes_nothing(index):
        return x.clone()
    again = partial(torch.scatter_reduce, include_self=include_self)
    if not x.dim():
        one = [each.reshape(1) for each in (x, index, source)]
        return again(one[0], 0, one[1], one[2], reduce).reshape(())
    if dim < 0:
        return again(x, dim + x.dim(), index, source, reduce)
    if x.dtype is torch.bool:
        # A sum of bools is their maximum, a product their minimum.
        extreme = {"sum": "amax", "prod": "amin"}.get(reduce, reduce)
        return again(x.int(), dim, index, source.int(), extreme).bool()
    if reduce == "sum" and include_self:
        return torch.scatter_add(x, dim, index, source)
    if reduce not in ("sum", "mean"):
        return NotImplemented
    kind, (x, source) = x.dtype, (widened(x), widened(source)) if reduce == "mean" else (x, source)
    begin = x if include_self else torch.scatter(x, dim, index, 0)
    total = torch.scatter_add(begin, dim, index, source)
    if reduce == "sum":
        return total
    count = torch.ones_like(x) if include_self else torch.zeros_like(x)
    count = torch.scatter_add(count, dim, index, torch.ones_like(source))
    # Counts have the elements' type, and those of integers wrap around.
    count = torch.where(count == 0, 1, count)
    rounding = None if x.is_floating_point() or x.is_complex() else "floor"
    return torch.div(total, count, rounding_mode=rounding).to(kind)


def _index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    if _writes_nothing(source):
        return x.clone()
    found = _index_along(x, dim, index, source)
    if found is None:
        known = decomposition_table[_ATEN.index_add.default]
        return known(x, dim, index, source, alpha=alpha)
    values = source if alpha == 1 else source * alpha
    return _scatter_each(x, dim % x.dim(), found, values, accumulate=True)


def _index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    if _writes_nothing(source):
        return x.clone()
    found = _index_along(x, dim, index, source)
    if found is None:
        return decomposition_table[_ATEN.index_copy.default](x, dim, index, source)
    return _scatter_each(x, dim % x.dim(), found, source)


def _index_along(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor | None:
    """The places along a dim, one for each element of the source.

    torch-mlir transposes all tensors, so that the dim is the first.
    """
    if not x.dim() or index.dim() != 1:
        return None
    dim %= x.dim()
    where = torch.where(index < 0, index + x.shape[dim], index).long()
    return where[:, *[None] * (x.dim() - 1 - dim)].expand(source.shape)


def _index_reduce(
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    along = [1] * source.dim()
    along[dim] = -1
    places = index.reshape(along).expand(source.shape)
    return torch.scatter_reduce(x, dim, places, source, reduce, include_self=include_self)


def _index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """torch-mlir takes no index of less than 0, and no axis that is left out before one."""
    given = [(axis, each) for axis, each in enumerate(indices) if each is not None]
    if not given:
        return NotImplemented
    if x.is_complex():
        return _put_parts(_ATEN.index_put.default, x, indices, values, accumulate)
    if any(each.dtype is torch.uint8 for _, each in given):
        raise no_indices("aten.index_put.default")
    if accumulate and x.dtype is torch.bool:
        return _ATEN.index_put.default(x.long(), indices, values.long(), True).bool()
    given = [(axis, each if each.dtype == torch.bool else each.long()) for axis, each in given]
    if _writes_nothing(values, *(each for _, each in given if each.dtype != torch.bool)):
        return x.clone()
    first, index = given[0]
    if len(given) == 1 and index.dtype == torch.bool:
        if accumulate or values.dim():
            return _put_behind(x, first, index, values, accumulate) if first else NotImplemented
        rest = [1] * (x.dim() - first - index.dim())
        return torch.where(index.reshape((*index.shape, *rest)), values, x)
    if any(each.dtype == torch.bool for _, each in given):
        return NotImplemented
    axes = [axis for axis, _ in given]
    wrapped = list(
        torch.broadcast_tensors(
            *(torch.where(each < 0, each + x.shape[axis], each) for axis, each in given)
        )
    )
    if not wrapped[0].dim():
        # torch-mlir ends the process for indices without dims.
        rest = [size for axis, size in enumerate(x.shape) if axis not in axes]
        wrapped = [each.unsqueeze(0) for each in wrapped]
        values = values.expand(rest).unsqueeze(0)
    elif axes == list(range(len(axes))):
        return _ATEN._index_put_impl.default(x, wrapped, values, accumulate)
    elif axes == list(range(first, first + len(axes))):
        # Dims that are left out before the index come before its own in the values.
        wide = torch.broadcast_shapes(*(each.shape for each in wrapped))
        values = values.expand(*x.shape[:first], *wide, *x.shape[first + len(axes) :])
        values = values.movedim(list(range(first, first + len(wide))), list(range(len(wide))))
    return _put_first(_ATEN._index_put_impl.default, x, axes, wrapped, values, accumulate)


def _put_behind(x: Tensor, first: int, mask: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """Writes where a mask of later dims is true: torch-mlir takes one of the first dims only."""
    last = first + mask.dim()
    values = values[(None,) * (x.dim() - mask.dim() + 1 - values.dim())]
    values = values.expand(*x.shape[:first], values.shape[first], *x.shape[last:])
    axes, values = list(range(first, last)), values.movedim(first, 0)
    return _put_first(_ATEN.index_put.default, x, axes, [mask], values, accumulate)


def _put_first(
    operator: OpOverload,
    x: Tensor,
    axes: list[int],
    indices: list[Tensor],
    values: Tensor,
    accumulate: bool,
) -> Tensor:
    """Writes to a tensor whose indexed dims are moved before the others, and back."""
    order = axes + [axis for axis in range(x.dim()) if axis not in axes]
    put = operator(x.permute(order), indices, values, accumulate)
    return put.permute([order.index(axis) for axis in range(x.dim())])


def _put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    flat = x.reshape(-1)
    put = torch.index_put(flat, [index.reshape(-1)], source.reshape(-1), accumulate)
    return put.reshape(x.shape)


def _select_scatter(x: Tensor, source: Tensor, dim: int, index: Any) -> Tensor:
    """torch asks whether an open place is less than 0."""
    number: Any = index
    if not isinstance(index, SymInt):
        return decomposition_table[_ATEN.select_scatter.default](x, source, dim, index)
    place = torch.full((), number, dtype=torch.int64, device=x.device)
    return torch.index_put(x, [*[None] * (dim % x.dim()), place], source.to(x.dtype))


def _diagonal_scatter(
    x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    last = x.movedim((dim1, dim2), (-2, -1))
    sizes: list[Any] = list(last.shape[-2:])
    rows, columns = (torch.arange(size, device=x.device) for size in sizes)
    is_here = rows.unsqueeze(-1) + offset == columns
    if not source.shape[-1]:
        return x.clone()
    place = (rows - max(-offset, 0)).clamp(0, source.shape[-1] - 1)
    values = source.index_select(-1, place).unsqueeze(-1)
    return torch.where(is_here, values, last).movedim((-2, -1), (dim1, dim2))


def _as_strided_scatter(
    x: Tensor,
    source: Tensor,
    size: Sequence[int | SymInt],
    stride: Sequence[int | SymInt],
    storage_offset: int | SymInt | None = None,
) -> Tensor:
    """Writes elements at computed offsets. x is contiguous, as all tensors of a program are."""
    begin: Any = storage_offset or 0
    place = torch.full((), begin, dtype=torch.int64, device=x.device)
    for axis, (extent, step) in enumerate(zip(size, stride, strict=True)):
        along: Any = extent
        by: Any = step
        here = torch.arange(along, device=x.device) * by
        place = place + here[:, *[None] * (len(size) - 1 - axis)]
    flat = x.reshape(-1).index_copy(0, place.reshape(-1), source.reshape(-1))
    return flat.reshape(x.shape)


def _scatter_each(
    x: Tensor, dim: int, index: Tensor, source: Tensor, *, accumulate: bool = False
) -> Tensor:
    """Writes each element by itself; of several for one place any is there in the end."""
    places: list[Tensor | None] = []
    for axis, size in enumerate(index.shape):
        if axis == dim:
            places.append(index)
        else:
            along = [None] * (index.dim() - 1 - axis)
            here = torch.arange(size, device=x.device)[:, *along]
            # torch-mlir takes a size of 1 that is to be one of 0 for the greater one.
            places.append(here.expand(index.shape))
    values = source[tuple(slice(size) for size in index.shape)]
    if accumulate and x.dtype is torch.bool:
        # A sum of bools is true where one of them is.
        return _ATEN._index_put_impl.default(x.long(), places, values.long(), True).bool()
    if x.is_complex():
        return _put_parts(_ATEN._index_put_impl.default, x, places, values, accumulate)
    return _ATEN._index_put_impl.default(x, places, values, accumulate)


def _put_parts(operator: OpOverload, x: Tensor, indices: Any, values: Tensor, *how: Any) -> Tensor:
    """Writes complex numbers as rows of their two parts."""
    both = torch.view_as_real(x), torch.view_as_real(values.to(x.dtype))
    return torch.view_as_complex(operator(both[0], indices, both[1], *how))


def _writes_nothing(*updates: Tensor) -> bool:
    """Returns whether nothing is written: torch-mlir refuses that, or ends the process."""
    return any(statically_known_true(each.numel() == 0) for each in updates)


def elements_along(x: Tensor, axis: int, places: Sequence[Tensor]) -> Tensor:
    """Returns a tensor's elements at places along each of some dims, from `axis` on.

    They are known to lie in the tensor.
    """
    last = len(places) - 1
    along = [place.reshape(-1, *[1] * (last - number)) for number, place in enumerate(places)]
    return _ATEN._unsafe_index(x, [*[None] * axis, *along])
