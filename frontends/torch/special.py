"""Functions of probability theory that torch-mlir has none for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims
# Lanczos's series for the gamma function with g = 7, of nine terms: good to 15 digits.
_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)
# Of the asymptotic series of digamma: Bernoulli numbers B(2n) / 2n, from the first on.
_BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
# log(erfc(z)) + z^2 - log(t), t = 1 / (1 + z / 2), as a Chebyshev series in 2 t - 1, z >= 0. Fitted
# at 64 Chebyshev nodes with 40 digits; what is left out is less than 1e-16.
_ERFC = (
    -0.6513268598908547,
    0.6419697923564902,
    0.019476473204185836,
    -0.009561514786808632,
    -0.0009465953444820369,
    0.00036683949785276145,
    4.252332480690777e-05,
    -2.0278578112534242e-05,
    -1.6242900046470256e-06,
    1.3036558355805232e-06,
    1.5626441722066142e-08,
    -8.523809591492654e-08,
    6.5290544390988515e-09,
    5.059343495551469e-09,
    -9.91364156493033e-10,
    -2.273651222931836e-10,
    9.646791102015527e-11,
    2.3940380830391146e-12,
    -6.886027526497553e-12,
    8.944879273090725e-13,
    3.130921399342958e-13,
    -1.1270822361367252e-13,
    3.810905255189232e-16,
    7.106097613609237e-15,
    -1.5230282014571043e-15,
    -9.457494571291233e-17,
    1.210237189224279e-16,
)
# Digamma's argument is raised by so much, where its series is short.
_RAISED = 8


def special_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of the logarithm of the gamma function and of its derivative.

    And of what is left of the error function, scaled or not, and of its inverse, which is also
    that of the normal distribution.
    """
    return {
        _ATEN.lgamma.default: _lgamma,
        _ATEN.digamma.default: _digamma,
        _PRIMS.erfc.default: partial(in_f64, _erfc),
        _ATEN.erfc.default: partial(in_f64, _erfc),
        _PRIMS.erfcx.default: partial(in_f64, _erfcx),
        _ATEN.special_erfcx.default: partial(in_f64, _erfcx),
        _ATEN.erfinv.default: partial(in_f64, _erfinv),
        _ATEN.special_erfinv.default: partial(in_f64, _erfinv),
        _ATEN.special_ndtri.default: partial(in_f64, _ndtri),
        _PRIMS.ndtri.default: partial(in_f64, _ndtri),
    }


def in_f64(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """In f64, as differences of what is nearly equal are taken."""
    kind = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    return function(x.to(kind).double()).to(kind)


def _lgamma(x: Tensor) -> Tensor:
    return in_f64(_lgamma_of, x)


def _lgamma_of(x: Tensor) -> Tensor:
    """Below 1/2 by the value at 1 - x; a pole is at each whole number that is not positive."""
    is_low = x < 0.5
    y = torch.where(is_low, 1 - x, x) - 1
    series = torch.full_like(y, _LANCZOS[0])
    for place, factor in enumerate(_LANCZOS[1:], 1):
        series = series + factor / (y + place)
    base = y + 7.5
    # Two terms of infinite size would be nan.
    value = (y + 0.5) * (base.log() - 1) - 7 + 0.5 * math.log(2 * math.pi) + series.log()
    value = torch.where(y == math.inf, math.inf, value)
    mirrored = math.log(math.pi) - (math.pi * (x - x.round())).sin().abs().log() - value
    result = torch.where(is_low, mirrored, value)
    return torch.where(is_low & (x == x.floor()) | (x.abs() == math.inf), math.inf, result)


def _digamma(x: Tensor) -> Tensor:
    return in_f64(_digamma_of, x)


def _digamma_of(x: Tensor) -> Tensor:
    """Below 1/2 by the value at 1 - x; a pole at 0 has a sign, those below have none."""
    is_low = x < 0.5
    y = torch.where(is_low, 1 - x, x)
    lowered = torch.zeros_like(y)
    for step in range(_RAISED):
        lowered = lowered + 1 / (y + step)
    raised = y + _RAISED
    square, power = 1 / (raised * raised), 1 / (raised * raised)
    series = torch.zeros_like(y)
    for number in _BERNOULLI:
        series = series + number * power
        power = power * square
    value = raised.log() - 0.5 / raised - series - lowered
    turn = math.pi * (x - x.round())
    result = torch.where(is_low, value - math.pi * turn.cos() / turn.sin(), value)
    pole = torch.where(x == 0, torch.copysign(torch.full_like(x, math.inf), -x), math.nan)
    return torch.where(is_low & (x == x.floor()), pole, result)


def _erfc(x: Tensor) -> Tensor:
    size = x.abs()
    upper = torch.exp(-size * size) * _scaled_erfc(size)
    return torch.where(x < 0, 2 - upper, upper)


def _erfcx(x: Tensor) -> Tensor:
    upper = _scaled_erfc(x.abs())
    return torch.where(x < 0, 2 * torch.exp(x * x) - upper, upper)


def _scaled_erfc(size: Tensor) -> Tensor:
    """exp(x^2) erfc(x), of no x < 0, by Clenshaw's sum."""
    t = 1 / (1 + size / 2)
    twice = 4 * t - 2
    last, before = torch.zeros_like(t), torch.zeros_like(t)
    for factor in _ERFC[:0:-1]:
        last, before = twice * last - before + factor, last
    return t * torch.exp(twice / 2 * last - before + _ERFC[0])


def _erfinv(x: Tensor) -> Tensor:
    inside = torch.where(x.abs() < 1, x, 0.0)
    found = _inverse(inside, 1 - inside.abs())
    ends = torch.where(x.abs() == 1, torch.copysign(torch.full_like(x, math.inf), x), found)
    return torch.where(x.abs() <= 1, ends, math.nan)


def _ndtri(x: Tensor) -> Tensor:
    """Of what is left of the nearer end, so that small probabilities have all their digits."""
    is_inside = (x > 0) & (x < 1)
    low = torch.where(is_inside, x, 0.5)
    left = 2 * torch.minimum(low, 1 - low)
    found = math.sqrt(2) * _inverse(torch.where(low < 0.5, left - 1, 1 - left), left)
    ends = torch.where(x == 0, -math.inf, torch.where(x == 1, math.inf, math.nan))
    return torch.where(is_inside, found, ends)


def _inverse(inside: Tensor, left: Tensor) -> Tensor:
    """Returns the inverse of the error function, where `left` is 1 - |inside|.

    Winitzki's approximation, and three of Halley's steps, of which each triples the digits.
    """
    log = torch.where(left < 0.5, (left * (2 - left)).log(), torch.log1p(-inside * inside))
    half = 2 / (math.pi * 0.147) + log / 2
    # A difference of like numbers where the argument is small, as a quotient.
    square = -log / 0.147 / ((half * half - log / 0.147).sqrt() + half)
    y = torch.copysign(square.clamp(min=0).sqrt(), inside)
    sign = torch.where(inside < 0, -1.0, 1.0)
    for _ in range(3):
        # What is left over of a large argument, of erfc: erf has no digits there.
        outer = (left - _erfc(y.abs())) * sign
        apart = torch.where(y.abs() < 0.5, torch.erf(y) - inside, outer)
        apart = apart / (2 / math.sqrt(math.pi) * torch.exp(-y * y))
        y = y - apart / (1 + y * apart)
    return y
