"""What torch asks of sizes and elements while it exports, where the answer changes no result."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import sympy
import torch
import torch._meta_registrations
import torch._prims_common
import torch._refs
import torch.fx.experimental.symbolic_shapes
import torch.nn.modules.transformer
from torch import SymInt, Tensor, nn
from torch._C import DispatchKey
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.distributions import Distribution
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._sympy.functions import Max

from ...compiler.errors import UnsupportedError
from .linear_algebra import covariance, matrix_norm, norm
from .size_numbers import root
from .user_errors import stack_position

_CONTIGUITY = "check_contiguous_sizes_strides"
_CHANNELS_LAST = {
    "is_channels_last_contiguous_2d": (0, 2, 3, 1),
    "is_channels_last_contiguous_3d": (0, 2, 3, 4, 1),
}
_CAUSALITY = "_detect_is_causal_mask"
_POOLED_SIZE = "pooling_output_shape_pad_lr"
_BOUNDS = "bound_sympy"
_VIEW = "_reshape_view_helper"
_META = "prim_meta_impl"
_CONVERSION = "_apply"


@contextmanager
def without_needless_guards() -> Generator[None]:
    """Answers these questions by what is known of every size: what is asked becomes a limit.

    A slice `table[:length]` of a table of 64 rows is contiguous if the length is 64, so torch
    excludes that length; the same goes for lying with the channels last. A view asks which dims of
    it are made of which, one after another. Where a window may begin beyond the input, pools with
    ceil_mode ask whether one does. nn.Transformer compares the mask that it is given with a causal
    one. Norms by singular values fix sizes. Distances are computed in another way from 25 rows on.
    Distributions look whether their parameters, and what they are asked for, may be such.
    math.sqrt takes the one size that is given. A dim that is split is divided by the first part.
    Modules convert their parameters to what they are. A size that is padded up to the window is as
    long as the window.
    """
    views: Any = getattr(torch._refs, _VIEW, None)
    split: Any = getattr(torch.ops.prims.split_dim.default, _META, None)
    symbolic: Any = torch.fx.experimental.symbolic_shapes
    bounds: Any = getattr(symbolic, _BOUNDS, None)
    with ExitStack() as stack:
        stack.enter_context(made_of(_WITHOUT_ASKING))
        stack.enter_context(mock.patch.object(math, "sqrt", root))
        stack.enter_context(mock.patch.object(Distribution, "_validate_args", False))
        for module, name, answer in (
            (torch._prims_common, _CONTIGUITY, is_known_contiguous),
            *(
                (torch._prims_common, name, partial(_is_known_in_order, order))
                for name, order in _CHANNELS_LAST.items()
            ),
            (torch._refs, _VIEW, partial(_view, views)),
            (torch._meta_registrations, _POOLED_SIZE, pooled_size),
            (torch.nn.modules.transformer, _CAUSALITY, _is_said_causal),
            (torch.ops.prims.split_dim.default, _META, partial(_split, split)),
            (nn.Module, _CONVERSION, _converted),
            (symbolic, _BOUNDS, partial(_bounds, bounds)),
        ):
            # Other versions of torch may have other names, and ask.
            if hasattr(module, name):
                stack.enter_context(mock.patch.object(module, name, answer))
        yield


@contextmanager
def made_of(decompositions: Mapping[Any, Callable[..., Any]]) -> Generator[None]:
    """Lets torch.export see these operators as what they are made of here, not in torch."""
    key = DispatchKey.CompositeImplicitAutograd
    before = {operator: operator.py_kernels.get(key) for operator in decompositions}
    try:
        for operator, decomposition in decompositions.items():
            _set_kernel(operator, key, decomposition)
        yield
    finally:
        for operator, kernel in before.items():
            _set_kernel(operator, key, kernel)


def _set_kernel(operator: Any, key: DispatchKey, kernel: Callable[..., Any] | None) -> None:
    if kernel is None:
        operator.py_kernels.pop(key, None)
    else:
        operator.py_kernels[key] = kernel
    operator._dispatch_cache.clear()


def _distances(x: Tensor, y: Tensor, p: float = 2, compute_mode: int | None = None) -> Tensor:
    return torch.ops.aten._cdist_forward.default(x, y, p, compute_mode)


def _greatest_in_windows(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    """torch makes a constant of the length."""
    apart = stride or kernel
    found = torch.ops.aten.max_pool2d.default(
        x.unsqueeze(-2), [1, *kernel], [1, *apart], [0, *padding], [1, *dilation], ceil_mode
    )
    return found.squeeze(-2)


def _correlation(x: Tensor) -> Tensor:
    found = covariance(x)
    if not found.dim():
        return found / found
    apart = found.diagonal().sqrt()
    return (found / apart.unsqueeze(1) / apart).clamp(-1, 1)


_WITHOUT_ASKING: dict[Any, Callable[..., Any]] = {
    torch.ops.aten.cov.default: covariance,
    torch.ops.aten.corrcoef.default: _correlation,
    torch.ops.aten.linalg_norm.default: norm,
    torch.ops.aten.linalg_norm.ord_str: norm,
    torch.ops.aten.linalg_matrix_norm.default: matrix_norm,
    torch.ops.aten.linalg_matrix_norm.str_ord: matrix_norm,
    torch.ops.aten.cdist.default: _distances,
    torch.ops.aten.max_pool1d.default: _greatest_in_windows,
}


def is_known_contiguous(
    sizes: Sequence[Any], strides: Sequence[Any], false_if_dde: bool = False
) -> bool:
    """How a tensor lies is no matter here: what may be contiguous need not be."""
    # torch writes the strides of sizes that may be 0 with a factor of 1 in their place.
    expected: Any = 1
    never_zero: Any = 1
    for size, stride in reversed(tuple(zip(sizes, strides, strict=True))):
        if statically_known_true(size == 1):
            continue
        if not (
            statically_known_true(stride == expected) or statically_known_true(stride == never_zero)
        ):
            return False
        expected = expected * size
        never_zero = never_zero * torch.sym_max(size, 1)
    return True


def _is_known_in_order(order: Sequence[int], x: Tensor, false_if_dde: bool = False) -> bool:
    """Returns whether the dims are known to lie so, the last of the order without gaps."""
    if x.dim() != len(order):
        return False
    sizes, strides = x.shape, x.stride()
    return is_known_contiguous([sizes[i] for i in order], [strides[i] for i in order])


def _view(otherwise: Callable[..., Tensor], x: Tensor, *shape: Any, allow_copy: bool) -> Tensor:
    """Returns a view with the sizes that it is given, where as many elements are known.

    Dims at the beginning that stay may lie in any way.
    """
    sizes: Any = torch._prims_common.extract_shape_from_varargs(shape, validate=False)
    if not allow_copy and any(isinstance(each, SymInt) for each in (*x.shape, *sizes)):
        sizes = [*torch._prims_common.infer_size(sizes, x.numel())]
        first = 0
        while first < min(len(sizes), x.dim()) and are_equal(sizes[first], x.shape[first]):
            first += 1
        given, strides = x.shape[first:], x.stride()[first:]
        is_whole = are_equal(math.prod(sizes[first:]), math.prod(given))
        if is_whole and is_known_contiguous(given, strides):
            made = torch._prims_common.make_contiguous_strides_for(sizes[first:])
            return x.as_strided(sizes, [*x.stride()[:first], *made])
    return otherwise(x, *shape, allow_copy=allow_copy)


def _split(otherwise: Callable[..., Tensor], x: Tensor, dim: int, first: Any) -> Tensor:
    """Splits a dim in two, where the first divides it as sums of products do."""
    size: Any = x.shape[dim]
    node: Any = next((each.node for each in (first, size) if isinstance(each, SymInt)), None)
    whole, part = (each.node.expr if isinstance(each, SymInt) else each for each in (size, first))
    symbols: Any = sympy.Add(whole, part).free_symbols
    if node is None or not all(sympy.sympify(x).is_polynomial(*symbols) for x in (whole, part)):
        return otherwise(x, dim, first)
    rest, divisor = sympy.fraction(sympy.cancel(whole / part))
    if divisor != 1:
        return otherwise(x, dim, first)
    inner: Any = int(rest) if rest.is_Integer else node.shape_env.create_symintnode(rest, hint=None)
    sizes, strides = list(x.shape), list(x.stride())
    sizes[dim : dim + 1] = first, inner
    strides[dim : dim + 1] = strides[dim] * inner, strides[dim]
    return x.as_strided(sizes, strides, x.storage_offset())


def _bounds(otherwise: Callable[..., Any], expression: Any, ranges: Any = None) -> Any:
    """Returns the range of an expression: that of torch, within that of its sums of maxima."""
    found = otherwise(expression, ranges)
    if found.is_singleton() or not expression.has(Max):
        return found
    spread = _with_sums_in_maxima(expression, {})
    return found if spread == expression else found & otherwise(spread, ranges)


def _with_sums_in_maxima(expression: Any, known: dict[Any, Any]) -> Any:
    """Returns the expression with `size + max(0, window - size)` as `max(size, window)`.

    The range of the one begins where the size's does, that of the other at the window or beyond.
    """
    if expression in known or not expression.has(Max):
        return known.get(expression, expression)
    parts = [_with_sums_in_maxima(each, known) for each in expression.args]
    maxima = [each for each in parts if isinstance(each, Max)]
    if expression.is_Add and len(maxima) == 1:
        rest = sympy.Add(*(each for each in parts if each is not maxima[0]))
        found: Any = Max(*(rest + each for each in maxima[0].args))
    else:
        found = expression.func(*parts)
    return known.setdefault(expression, found)


def _converted(module: nn.Module, convert: Callable[[Tensor], Tensor], *_: Any) -> nn.Module:
    """Returns a module that a call converts; torch fails even where nothing is to be done."""
    for held in (*module.parameters(), *module.buffers()):
        with unset_fake_temporarily(), disable_proxy_modes_tracing():
            like = torch.empty((), dtype=held.dtype, device=held.device)
            found = convert(like)
        if (found.dtype, found.device) != (like.dtype, like.device):
            raise UnsupportedError(
                f"the model converts parameters of {type(module).__name__} from {like.dtype} on "
                f"{like.device} to {found.dtype} on {found.device} while it is called",
                position=stack_position("".join(traceback.format_stack())),
                stage="import",
                hint="convert the module before it is compiled, or the tensors where they are used",
            )
    return module


def are_equal(one: Any, other: Any) -> bool:
    """Returns whether sizes are known to be equal, as they stand or as sums of products."""
    if statically_known_true(one == other):
        return True
    both = [each.node.expr if isinstance(each, SymInt) else each for each in (one, other)]
    return sympy.expand(both[0] - both[1]) == 0


def pooled_size(
    size: Any, window: int, before: int, after: int, stride: int, dilation: int, ceil_mode: bool
) -> Any:
    """Returns how many windows there are; none begins beyond what is before the end."""
    width = dilation * (window - 1) + 1
    padded = size + before + after - width
    if not ceil_mode:
        return padded // stride + 1
    count = (padded + stride - 1) // stride + 1
    if stride + after <= width:
        return count
    return torch.sym_min(count, (size + before - 1) // stride + 1)


def _is_said_causal(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """Returns a hint: the mask is applied in any case."""
    return is_causal is True
