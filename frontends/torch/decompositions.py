"""What torch operations are made of, where torch-mlir's own answer is wrong, or needlessly wide.

A decomposition computes in f32 at least, as torch does, and gives torch's element type.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from typing import Any

import torch
from torch import SymInt, Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.export import default_decompositions
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._pytree import tree_map_only
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from ...compiler.session import Session
from .attention import attention
from .bessel import bessel_decompositions
from .complex_numbers import (
    complex_number_decompositions,
    each_part,
    in_steps,
    is_complex,
    parts_of,
    power_of_number,
    product_of_complex,
)
from .counting import counting_decompositions
from .custom_operators import quantized_products
from .degenerate import without_dims
from .floats import float_decompositions, floor_quotient
from .generators import random_decompositions
from .grouped import grouped_decompositions
from .halves import widened
from .integers import integer_decompositions, power
from .linear_algebra import linear_algebra_decompositions
from .losses import loss_decompositions
from .means import mean_decompositions
from .ordering import ordering_decompositions
from .places import place_decompositions
from .pools import pool_decompositions
from .recurrent import recurrent_decompositions
from .resampling import resampling_decompositions
from .running import running_decompositions
from .special import special_decompositions
from .strides import as_strided
from .transforms import transform_decompositions

# Integers by their bytes.
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_WITHOUT_FFT = {
    operator: decomposition
    for operator, decomposition in decomposition_table.items()
    if not str(operator).startswith("aten.fft_")
}
_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions for torch-mlir: its own, but for those of this file."""
    found = {
        **_unknown_operators(),
        **get_decomposition_table(),
        **recurrent_decompositions(),
        **ordering_decompositions(),
        **running_decompositions(),
        **complex_number_decompositions(),
        **float_decompositions(),
        _ATEN.mm.default: _product,
        _ATEN.bmm.default: _product,
        **transform_decompositions(),
        **random_decompositions(),
        **special_decompositions(),
        **bessel_decompositions(),
        **resampling_decompositions(),
        **loss_decompositions(),
        **pool_decompositions(),
        **mean_decompositions(),
        **counting_decompositions(),
        **integer_decompositions(),
        **grouped_decompositions(),
        **linear_algebra_decompositions(),
        **quantized_products(),
        **_bitwise(),
        **_comparisons(),
        **_truths(),
        **_bytes_and_numbers(),
        _ATEN._is_all_true.default: torch.all,
        _ATEN._is_any_true.default: torch.any,
        _ATEN.eq.Tensor: _eq,
        _ATEN.cat.default: _cat,
        _ATEN.constant_pad_nd.default: _pad,
        _ATEN.convolution.default: _convolution,
        _ATEN.embedding_bag.padding_idx: _embedding_bag,
        _ATEN._embedding_bag.default: _embedding_bag,
        _ATEN._embedding_bag_forward_only.default: _embedding_bag,
        _ATEN._cdist_forward.default: _cdist,
        _ATEN._pdist_forward.default: _pdist,
        **_limits(),
        _ATEN.maximum.default: partial(_extreme_of_two, torch.gt),
        _ATEN.minimum.default: partial(_extreme_of_two, torch.lt),
        _ATEN.rrelu.default: _rrelu,
        _ATEN.rrelu_with_noise.default: _rrelu_with_noise,
        _ATEN.gelu.default: _gelu,
        _ATEN.native_group_norm.default: _group_norm,
        _ATEN.rms_norm.default: _rms_norm,
        _ATEN.rsub.Scalar: _rsub,
        _ATEN.var.correction: _var,
        _ATEN.var_mean.correction: _var_mean,
        **place_decompositions(),
        _ATEN.pow.Tensor_Scalar: _pow,
        _ATEN.pow.Scalar: _pow_of_number,
        _ATEN.pow.Tensor_Tensor: _pow_of_tensors,
        _ATEN.isfinite.default: _isfinite,
        _ATEN.isinf.default: _isinf,
        _ATEN.vander.default: _vander,
        _ATEN.max.default: partial(_extreme, torch.amax),
        _ATEN.min.default: partial(_extreme, torch.amin),
        _ATEN.scaled_dot_product_attention.default: attention,
        _ATEN.as_strided.default: as_strided,
        _ATEN.view.default: _view,
        _ATEN._unsafe_view.default: _view,
        _ATEN.view.dtype: _view_of_bits,
        _ATEN.split_with_sizes.default: _split_with_sizes,
        _ATEN.roll.default: _roll,
        _ATEN.signbit.default: _signbit,
        _ATEN.empty.memory_format: _zeros,
        _ATEN.new_empty.default: _new_zeros,
        _ATEN.empty_like.default: _zeros_like,
        # torch-mlir's own end the process, or are wrong.
        **{
            each: decomposition_table[each] for each in (_ATEN.im2col.default, _ATEN.col2im.default)
        },
        _ATEN.fmax.default: partial(_of_numbers_first, torch.maximum),
        _ATEN.fmin.default: partial(_of_numbers_first, torch.minimum),
        _ATEN.cumsum.default: partial(_of_one, _ATEN.cumsum.default),
        _ATEN.cumprod.default: partial(_of_one, _ATEN.cumprod.default),
        _PRIMS.nextafter.default: _nextafter,
        _PRIMS.frexp.default: _frexp,
        **_copies(),
    }
    return {**found, **without_dims(found)}


@cache
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
    """Returns the name of an operator's operation in torch-mlir's dialect."""
    overload = operator._overloadname
    name = operator._schema.name.partition("::")[2]
    return f"torch.aten.{name}" + ("" if overload == "default" else f".{overload}")


def _copies() -> dict[Any, Callable[..., Any]]:
    """Returns copies of views: torch-mlir has operations for them, and lowers none."""

    def of(view: OpOverload) -> Callable[..., Any]:
        def copied(*given: Any, **named: Any) -> Any:
            return tree_map_only(Tensor, torch.clone, view(*given, **named))

        return copied

    found: dict[Any, Callable[..., Any]] = {}
    for name in (each.removesuffix("_copy") for each in dir(_ATEN) if each.endswith("_copy")):
        views, copies = getattr(_ATEN, name, None), getattr(_ATEN, f"{name}_copy")
        for overload in copies.overloads():
            if views is not None and overload in views.overloads():
                found[getattr(copies, overload)] = of(getattr(views, overload))
    return found


def _bitwise() -> dict[Any, Callable[..., Any]]:
    """Returns bitwise operations and remainders with a number; torch-mlir lowers few of them."""
    found: dict[Any, Callable[..., Any]] = {
        _ATEN.__lshift__.Tensor: _ATEN.bitwise_left_shift.Tensor,
        _ATEN.__rshift__.Tensor: _ATEN.bitwise_right_shift.Tensor,
        _ATEN.remainder.Scalar_Tensor: partial(_of_number, _ATEN.remainder.Tensor),
    }
    for name in ("and", "or", "xor", "left_shift", "right_shift"):
        operator = getattr(_ATEN, f"bitwise_{name}")
        second, first = (
            ("Tensor_Scalar", "Scalar_Tensor") if "shift" in name else ("Scalar", "Scalar_Tensor")
        )
        found[getattr(operator, second)] = partial(_of_number, operator.Tensor)
        found[getattr(operator, first)] = partial(_of_number, operator.Tensor)
    return found


def _of_number(operator: OpOverload, x: Any, y: Any) -> Tensor:
    kind = torch.result_type(x, y)
    both = [
        each if isinstance(each, Tensor) else torch.full((), each, dtype=kind) for each in (x, y)
    ]
    return operator(*(each.to(kind) for each in both))


def _cdist(x: Tensor, y: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return _norm(widened(x).unsqueeze(-2) - widened(y).unsqueeze(-3), p).to(x.dtype)


def _pdist(x: Tensor, p: float = 2) -> Tensor:
    count: int | SymInt = x.shape[0]
    if isinstance(count, SymInt):
        return NotImplemented
    first, second = torch.triu_indices(count, count, 1, device=x.device).unbind()
    wide = widened(x)
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


def _cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """torch-mlir takes no tensors that are known to have no elements."""
    some = [x for x in tensors if all(isinstance(size, SymInt) or size for size in x.shape)]
    if len(some) == len(tensors) or not some:
        return NotImplemented
    kind = reduce(torch.promote_types, (x.dtype for x in tensors))
    # What has one dim and no elements counts for any dims.
    return (torch.cat(some, dim) if len(some) > 1 else some[0].clone()).to(kind)


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int | SymInt],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int | SymInt],
    groups: int,
) -> Tensor:
    """torch-mlir fails where each channel is a group: for transposed ones, and those of 3 dims."""
    if groups == 1 or x.shape[1] != groups:
        return NotImplemented
    dims = weight.dim() - 2
    if transposed:
        apart = _set_apart(x, weight, stride, padding, dilation, output_padding)
        windows = weight.flip(list(range(2, weight.dim()))).reshape(-1, 1, *weight.shape[2:])
        ones, none = [1] * dims, [0] * dims
        return torch.convolution(apart, windows, bias, ones, none, dilation, False, none, groups)
    if dims != 3:
        return NotImplemented
    # What of the first dim a window has is further channels of a group.
    before: Any = padding[0]
    size = weight.shape[2]
    x = torch.nn.functional.pad(x, [0, 0, 0, 0, before, before])
    count = (x.shape[2] - dilation[0] * (size - 1) - 1) // stride[0] + 1
    steps = [
        x[:, :, first : first + (count - 1) * stride[0] + 1 : stride[0]]
        for first in range(0, dilation[0] * size, dilation[0])
    ]
    images = torch.stack(steps, 2).movedim(3, 1).flatten(2, 3)
    flat = torch.convolution(
        images.flatten(0, 1), weight.squeeze(1), bias,
        stride[1:], padding[1:], dilation[1:], False, [0, 0], groups,
    )  # fmt: skip
    return flat.unflatten(0, (x.shape[0], count)).movedim(1, 2)


def _set_apart(
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int | SymInt],
    dilation: Sequence[int],
    more: Sequence[int | SymInt],
) -> Tensor:
    """Returns the elements among zeros, of which a convolution is the transposed one of the
    elements.
    """
    for number, size in enumerate(weight.shape[2:]):
        axis = number + 2
        around = dilation[number] * (size - 1) - padding[number]
        first, length = max(around, 0), (x.shape[axis] - 1) * stride[number] + 1
        sizes: list[Any] = list(x.shape)
        sizes[axis] = length + 2 * first + more[number]
        last = first + length
        x = torch.slice_scatter(x.new_zeros(sizes), x, axis, first, last, stride[number])
        if around < 0:
            x = x.narrow(axis, -around, length + 2 * around + more[number])
    return x


def _pad(x: Tensor, pad: Sequence[int | SymInt], value: float = 0) -> Tensor:
    """torch-mlir takes what is to be left out for what is added, and no complex numbers."""
    if x.is_complex():
        of_part = zip(parts_of(x), parts_of(complex(value)), strict=True)
        return torch.complex(*(_ATEN.constant_pad_nd.default(x, pad, y) for x, y in of_part))
    if not any(not isinstance(each, SymInt) and each < 0 for each in pad):
        return NotImplemented
    for place, each in enumerate(pad):
        if isinstance(each, SymInt) or each >= 0:
            continue
        axis = x.dim() - 1 - place // 2
        kept = x.shape[axis] + each
        x = x.narrow(axis, 0 if place % 2 else -each, kept)
    return _ATEN.constant_pad_nd.default(x, [max(each, 0) for each in pad], value)


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
    rows = widened(weight).index_select(0, indices)
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


def _limits() -> dict[Any, Callable[..., Any]]:
    """Returns clamps. torch-mlir's compare integers with fractions without promotion, and replace a
    nan by a limit.
    """
    table = {**_unknown_operators(), **get_decomposition_table()}

    def of(operator: OpOverload) -> Callable[..., Any]:
        def limited(x: Tensor, *given: Any, **named: Any) -> Any:
            limits = [each for each in (*given, *named.values()) if each is not None]
            kind = reduce(torch.promote_types, (torch.result_type(x, each) for each in limits))
            if kind is torch.bool:
                # torch-mlir compares truths as numbers of one bit, of which true is -1.
                first, others, more = tree_map_only(Tensor, Tensor.char, (x, given, named))
                return operator(first, *others, **more).bool()
            if kind.is_floating_point:
                return _limited(operator, x.to(kind), *given, **named)
            if kind == x.dtype:
                known = table.get(operator)
                return NotImplemented if known is None else known(x, *given, **named)
            return operator(x.to(kind), *given, **named)

        return limited

    names = (_ATEN.clamp, _ATEN.clamp_min, _ATEN.clamp_max)
    found = [getattr(each, kind) for each in names for kind in ("default", "Tensor")]
    return {_ATEN.hardtanh.default: _hardtanh} | {operator: of(operator) for operator in found}


def _limited(operator: OpOverload, x: Tensor, *given: Any, **named: Any) -> Tensor:
    """Returns floats clamped to limits; nan where the element or a limit is nan."""
    name = {_ATEN.clamp_min: "min", _ATEN.clamp_max: "max"}.get(operator.overloadpacket)
    names = ("min", "max") if name is None else (name,)
    limits = dict(zip(names, given, strict=False)) | named
    for name, extreme, is_beyond in (
        ("min", torch.maximum, torch.lt),
        ("max", torch.minimum, torch.gt),
    ):
        limit = limits.get(name)
        if isinstance(limit, Tensor):
            x = extreme(x, limit)
        elif isinstance(limit, float) and math.isnan(limit):
            x = torch.full_like(x, limit)
        elif limit is not None:
            x = torch.where(is_beyond(x, limit), limit, x)
    return x


def _extreme_of_two(is_beyond: Callable[..., Tensor], x: Tensor, y: Tensor) -> Any:
    """Returns x where it is beyond y or nan, else y: torch-mlir drops a nan of one operand."""
    if not torch.result_type(x, y).is_floating_point:
        return NotImplemented
    return torch.where(is_beyond(x, y) | (x != x), x, y)


def _hardtanh(x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    return x.clamp(min_val, max_val)


def _rrelu(
    x: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *given: Any
) -> Tensor:
    """Applies the middle slope where none is drawn: outside of training."""
    return NotImplemented if training else torch.nn.functional.leaky_relu(x, (lower + upper) / 2)


def _rrelu_with_noise(x: Tensor, noise: Tensor, *given: Any) -> Tensor:
    return _rrelu(x, *given)


def _gelu(x: Tensor, *, approximate: str = "none") -> Any:
    """torch-mlir's constant for tanh is sqrt(2 / pi) to three digits."""
    if approximate != "tanh":
        return NotImplemented
    wide = widened(x)
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide * wide * wide)
    return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)


def _group_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch: int | SymInt,
    channels: int,
    size: int | SymInt,
    groups: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """torch's own form for the CPU takes what is left of two great numbers, and strides."""
    grouped = widened(x).unflatten(1, (groups, channels // groups))
    dims = list(range(2, grouped.dim()))
    variance, mean = torch.var_mean(grouped, dims, correction=0, keepdim=True)
    scale = torch.rsqrt(variance + eps)
    result = ((grouped - mean) * scale).flatten(1, 2)
    along = [channels, *[1] * (x.dim() - 2)]
    if weight is not None:
        result = result * weight.reshape(along)
    if bias is not None:
        result = result + bias.reshape(along)
    return result.to(x.dtype), mean.squeeze(dims).to(x.dtype), scale.squeeze(dims).to(x.dtype)


def _rsub(x: Tensor, y: float | SymInt, alpha: float = 1) -> Tensor:
    """torch-mlir takes no open size that a tensor is taken from."""
    if not isinstance(y, SymInt):
        return decomposition_table[_ATEN.rsub.Scalar](x, y, alpha)
    size: Any = y
    return (x if alpha == 1 else x * alpha).neg() + size


def _rms_norm(
    x: Tensor, shape: Sequence[int | SymInt], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Where no eps is given torch-mlir takes that of f64; open sizes it does not take."""
    wide = widened(x)
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    mean = (wide * wide).mean(list(range(-len(shape), 0)), keepdim=True)
    result = wide * torch.rsqrt(mean + eps)
    return (result if weight is None else result * weight).to(x.dtype)


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
        given: dict[str, Any] = {"correction": correction, "keepdim": keepdim}
        variances, means = zip(
            *(_var_mean(each, dim, **given) for each in parts_of(x)), strict=True
        )
        return variances[0] + variances[1], torch.complex(*means)
    if correction is not None and correction == int(correction):
        # Of an open size no other number is lowered.
        correction = int(correction)
    dims = list(dim) if dim else list(range(x.dim()))
    count = math.prod(x.shape[each] for each in dims)
    wide = widened(x)
    mean = wide.mean(dims, keepdim=True)
    apart = wide - mean
    total = (apart * apart).sum(dims, keepdim=keepdim)
    # Fewer elements than the correction give nan or inf, as 0 / 0 does.
    variance = total / max(count - (1 if correction is None else correction), 0)
    kept = mean if keepdim else mean.squeeze(dims)
    return variance.to(x.dtype), kept.to(x.dtype)


def _pow(x: Tensor, exponent: float) -> Tensor:
    """Small powers are products and roots, as torch computes them; all of integers are products."""
    if is_complex(x, exponent):
        return power_of_number(x, exponent)
    kind = torch.result_type(x, exponent)
    if x.dtype != kind:
        return torch.pow(x.to(kind), exponent)
    roots = {0.5: torch.sqrt, -0.5: torch.rsqrt, -1: torch.reciprocal}
    if x.is_floating_point() and exponent in roots:
        return roots[exponent](x)
    if x.is_floating_point() and exponent in (2, 3):
        wide = widened(x)
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
    if kind.is_complex and base != 0:
        return torch.exp(exponent * cmath.log(base))
    if kind.is_floating_point or kind.is_complex:
        return NotImplemented
    if base != 2:
        return torch.pow(torch.full((), base, dtype=kind, device=exponent.device), exponent)
    place = exponent.to(kind)
    shifted = torch.bitwise_left_shift(torch.ones_like(place), place.clamp(0, 63))
    return torch.where((place < 0) | (place >= torch.iinfo(kind).bits), 0, shifted)


def _pow_of_tensors(x: Tensor, y: Tensor) -> Tensor:
    if is_complex(x, y):
        result = torch.exp(y * torch.log(x))
        return torch.where((x == 0) & (parts_of(y)[0] > 0), 0.0, result)
    kind = torch.result_type(x, y)
    if kind.is_floating_point or kind is torch.bool:
        return NotImplemented
    return power(x, y)


def _zeros(size: Sequence[int | SymInt], **kwargs: Any) -> Tensor:
    """Memory that nothing is written to is filled: what is written to parts of it is then all."""
    kwargs.pop("memory_format", None)
    return torch.zeros([*size], **kwargs)


def _new_zeros(x: Tensor, size: Sequence[int | SymInt], **kwargs: Any) -> Tensor:
    return x.new_zeros([*size], **kwargs)


def _zeros_like(x: Tensor, **kwargs: Any) -> Tensor:
    kwargs.pop("memory_format", None)
    return torch.zeros_like(x, **kwargs)


def _isfinite(x: Tensor) -> Tensor:
    if x.is_complex():
        return x.real.isfinite() & x.imag.isfinite()
    return x.abs() < math.inf if x.is_floating_point() else torch.ones_like(x, dtype=torch.bool)


def _isinf(x: Tensor) -> Tensor:
    return x.real.isinf() | x.imag.isinf() if x.is_complex() else NotImplemented


def _vander(x: Tensor, N: int | SymInt | None = None, increasing: bool = False) -> Tensor:
    """torch's own form writes its columns one after another to what holds nothing."""
    count: Any = x.shape[0] if N is None else N
    if isinstance(count, SymInt):
        return NotImplemented
    wide = x.to(torch.promote_types(x.dtype, torch.int64)).unsqueeze(1)
    ones = torch.ones_like(wide)
    if count < 2:
        return ones[:, :count]
    columns = torch.cat([ones, wide.expand(-1, count - 1).cumprod(1)], 1)
    return columns if increasing else columns.flip(1)


def _extreme(along: Callable[..., Tensor], x: Tensor) -> Tensor:
    """torch-mlir's own of bytes ends the process."""
    return along(x) if x.dtype is torch.int8 else NotImplemented


def _eq(x: Tensor, y: Tensor) -> Tensor:
    """torch-mlir takes a tensor for equal to itself, which nan is not."""
    if is_complex(x, y):
        return ~torch.ne(x, y)
    if not x.is_floating_point() or not y.is_floating_point() or x.shape != y.shape:
        return NotImplemented
    return ~torch.ne(x, y)


def _comparisons() -> dict[Any, Callable[..., Any]]:
    """torch-mlir compares truths with numbers as numbers of one bit, of which true is -1, and
    complex numbers with none.
    """

    def of(operator: OpOverload) -> Callable[..., Any]:
        def compared(x: Tensor, y: float) -> Tensor:
            if is_complex(x, y):
                kind = torch.result_type(x, y)
                is_unequal = x != torch.full((), y, dtype=kind, device=x.device)
                return is_unequal if operator is _ATEN.ne.Scalar else ~is_unequal
            if x.dtype != torch.bool or isinstance(y, bool):
                return NotImplemented
            return operator(x.to(torch.result_type(x, y)), y)

        return compared

    names = ("eq", "ne", "lt", "le", "gt", "ge")
    return {getattr(_ATEN, name).Scalar: of(getattr(_ATEN, name).Scalar) for name in names}


def _truths() -> dict[Any, Callable[..., Any]]:
    """Of bytes torch gives bytes, where it gives truths of all else."""
    table = {**_unknown_operators(), **get_decomposition_table()}

    def of(operator: OpOverload) -> Callable[..., Any]:
        def reduced(x: Tensor, *given: Any, **named: Any) -> Any:
            if x.dtype is torch.uint8:
                return operator(x.bool(), *given, **named).to(torch.uint8)
            if x.is_complex():
                return operator(x.bool(), *given, **named)
            known = table.get(operator)
            return NotImplemented if known is None else known(x, *given, **named)

        return reduced

    every = (_ATEN.any, _ATEN.all)
    found = [getattr(each, name) for each in every for name in ("default", "dim", "dims")]
    return {operator: of(operator) for operator in found}


def _bytes_and_numbers() -> dict[Any, Callable[..., Any]]:
    """Returns operators that compute bytes in a wider type: torch-mlir crashes for bytes and a
    number, and cannot divide bytes by bytes. Quotients of floats that are rounded down are exact.
    """
    divisions = [_ATEN.div.Tensor_mode, _ATEN.div.Scalar_mode, _ATEN.floor_divide.default]
    table = {
        **_unknown_operators(),
        **get_decomposition_table(),
        **complex_number_decompositions(),
    }

    def wide(x: Any) -> Any:
        return x.to(torch.int8).short() if isinstance(x, Tensor) else (x + 128) % 256 - 128

    def of(operator: OpOverload) -> Callable[..., Any]:
        def computed(x: Any, y: Any, *given: Any, **named: Any) -> Any:
            is_small = isinstance(x, Tensor) and x.dtype is torch.int8 and isinstance(y, int)
            if is_small or (operator in divisions and torch.result_type(x, y) is torch.int8):
                found = operator(wide(x), wide(y), *given, **named)
                return found if found.is_floating_point() else found.to(torch.int8)
            is_floor = (
                named.get("rounding_mode") == "floor" or operator is _ATEN.floor_divide.default
            )
            if is_floor and operator in divisions and torch.result_type(x, y).is_floating_point:
                return floor_quotient(x, y)
            known = table.get(operator)
            return NotImplemented if known is None else known(x, y, *given, **named)

        return computed

    every = (_ATEN.mul, _ATEN.sub, _ATEN.remainder)
    found = [getattr(each, name) for each in every for name in ("Tensor", "Scalar")]
    return {operator: of(operator) for operator in (*found, *divisions)}


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


def _split_with_sizes(x: Tensor, sizes: Sequence[int | SymInt], dim: int = 0) -> list[Tensor] | Any:
    """Returns parts of open sizes as slices; torch-mlir lowers known sizes only."""
    if not any(isinstance(size, SymInt) for size in sizes):
        return NotImplemented
    found: list[Tensor] = []
    first: Any = 0
    for size in sizes:
        found.append(_ATEN.slice.Tensor(x, dim, first, first + size))
        first = first + size
    return found


def _is_left_open(size: int | SymInt) -> bool:
    return not isinstance(size, SymInt) and size == -1


def _alike(sizes: Sequence[int | SymInt], others: Sequence[int | SymInt]) -> int:
    """Returns how many of the sizes at the beginning are known to be the same."""
    count = 0
    for size, other in zip(sizes, others, strict=False):
        if not statically_known_true(size == other):
            break
        count += 1
    return count


def _view_of_bits(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns an element as several narrower ones, or several as one: the last dim is longer or
    shorter.

    Those of one width are left for the importer. The least bits come first.
    """
    if torch.bool in (x.dtype, dtype) or x.dtype == dtype:
        return NotImplemented
    if x.is_complex():
        return torch.view_as_real(x).flatten(-2).view(dtype)
    if dtype.is_complex:
        return torch.view_as_complex(x.view(dtype.to_real()).unflatten(-1, (-1, 2)))
    given, wanted = x.dtype.itemsize, dtype.itemsize
    if given == wanted:
        return NotImplemented
    bits = x.view(_INTEGERS[given])
    if given > wanted:
        parts = [
            bits.bitwise_right_shift(place * 8 * wanted).to(_INTEGERS[wanted])
            for place in range(given // wanted)
        ]
        return torch.stack(parts, -1).flatten(-2).view(dtype)
    mask = (1 << 8 * given) - 1
    wide = bits.unflatten(-1, (-1, wanted // given)).to(_INTEGERS[wanted]) & mask
    whole = wide[..., 0]
    for place in range(1, wanted // given):
        whole = whole | wide[..., place].bitwise_left_shift(place * 8 * given)
    return whole.view(dtype)


def _roll(x: Tensor, shifts: Sequence[int | SymInt], dims: Sequence[int] = ()) -> Tensor:
    """torch-mlir takes neither several dims nor none."""
    if not dims:
        return _ATEN.roll.default(x.reshape(-1), shifts, [0]).reshape(x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        size = x.shape[dim]
        if isinstance(size, SymInt) or isinstance(shift, SymInt):
            count: Any = size
            by: Any = shift
            x = x.index_select(dim, (torch.arange(count, device=x.device) - by) % count)
        elif size and shift % size:
            first = size - shift % size
            x = torch.cat([x.narrow(dim, first, size - first), x.narrow(dim, 0, first)], dim)
    return x.clone()


def _signbit(x: Tensor) -> Tensor:
    """torch-mlir makes a view of the bits of it, which it does not lower."""
    if x.is_floating_point():
        return x.view(_INTEGERS[x.dtype.itemsize]) < 0
    return torch.zeros_like(x) if x.dtype is torch.bool else x < 0


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


def _of_one(
    operator: OpOverload, x: Tensor, dim: int, *, dtype: torch.dtype | None = None
) -> Tensor:
    """Returns a sum or a product along the dim of a tensor that has none, or of complex numbers."""
    if x.is_complex() and operator is _ATEN.cumsum.default:
        return each_part(operator, x, dim)
    if not x.dim():
        return operator(x.unsqueeze(0), 0, dtype=dtype).squeeze(0)
    if x.is_complex():
        return in_steps(torch.mul, x, dim)
    if operator is _ATEN.cumprod.default and dtype is not None:
        # torch-mlir takes products of the type that torch has without one.
        return operator(x.to(dtype), dim).to(dtype)
    return NotImplemented


def _product(x: Tensor, y: Tensor) -> Any:
    """Returns products of bytes modulo 256, whose sums torch-mlir crashes at."""
    if x.dtype in (torch.int8, torch.uint8):
        return (x.int() @ y.int()).to(x.dtype)
    return product_of_complex(x, y)


def _nextafter(x: Tensor, y: Tensor) -> Tensor:
    """Adds 1 to the bits of each number, taken as an integer, or subtracts it."""
    x, y = torch.broadcast_tensors(x, y)
    bits = x.view(_INTEGERS[x.dtype.itemsize])
    away = torch.where((y > x) == (x > 0), 1, -1).to(bits.dtype)
    least = torch.where(y > 0, 1, torch.iinfo(bits.dtype).min + 1).to(bits.dtype)
    found = torch.where(x == 0, least, bits + away).view(x.dtype)
    return torch.where(x.isnan() | y.isnan(), x + y, torch.where(x == y, y, found))


def _frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """Reads the bits of the exponent. Subnormal numbers, which have none, are scaled first."""
    info = torch.finfo(x.dtype)
    bits = -int(math.log2(info.eps))
    raised = x.abs() < info.smallest_normal
    normal = torch.where(raised, x * 2.0**bits, x)
    kind = _INTEGERS[x.dtype.itemsize]
    bias = int(-math.log2(info.smallest_normal))
    whole = normal.view(kind)
    field = ((2 * bias + 3) << bits) & torch.iinfo(kind).max
    exponent = (whole & field) >> bits
    half = (whole & ~field) | (bias << bits)
    is_plain = (x != 0) & x.isfinite()
    found = torch.where(is_plain, half.view(x.dtype), x)
    exponent = exponent - bias - torch.where(raised, bits, 0)
    return found, torch.where(is_plain, exponent, 0).to(torch.int32)
