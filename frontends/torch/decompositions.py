"""What torch operations are made of, where torch-mlir's own answer is wrong, or needlessly wide.

A decomposition computes in f32 at least, as torch does, and gives torch's element type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import SymInt, Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from .recurrent import recurrent_decompositions

_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims

# Of more elements than that not every one is compared with every other.
_MOST_COMPARED = 512
# Of more places along the axis than that not every one is written by a step of its own.
_MOST_SCATTERED = 32


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions for torch-mlir: its own, but for those of this file."""
    return {
        **get_decomposition_table(),
        **recurrent_decompositions(),
        _ATEN.gelu.default: _gelu,
        _ATEN.var.correction: _var,
        _ATEN.var_mean.correction: _var_mean,
        _ATEN.topk.default: _topk,
        _ATEN.sort.default: _sort,
        _ATEN.sort.stable: _sort_stable,
        _ATEN.scatter.src: _scatter,
        _ATEN.scatter.value: _scatter,
        _ATEN.index_put.default: _index_put,
        _ATEN.index.Tensor: _index,
        _ATEN.masked_select.default: _masked_select,
        _ATEN.histc.default: _histc,
        _ATEN.pow.Tensor_Scalar: _pow,
        _ATEN.scaled_dot_product_attention.default: _attention,
        _ATEN.view.default: _view,
        _ATEN._unsafe_view.default: _view,
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
    """The first elements in an order, which keeps equal ones as they are, and their places.

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


def _scatter(x: Tensor, dim: int, index: Tensor, source: Tensor | float) -> Tensor:
    """torch-mlir crashes where the index has other sizes than the result."""
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


def _scatter_each(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Writes each element by itself; of several for one place any is there in the end."""
    places: list[Tensor | None] = []
    for axis, size in enumerate(index.shape):
        if axis == dim:
            places.append(index)
        else:
            along = [1] * (index.dim() - 1 - axis)
            here = torch.arange(size, device=x.device).reshape(-1, *along)
            # torch-mlir takes a size of 1 that is to be one of 0 for the greater one.
            places.append(here.expand(index.shape))
    values = source[tuple(slice(size) for size in index.shape)]
    return _ATEN._index_put_impl.default(x, places, values, False)


def _index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """torch-mlir takes no index of less than 0, and no axis that is left out before one."""
    given = [(axis, each) for axis, each in enumerate(indices) if each is not None]
    if not given:
        return NotImplemented
    first, index = given[0]
    if len(given) == 1 and index.dtype == torch.bool:
        if accumulate or values.dim():
            return NotImplemented
        rest = [1] * (x.dim() - first - index.dim())
        return torch.where(index.reshape(*index.shape, *rest), values, x)
    if any(each.dtype == torch.bool for _, each in given):
        return NotImplemented
    axes = [axis for axis, _ in given]
    wrapped = list(
        torch.broadcast_tensors(
            *(torch.where(each < 0, each + x.shape[axis], each) for axis, each in given)
        )
    )
    if axes == list(range(len(axes))):
        return _ATEN._index_put_impl.default(x, wrapped, values, accumulate)
    order = axes + [axis for axis in range(x.dim()) if axis not in axes]
    if axes == list(range(first, first + len(axes))):
        # Dims that are left out before the index come before its own in the values.
        wide = torch.broadcast_shapes(*(each.shape for each in wrapped))
        values = values.expand(*x.shape[:first], *wide, *x.shape[first + len(axes) :])
        values = values.movedim(list(range(first, first + len(wide))), list(range(len(wide))))
    put = _ATEN._index_put_impl.default(x.permute(order), wrapped, values, accumulate)
    return put.permute([order.index(axis) for axis in range(x.dim())])


def _index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """torch-mlir fails where a mask picks elements, however many they are."""
    given = [(axis, each) for axis, each in enumerate(indices) if each is not None]
    if len(given) != 1 or given[0][1].dtype != torch.bool:
        return NotImplemented
    axis, mask = given[0]
    places = mask.reshape(-1).nonzero().squeeze(1)
    last = axis + mask.dim()
    flat = x if mask.dim() == 1 else x.reshape(*x.shape[:axis], -1, *x.shape[last:])
    return flat.index_select(axis, places)


def _masked_select(x: Tensor, mask: Tensor) -> Tensor:
    x, mask = torch.broadcast_tensors(x, mask)
    places = mask.reshape(-1).nonzero().squeeze(1)
    return x.reshape(-1).index_select(0, places)


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


def _pow(x: Tensor, exponent: float) -> Tensor:
    """Small powers are products, as torch computes them."""
    if x.dtype == torch.bool or exponent not in (2, 3):
        return NotImplemented
    wide = _wide(x)
    square = wide * wide
    return (square if exponent == 2 else square * wide).to(x.dtype)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Two products of the operands as they are, and between them a softmax in f32.

    torch's own form scales both operands of the first product, in f32. Query heads that share one
    of the keys are rows of one matrix.
    """
    if dropout_p or query.dim() < 2:
        return NotImplemented
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    shape = query.shape
    wide = _wide(query)
    is_grouped = enable_gqa and shape[-3] != key.shape[-3]
    if is_grouped:
        wide = wide.reshape(*shape[:-3], key.shape[-3], -1, shape[-1])
    scores = wide @ _wide(key).mT * scale
    if is_grouped:
        scores = scores.reshape(*shape[:-1], key.shape[-2])
    if is_causal:
        here = torch.arange(shape[-2], device=query.device).unsqueeze(-1)
        seen = torch.arange(key.shape[-2], device=query.device) <= here
        weights = torch.where(seen, scores, -math.inf).softmax(-1)
    elif attn_mask is None:
        weights = scores.softmax(-1)
    else:
        weights = _masked_softmax(scores, attn_mask)
    weights = _wide(weights.to(value.dtype))
    if is_grouped:
        weights = weights.reshape(*shape[:-3], key.shape[-3], -1, key.shape[-2])
    result = weights @ _wide(value)
    if is_grouped:
        result = result.reshape(*shape[:-1], value.shape[-1])
    return result.to(query.dtype)


def _masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """A softmax that is 0 along rows of which all is masked, as torch's is in attention."""
    scores = torch.where(mask, scores, -math.inf) if mask.dtype == torch.bool else scores + mask
    most = scores.amax(-1, keepdim=True)
    powers = (scores - torch.where(most == -math.inf, 0.0, most)).exp()
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total)


def _view(x: Tensor, size: Sequence[int | SymInt]) -> Tensor:
    """Where several sizes are open torch-mlir may take them for others.

    Dims at the beginning and the end that stay are left; those between become one, and that others.
    """
    given: list[int | SymInt] = list(x.shape)
    known = [each for each in size if not _is_left_open(each)]
    if not any(isinstance(each, SymInt) for each in (*given, *known)) or not given or not size:
        return NotImplemented
    wanted = list(size)
    for axis, each in enumerate(wanted):
        if _is_left_open(each):
            wanted[axis] = math.prod(given) // math.prod(known)
    first = _alike(given, wanted)
    last = _alike(given[first:][::-1], wanted[first:][::-1])
    middle = wanted[first : len(wanted) - last]
    merged = len(given) - first - last
    if not merged and not middle:
        return NotImplemented
    if not merged or not middle:
        # A dim of size 1 begins or ends.
        first, last = (first - 1, last) if first else (first, last - 1)
        middle = wanted[first : len(wanted) - last]
        merged = len(given) - first - last
    if merged > 1:
        x = _PRIMS.collapse.default(x, first, first + merged - 1)
    for axis, each in enumerate(middle[:-1], first):
        # torch-mlir fails where what is split off is of size 1.
        is_one = not isinstance(each, SymInt) and each == 1
        x = x.unsqueeze(axis) if is_one else _PRIMS.split_dim.default(x, axis, each)
    return x


def _is_left_open(size: int | SymInt) -> bool:
    return not isinstance(size, SymInt) and size == -1


def _alike(sizes: Sequence[int | SymInt], others: Sequence[int | SymInt]) -> int:
    """How many of the sizes at the beginning are known to be the same."""
    count = 0
    for size, other in zip(sizes, others, strict=False):
        if not statically_known_true(size == other):
            break
        count += 1
    return count
