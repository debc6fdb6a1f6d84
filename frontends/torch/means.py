"""Means of 16-bit elements whose number the elements' type does not hold.

torch divides the sum before it rounds to the type. torch-mlir rounds the number of elements to it
too: of 65520 elements and more it is infinite in f16, and the mean 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor

from .complex_numbers import complex_number_decompositions
from .halves import HALVES, widened
from .pools import ADAPTIVE_MEANS, pool_decompositions

_ATEN = torch.ops.aten
# Where the divisor of an average pool is, if it is given by its place, after the window's size.
_DIVISOR_PLACE = 4


def mean_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of means and average pools."""
    others = {**complex_number_decompositions(), **pool_decompositions()}
    means = (_ATEN.mean.default, _ATEN.mean.dim)
    # A pool of one dim is made one of two.
    pools = {_ATEN.avg_pool2d.default: 2, _ATEN.avg_pool3d.default: 3}
    return {
        **{each: partial(_mean, each, others[each]) for each in means},
        **{each: partial(_pool, each, others[each], dims) for each, dims in pools.items()},
        **{
            each: partial(_adaptive, each, others[each], dims)
            for each, dims in ADAPTIVE_MEANS.items()
        },
    }


def _mean(
    operator: Any, otherwise: Callable[..., Any], x: Tensor, *given: Any, **named: Any
) -> Any:
    dims = given[0] if given else named.get("dim")
    sizes = x.shape if not dims else [x.shape[each] for each in dims]
    if named.get("dtype") not in (None, x.dtype) or _is_held(math.prod(sizes), x):
        return otherwise(x, *given, **named)
    named.pop("dtype", None)
    return operator(widened(x), *given, **named).to(x.dtype)


def _pool(
    operator: Any,
    otherwise: Callable[..., Any],
    dims: int,
    x: Tensor,
    kernel_size: Sequence[int],
    *given: Any,
    **named: Any,
) -> Any:
    places = given[_DIVISOR_PLACE : _DIVISOR_PLACE + 1] or (named.get("divisor_override"),)
    windows = list(kernel_size) if len(kernel_size) > 1 else [kernel_size[0]] * dims
    if _is_held(places[0] or math.prod(windows), x):
        return otherwise(x, kernel_size, *given, **named)
    return operator(widened(x), kernel_size, *given, **named).to(x.dtype)


def _adaptive(
    operator: Any, otherwise: Callable[..., Any], dims: int, x: Tensor, output_size: Sequence[Any]
) -> Any:
    sizes = zip(x.shape[-dims:], output_size, strict=True)
    if _is_held(math.prod(size // out if out else 0 for size, out in sizes), x):
        return otherwise(x, output_size)
    return operator(widened(x), output_size).to(x.dtype)


def _is_held(count: int | SymInt, x: Tensor) -> bool:
    """Returns whether the type of `x` has the number `count`; an open one may be any."""
    if x.dtype not in HALVES:
        return True
    if isinstance(count, SymInt):
        return False
    odd = count // (count & -count or 1)
    return odd.bit_length() <= HALVES[x.dtype] and count <= torch.finfo(x.dtype).max
