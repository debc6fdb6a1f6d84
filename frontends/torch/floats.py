"""Functions of two floats of which torch-mlir has approximations, or that lose a nan."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .complex_numbers import is_complex, logaddexp_of_complex
from .halves import HALVES, widened
from .integers import as_tensor, rest_of_integers

_ATEN = torch.ops.aten


def float_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of remainders, of distances and comparisons of two floats."""
    return {
        _ATEN.fmod.Tensor: _fmod,
        _ATEN.fmod.Scalar: _fmod,
        _ATEN.trunc.default: _trunc,
        _ATEN.isclose.default: _isclose,
        _ATEN.logaddexp.default: partial(_logaddexp, torch.exp, 1.0),
        _ATEN.logaddexp2.default: partial(_logaddexp, torch.exp2, 1 / math.log(2)),
        _ATEN.hypot.default: _hypot,
        _ATEN.copysign.Tensor: _copysign,
        _ATEN.copysign.Scalar: _copysign,
    }


def floor_quotient(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Returns the greatest whole number not above x / y, from the remainder, which is exact: the
    rounded quotient may be the whole number above, as that of 0.5f and 0.1f is.
    """
    kind = torch.result_type(x, y)
    # A number is not rounded to 16 bits.
    among = torch.float32 if kind in HALVES else kind
    wide, by = (as_tensor(each, among) for each in (x, y))
    rest = torch.fmod(wide, by)
    quotient = (wide - rest) / by
    quotient = torch.where((rest != 0) & ((rest < 0) != (by < 0)), quotient - 1, quotient)
    below = torch.floor(quotient)
    nearest = torch.where(quotient - below > 0.5, below + 1, below)
    rounded = wide / by
    whole = torch.where(quotient == 0, torch.copysign(quotient, rounded), nearest)
    return torch.where(by == 0, rounded, whole).to(kind)


def _fmod(x: Tensor, y: Tensor | float) -> Tensor:
    """torch-mlir's is x - trunc(x / y) * y, whose quotient and product are rounded; its remainder
    of the sign of the divisor is exact.
    """
    kind = torch.result_type(x, y)
    if not kind.is_floating_point:
        if kind.is_signed:
            return rest_of_integers(x, y)
        one = x.to(kind)
        return NotImplemented if isinstance(y, Tensor) else torch.fmod(one, as_tensor(y, kind))
    wide, by = (widened(as_tensor(each, kind)) for each in (x, y))
    return torch.copysign(torch.remainder(wide.abs(), by.abs()), wide).to(kind)


def _trunc(x: Tensor) -> Tensor:
    """torch-mlir's gives 0.0 of -0.0."""
    if not x.is_floating_point():
        return NotImplemented
    return torch.where(x < 0, torch.ceil(x), torch.floor(x))


def _isclose(
    x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Nothing but an equal infinity is close to one, and a nan to nothing but a nan."""
    close = x == y
    if equal_nan and (x.is_floating_point() or x.is_complex()):
        close = close | (x.isnan() & y.isnan())
    if rtol == 0 and atol == 0:
        return close
    one, other = (each.long() if each.dtype is torch.bool else each for each in (x, y))
    apart = (one - other).abs()
    return close | (apart.isfinite() & (apart <= atol + (rtol * other).abs()))


def _logaddexp(power: Callable[[Tensor], Tensor], scale: float, x: Tensor, y: Tensor) -> Tensor:
    """Without powers of what is large; torch-mlir's compares, and takes the number beside a nan."""
    if is_complex(x, y):
        return logaddexp_of_complex(x, y) if scale == 1 else NotImplemented
    kind = torch.result_type(x, y)
    one, other = (widened(as_tensor(each, kind)) for each in (x, y))
    more = torch.log1p(power(-(one - other).abs())) * scale
    is_infinite = (one == other) & one.isinf()
    return torch.where(is_infinite, one, torch.maximum(one, other) + more).to(kind)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """Without squares of what is large. An infinity is longer than a nan."""
    kind = torch.result_type(x, y)
    one, other = (widened(each.to(kind)).abs() for each in (x, y))
    most, least = torch.maximum(one, other), torch.minimum(one, other)
    ratio = torch.where(most == 0, 1.0, least / most)
    length = torch.where(most == 0, 0.0, most * (1 + ratio * ratio).sqrt())
    is_infinite = (one == math.inf) | (other == math.inf)
    return torch.where(is_infinite, math.inf, length).to(kind)


def _copysign(x: Tensor, y: Tensor | float) -> Tensor:
    kind = torch.result_type(x, y)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    size = x.to(kind).abs()
    if not isinstance(y, Tensor):
        return -size if math.copysign(1, y) < 0 else size
    return torch.where(torch.signbit(y), -size, size)
