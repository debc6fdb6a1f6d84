"""What torch operations are made of, where torch-mlir's own answer is wrong, or needlessly wide.

A decomposition computes in f32 at least, as torch does, and gives torch's element type.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import SymInt, Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.export import default_decompositions
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from ...compiler.session import Session
from .ordering import ordering_decompositions
from .recurrent import recurrent_decompositions
from .transforms import complex_decompositions

_WITHOUT_FFT = {
    operator: decomposition
    for operator, decomposition in decomposition_table.items()
    if not str(operator).startswith("aten.fft_")
}
_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims

# Of more elements than that not every one is compared with every other.
_MOST_COMPARED = 512
# Of more places along the axis than that not every one is written by a step of its own.
_MOST_SCATTERED = 32


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions for torch-mlir: its own, but for those of this file."""
    return {
        **_unknown_operators(),
        **get_decomposition_table(),
        **recurrent_decompositions(),
        **ordering_decompositions(),
        **complex_decompositions(),
        **_bitwise(),
        **_comparisons(),
        _ATEN.eq.Tensor: _eq,
        _ATEN.constant_pad_nd.default: _pad,
        _ATEN.hypot.default: _hypot,
        _ATEN.copysign.Tensor: _copysign,
        _ATEN.copysign.Scalar: _copysign,
        _ATEN.embedding_bag.padding_idx: _embedding_bag,
        _ATEN._embedding_bag.default: _embedding_bag,
        _ATEN._embedding_bag_forward_only.default: _embedding_bag,
        _ATEN._cdist_forward.default: _cdist,
        _ATEN._pdist_forward.default: _pdist,
        _ATEN.adaptive_max_pool2d.default: _adaptive_max_pool,
        _ATEN.adaptive_max_pool3d.default: _adaptive_max_pool,
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
        _ATEN.pow.Scalar: _pow_of_number,
        _ATEN.scaled_dot_product_attention.default: _attention,
        _ATEN.view.default: _view,
        _ATEN._unsafe_view.default: _view,
    }


@functools.cache
def _unknown_operators() -> dict[Any, Callable[..., Any]]:
    """torch's own decompositions of the operators that torch-mlir has no operation for."""
    session = Session()
    torch_dialect.register_dialect(session.context)

    def is_known(operator: OpOverload) -> bool:
        # Transforms are made of one operator for each kind, of which there are decompositions here.
        return not operator.__name__.startswith("fft_") and bool(
            session.context.is_registered_operation(_operation_name(operator))
        )

    found = {**default_decompositions(), **_WITHOUT_FFT}
    return {
        operator: decomposition
        for operator, decomposition in found.items()
        if isinstance(operator, OpOverload)
        and operator.namespace == "aten"
        and not is_known(operator)
    }


def _operation_name(operator: Any) -> str:
    """The name of an operator's operation in torch-mlir's dialect."""
    overload = operator._overloadname
    name = operator._schema.name.partition("::")[2]
    return f"torch.aten.{name}" + ("" if overload == "default" else f".{overload}")


def _bitwise() -> dict[Any, Callable[..., Any]]:
    """Bitwise operations of a tensor and a number, which torch-mlir takes for few of them."""
    found: dict[Any, Callable[..., Any]] = {}
    for name in ("and", "or", "xor", "left_shift", "right_shift"):
        operator = getattr(_ATEN, f"bitwise_{name}")
        second, first = (
            ("Tensor_Scalar", "Scalar_Tensor") if "shift" in name else ("Scalar", "Scalar_Tensor")
        )
        found[getattr(operator, second)] = functools.partial(_of_number, operator.Tensor)
        found[getattr(operator, first)] = functools.partial(_of_number, operator.Tensor)
    return found


def _of_number(operator: OpOverload, x: Any, y: Any) -> Tensor:
    kind = torch.result_type(x, y)
    both = [
        each if isinstance(each, Tensor) else torch.full((), each, dtype=kind) for each in (x, y)
    ]
    return operator(*(each.to(kind) for each in both))


def _cdist(x: Tensor, y: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return _norm(_wide(x).unsqueeze(-2) - _wide(y).unsqueeze(-3), p).to(x.dtype)


def _pdist(x: Tensor, p: float = 2) -> Tensor:
    count: int | SymInt = x.shape[0]
    if isinstance(count, SymInt):
        return NotImplemented
    first, second = torch.triu_indices(count, count, 1, device=x.device).unbind()
    wide = _wide(x)
    return _norm(wide.index_select(0, first) - wide.index_select(0, second), p).to(x.dtype)


def _norm(x: Tensor, p: float) -> Tensor:
    """Along the last dim."""
    sizes = x.abs()
    if p == 0:
        return (sizes != 0).to(x.dtype).sum(-1)
    if p == 1:
        return sizes.sum(-1)
    if p == 2:
        return (x * x).sum(-1).sqrt()
    return sizes.amax(-1) if p == math.inf else sizes.pow(p).sum(-1).pow(1 / p)


def _adaptive_max_pool(x: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """torch-mlir takes windows for equally large, which they are where the sizes divide.

    A smaller window repeats its last element.
    """
    dims = len(output_size)
    sizes: list[Any] = list(x.shape[-dims:])
    if any(isinstance(size, SymInt) for size in sizes):
        return NotImplemented
    if dims == 3 and not any(size % out for size, out in zip(sizes, output_size, strict=True)):
        return NotImplemented
    place = torch.arange(math.prod(sizes), device=x.device).reshape([int(size) for size in sizes])
    windows, first = x, x.dim() - dims
    for axis, (size, out) in enumerate(zip(sizes, output_size, strict=True)):
        number = torch.arange(out, device=x.device).unsqueeze(1)
        begins = torch.div(number * size, out, rounding_mode="floor")
        ends = torch.div((number + 1) * size + out - 1, out, rounding_mode="floor")
        width = max(-(-(i + 1) * int(size) // out) - i * int(size) // out for i in range(out))
        steps = begins + torch.arange(width, device=x.device)
        taken = torch.minimum(steps, ends - 1).reshape(-1)
        # Of the axes before this one two were made each.
        windows = windows.index_select(first + 2 * axis, taken)
        windows = windows.unflatten(first + 2 * axis, (out, width))
        place = place.index_select(2 * axis, taken).unflatten(2 * axis, (out, width))
    order = [first + 2 * axis for axis in range(dims)] + [first + 2 * i + 1 for i in range(dims)]
    windows = windows.permute([*range(first), *order]).flatten(-dims)
    place = place.permute([each - first for each in order]).flatten(-dims)
    where = windows.argmax(-1, keepdim=True)
    values = windows.amax(-1)
    return values, place.expand(windows.shape).gather(-1, where).squeeze(-1)


def _pad(x: Tensor, pad: Sequence[int | SymInt], value: float = 0) -> Tensor:
    """torch-mlir takes what is to be left out for what is added."""
    if not any(not isinstance(each, SymInt) and each < 0 for each in pad):
        return NotImplemented
    for place, each in enumerate(pad):
        if isinstance(each, SymInt) or each >= 0:
            continue
        axis = x.dim() - 1 - place // 2
        kept = x.shape[axis] + each
        x = x.narrow(axis, 0 if place % 2 else -each, kept)
    return _ATEN.constant_pad_nd.default(x, [max(each, 0) for each in pad], value)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """Without squares of what is large."""
    one, other = _wide(x).abs(), _wide(y).abs()
    most, least = torch.maximum(one, other), torch.minimum(one, other)
    ratio = torch.where((most == 0) | (least == math.inf), 1.0, least / most)
    length = torch.where(most == 0, 0.0, most * (1 + ratio * ratio).sqrt())
    return torch.where(most == math.inf, math.inf, length).to(x.dtype)


def _copysign(x: Tensor, y: Tensor | float) -> Tensor:
    kind = torch.result_type(x, y)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    size = x.to(kind).abs()
    if not isinstance(y, Tensor):
        return -size if math.copysign(1, y) < 0 else size
    return torch.where(torch.signbit(y), -size, size)


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
    """A sum of rows is a product with what says which row is in which bag."""
    begins = offsets[:-1] if include_last_offset else offsets
    here = torch.arange(indices.shape[0], device=indices.device)
    bag = (begins <= here.unsqueeze(-1)).sum(-1) - 1
    numbers = torch.arange(begins.shape[0], device=indices.device)
    is_in = bag == numbers.unsqueeze(-1)
    if padding_idx is not None and padding_idx >= 0:
        is_in = is_in & (indices != padding_idx)
    count = is_in.sum(-1)
    rows = _wide(weight).index_select(0, indices)
    where = torch.zeros_like(count)
    if mode == 2:
        each = torch.where(is_in.unsqueeze(-1), rows, -math.inf)
        where = indices[each.argmax(1)]
        result = torch.where(count.unsqueeze(-1) > 0, each.amax(1), 0.0)
    else:
        factors = is_in.to(rows.dtype)
        if per_sample_weights is not None:
            factors = factors * per_sample_weights.to(rows.dtype)
        result = factors @ rows
        if mode == 1:
            result = result / count.clamp(min=1).unsqueeze(-1)
    return result.to(weight.dtype), bag, count, where


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
    """Small powers are products, as torch computes them; all of integers are."""
    kind = torch.result_type(x, exponent)
    if not x.is_complex() and x.dtype != kind:
        return torch.pow(x.to(kind), exponent)
    if x.is_floating_point() and exponent in (2, 3):
        wide = _wide(x)
        square = wide * wide
        return (square if exponent == 2 else square * wide).to(x.dtype)
    if kind.is_floating_point or kind.is_complex or exponent < 0:
        return NotImplemented
    result, power, left = torch.ones_like(x), x, int(exponent)
    while left:
        result = result * power if left & 1 else result
        power, left = power * power, left >> 1
    return result


def _pow_of_number(base: float, exponent: Tensor) -> Tensor:
    """Integer powers of 2 are shifts."""
    kind = torch.result_type(base, exponent)
    if kind.is_floating_point or kind.is_complex or base != 2:
        return NotImplemented
    place = exponent.to(kind)
    shifted = torch.bitwise_left_shift(torch.ones_like(place), place.clamp(0, 63))
    return torch.where((place < 0) | (place >= torch.iinfo(kind).bits), 0, shifted)


def _eq(x: Tensor, y: Tensor) -> Tensor:
    """torch-mlir takes a tensor for equal to itself, which nan is not."""
    if not x.is_floating_point() or not y.is_floating_point() or x.shape != y.shape:
        return NotImplemented
    return ~torch.ne(x, y)


def _comparisons() -> dict[Any, Callable[..., Any]]:
    """torch-mlir compares truths with numbers as numbers of one bit, of which true is -1."""

    def of(operator: OpOverload) -> Callable[..., Any]:
        def compared(x: Tensor, y: float) -> Tensor:
            if x.dtype != torch.bool or isinstance(y, bool):
                return NotImplemented
            return operator(x.to(torch.result_type(x, y)), y)

        return compared

    names = ("eq", "ne", "lt", "le", "gt", "ge")
    return {getattr(_ATEN, name).Scalar: of(getattr(_ATEN, name).Scalar) for name in names}


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
