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
from .activations import activation_decompositions
from .attention import attention
from .backward import backward_decompositions
from .bessel import bessel_decompositions
from .bits import bit_decompositions
from .complex_numbers import (
    complex_number_decompositions,
    each_part,
    in_steps,
    is_complex,
    parts_of,
    power_of_number,
    product_of_complex,
)
from .convolutions import convolution_decompositions
from .counting import counting_decompositions
from .custom_operators import quantized_products
from .degenerate import without_dims
from .floats import float_decompositions, floor_quotient
from .generators import random_decompositions
from .grouped import grouped_decompositions
from .halves import HALVES, widened
from .integers import (
    as_tensor,
    floor_quotient_of_integers,
    integer_decompositions,
    is_signed_integer,
    power,
    remainder_of_integers,
)
from .jacobi import jacobi_decompositions
from .linear_algebra import linear_algebra_decompositions
from .losses import loss_decompositions
from .means import mean_decompositions
from .normalization import normalization_decompositions
from .ordering import ordering_decompositions
from .paddings import padding_decompositions
from .places import place_decompositions
from .pools import pool_decompositions
from .recurrent import recurrent_decompositions
from .resampling import resampling_decompositions
from .running import running_decompositions
from .signal_windows import window_decompositions
from .special import special_decompositions
from .strides import as_strided
from .transforms import transform_decompositions

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
        **window_decompositions(),
        **random_decompositions(),
        **special_decompositions(),
        **bessel_decompositions(),
        **resampling_decompositions(),
        **loss_decompositions(),
        **padding_decompositions(),
        **pool_decompositions(),
        **backward_decompositions(),
        **mean_decompositions(),
        **counting_decompositions(),
        **integer_decompositions(),
        **grouped_decompositions(),
        **linear_algebra_decompositions(),
        **jacobi_decompositions(),
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
        **_limits(),
        _ATEN.rsub.Scalar: _rsub,
        torch.ops.prims.scalar_tensor.default: _scalar_tensor,
        **place_decompositions(),
        **normalization_decompositions(),
        **bit_decompositions(),
        **activation_decompositions(),
        **convolution_decompositions(),
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
        _ATEN.split_with_sizes.default: _split_with_sizes,
        _ATEN.repeat.default: _repeat,
        _ATEN.empty.memory_format: _zeros,
        _ATEN.new_empty.default: _new_zeros,
        _ATEN.empty_like.default: _zeros_like,
        # torch-mlir's own end the process, or are wrong.
        **{
            each: decomposition_table[each] for each in (_ATEN.im2col.default, _ATEN.col2im.default)
        },
        _ATEN.cumsum.default: partial(_of_one, _ATEN.cumsum.default),
        _ATEN.cumprod.default: partial(_of_one, _ATEN.cumprod.default),
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
        _ATEN.remainder.Scalar_Tensor: partial(_of_number, _ATEN.remainder.Tensor),
    }
    for name in ("and", "or", "xor"):
        operator = getattr(_ATEN, f"bitwise_{name}")
        found[operator.Scalar] = partial(_of_number, operator.Tensor)
        found[operator.Scalar_Tensor] = partial(_of_number, operator.Tensor)
    return found


def _of_number(operator: Callable[..., Tensor], x: Any, y: Any) -> Tensor:
    kind = torch.result_type(x, y)
    return operator(*(as_tensor(each, kind) for each in (x, y)))


def _cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """torch-mlir takes no tensors that are known to have no elements."""
    some = [x for x in tensors if all(isinstance(size, SymInt) or size for size in x.shape)]
    if len(some) == len(tensors) or not some:
        return NotImplemented
    kind = reduce(torch.promote_types, (x.dtype for x in tensors))
    # What has one dim and no elements counts for any dims.
    return (torch.cat(some, dim) if len(some) > 1 else some[0].clone()).to(kind)


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


def _hardtanh(x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    return x.clamp(min_val, max_val)


def _rsub(x: Tensor, y: float | SymInt, alpha: float = 1) -> Tensor:
    """torch-mlir takes no open size that a tensor is taken from, and torch makes an f32 of numbers
    for any type: but of one to add to 16 bits.
    """
    if not isinstance(y, SymInt) and x.dtype not in HALVES:
        return _of_number(partial(_ATEN.sub.Tensor, alpha=alpha), y, x)
    size: Any = y
    return (x if alpha == 1 else x * alpha).neg() + size


def _scalar_tensor(number: float, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.full((), number, dtype=dtype)


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
    number, and cannot divide bytes by bytes. Quotients that are rounded down are exact.
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
            kind = torch.result_type(x, y)
            if is_floor and operator in divisions and kind.is_floating_point:
                return floor_quotient(x, y)
            if is_floor and operator in divisions and is_signed_integer(kind):
                return floor_quotient_of_integers(x, y)
            if operator is _ATEN.remainder.Tensor and is_signed_integer(kind):
                return remainder_of_integers(x, y)
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
    ones = [axis for axis, each in enumerate(middle, first) if _is_one(each)]
    kept = [each for axis, each in enumerate(wanted) if axis not in ones]
    if ones and kept:
        # What is split off would not be known to be of size 1.
        if len(kept) != len(given) or _alike(given, kept) != len(kept):
            x = x.view(kept)
        for axis in ones:
            x = x.unsqueeze(axis)
        return x
    if not merged or not middle:
        # A dim of size 1 begins or ends.
        first, last = (first - 1, last) if first else (first, last - 1)
        middle = wanted[first : len(wanted) - last]
        merged = len(given) - first - last
    if merged > 1:
        x = _PRIMS.collapse.default(x, first, first + merged - 1)
    for axis, each in enumerate(middle[:-1], first):
        x = _PRIMS.split_dim.default(x, axis, each)
    return x


def _repeat(x: Tensor, repeats: Sequence[int | SymInt]) -> Tensor:
    """Returns open sizes repeated; torch-mlir divides by their product, which may be 0."""
    if not any(isinstance(size, SymInt) for size in x.shape):
        return NotImplemented
    for _ in range(len(repeats) - x.dim()):
        x = x.unsqueeze(0)
    for axis, times in enumerate(repeats):
        if isinstance(times, SymInt) or times != 1:
            sizes = [*x.shape[:axis], times, *x.shape[axis:]]
            x = _PRIMS.collapse.default(x.unsqueeze(axis).expand(sizes), axis, axis + 1)
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


def _is_one(size: int | SymInt) -> bool:
    return not isinstance(size, SymInt) and size == 1


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
