"""Bessel functions, Riemann's zeta function and its like, and polynomials, by what defines them.

All are computed in f64. Compared with 30 digits the Bessel functions of real arguments below 1000
are within 4e-14, absolutely where they oscillate and relatively where they do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from .special import in_f64

_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims
_EULER = 0.57721566490153286
# Up to here the functions are sums or integrals, from here on series in 1 / x, whose least term is
# e^-2x.
_FAR_GROWING, _FAR_WAVING = 20.0, 25.0
# How many terms are left when the next is less than a rounding error, at these places.
_TERMS_GROWING, _TERMS_FAR = 52, 40
# An integral over half a turn is a mean of so many values; J of 64 and more is below 1e-18.
_ANGLES = 64
_MOST_ORDER = 30
# K from 2 on: cosh of what lies beyond is so large that nothing is added.
_STEP, _STEPS = 0.15, 26
# Bernoulli numbers B(2n) / (2n)!, from the first on.
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
)
# Zeta's sum is left to its integral from here on, and at most after so many terms.
_RAISED, _MOST_RAISED = 10, 40


def bessel_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of these functions."""
    of_one: dict[str, Callable[[Tensor], Tensor]] = {
        "bessel_j0": partial(_waving, 0),
        "bessel_j1": partial(_waving, 1),
        "bessel_y0": partial(_second_waving, 0),
        "bessel_y1": partial(_second_waving, 1),
        "modified_bessel_i0": partial(_growing, 0, scaled=False),
        "modified_bessel_i1": partial(_growing, 1, scaled=False),
        "modified_bessel_k0": partial(_falling, 0, scaled=False),
        "modified_bessel_k1": partial(_falling, 1, scaled=False),
        "scaled_modified_bessel_k0": partial(_falling, 0, scaled=True),
        "scaled_modified_bessel_k1": partial(_falling, 1, scaled=True),
        "spherical_bessel_j0": _spherical,
        "i0e": partial(_growing, 0, scaled=True),
        "i1": partial(_growing, 1, scaled=False),
        "i1e": partial(_growing, 1, scaled=True),
    }
    found = {getattr(_ATEN, f"special_{name}").default: each for name, each in of_one.items()}
    found[_ATEN.i0.default] = of_one["modified_bessel_i0"]
    for name in ("i0", "i0e", "i1", "i1e", "j0", "j1"):
        whole = {"i0": "modified_bessel_i0", "j0": "bessel_j0", "j1": "bessel_j1"}.get(name, name)
        found[getattr(_PRIMS, f"bessel_{name}").default] = of_one[whole]
    found[_PRIMS.spherical_bessel_j0.default] = _spherical
    polynomials = {
        f"special_{name}": partial(_polynomial, each) for name, each in _POLYNOMIALS.items()
    }
    return {
        **{operator: partial(in_f64, function) for operator, function in found.items()},
        **{getattr(_ATEN, name).n_scalar: each for name, each in polynomials.items()},
        _ATEN.polygamma.default: _polygamma,
        _ATEN.special_zeta.default: _zeta_of_tensors,
        _ATEN.special_zeta.self_scalar: _zeta_of_tensors,
        _ATEN.special_zeta.other_scalar: _zeta_of_tensors,
        _PRIMS.zeta.default: _zeta_of_tensors,
    }


def _series(factors: Sequence[float], x: Tensor) -> Tensor:
    """The sum of each factor times the power of `x` that is its place."""
    total = torch.full_like(x, factors[-1])
    for factor in factors[-2::-1]:
        total = total * x + factor
    return total


def _far(order: int, count: int) -> list[float]:
    """Factors of 1 / x ** k in the series of all of these functions for large arguments."""
    steps = ((4 * order**2 - (2 * k - 1) ** 2) / (8 * k) for k in range(1, count))
    return [*accumulate(steps, lambda x, y: x * y, initial=1.0)]


def _powers(order: int, count: int) -> list[float]:
    """Factors of (x / 2) ** 2k in (x / 2) ** -order I(x)."""
    steps = (1 / (k * (k + order)) for k in range(1, count))
    return [*accumulate(steps, lambda x, y: x * y, initial=1.0)]


def _growing(order: int, x: Tensor, *, scaled: bool) -> Tensor:
    """I of order 0 or 1, times e^-|x| where it is scaled."""
    size = x.abs()
    half = size.clamp(max=_FAR_GROWING) / 2
    near = _series(_powers(order, _TERMS_GROWING), half * half) * half**order
    large = size.clamp(min=_FAR_GROWING)
    signs = [each * (-1) ** k for k, each in enumerate(_far(order, _TERMS_FAR))]
    far = _series(signs, 1 / large) / (2 * math.pi * large).sqrt()
    if scaled:
        near = near * (-2 * half).exp()
    else:
        # A power of the half twice, as the whole may be infinite where the product is not.
        far = far * (large / 2).exp() * (large / 2).exp()
    found = torch.where(size > _FAR_GROWING, far, near)
    if not scaled:
        found = torch.where(size == math.inf, math.inf, found)
    found = torch.where(x.isnan(), math.nan, found)
    return torch.where(x < 0, -found, found) if order else found


def _angles() -> Iterable[tuple[float, float]]:
    """Angles of the first quarter, in the middles of equal parts, and what each counts."""
    return ((math.pi * (place + 0.5) / _ANGLES, 2 / _ANGLES) for place in range(_ANGLES // 2))


def _mean_of_waves(order: int, weight: Callable[[float], float], x: Tensor) -> Tensor:
    """The mean over half a turn of a weight times cos (order 0) or sin of x sin(angle)."""
    total = torch.zeros_like(x)
    for angle, count in _angles():
        inner = x * math.sin(angle)
        total = total + (inner.sin() if order else inner.cos()) * (weight(angle) * count)
    return total


def _far_waves(order: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """J and Y for large arguments."""
    factors = _far(order, _TERMS_FAR)
    square, inverse = 1 / (x * x), 1 / x
    even = _series([each * (-1) ** k for k, each in enumerate(factors[::2])], square)
    odd = _series([each * (-1) ** k for k, each in enumerate(factors[1::2])], square) * inverse
    length = (2 / (math.pi * x)).sqrt()
    # cos and sin of x - (2 order + 1) pi / 4, without a difference of large numbers.
    root = math.sqrt(0.5)
    plus, minus = (x.sin() + x.cos()) * root, (x.sin() - x.cos()) * root
    cosine, sine = (minus, -plus) if order else (plus, minus)
    return length * (even * cosine - odd * sine), length * (even * sine + odd * cosine)


def _waving(order: int, x: Tensor) -> Tensor:
    """J of order 0 or 1."""
    size = x.abs()
    near = _near_waving(order, size.clamp(max=_FAR_WAVING))
    finite = torch.where(size == math.inf, _FAR_WAVING, size)
    far = _far_waves(order, finite.clamp(min=_FAR_WAVING))[0]
    found = torch.where(size > _FAR_WAVING, far, near)
    found = torch.where(size == math.inf, 0.0, found)
    found = torch.where(x.isnan(), math.nan, found)
    return torch.where(x < 0, -found, found) if order else found


def _near_waving(order: int, x: Tensor) -> Tensor:
    return _mean_of_waves(order, math.sin if order else lambda _: 1.0, x)


def _second_waving(order: int, x: Tensor) -> Tensor:
    """Y of order 0 or 1: by Neumann's series of J of higher orders, each of them a mean."""
    near = x.clamp(1e-300, _FAR_WAVING)
    log = (near / 2).log() + _EULER - order

    def weight(angle: float) -> float:
        if order:
            orders = ((k, 2 * k + 1) for k in range(1, _MOST_ORDER))
            terms = ((-1) ** k * n / (k * (k + 1)) * math.sin(n * angle) for k, n in orders)
            return -sum(terms) / 2
        return sum((-1) ** (k + 1) / k * math.cos(2 * k * angle) for k in range(1, _MOST_ORDER))

    sums = 2 * _mean_of_waves(order, weight, near)
    value = 2 / math.pi * (log * _near_waving(order, near) + sums)
    if order:
        value = value - 2 / (math.pi * near) * _near_waving(0, near)
    finite = torch.where(x == math.inf, _FAR_WAVING, x)
    far = _far_waves(order, finite.clamp(min=_FAR_WAVING))[1]
    found = torch.where(x > _FAR_WAVING, far, value)
    found = torch.where(x == math.inf, 0.0, torch.where(x == 0, -math.inf, found))
    return torch.where((x < 0) | x.isnan(), math.nan, found)


def _falling(order: int, x: Tensor, *, scaled: bool) -> Tensor:
    """K of order 0 or 1, times e^x where it is scaled."""
    near = x.clamp(1e-300, 2.0)
    half = near / 2
    square, factors = half * half, _powers(order, 20)
    harmonic = [0.0, *accumulate(1 / k for k in range(1, 21))]
    log = half.log() + _EULER
    if order:
        sums = [each * (harmonic[k] + harmonic[k + 1]) / 2 for k, each in enumerate(factors)]
        value = 1 / near + half * (log * _series(factors, square) - _series(sums, square))
    else:
        sums = [each * harmonic[k] for k, each in enumerate(factors)]
        value = _series(sums, square) - log * _series(factors, square)
    large = x.clamp(min=2.0)
    far = torch.full_like(large, _STEP / 2)
    for place in range(1, _STEPS):
        angle = place * _STEP
        far = far + (-large * (math.cosh(angle) - 1)).exp() * (math.cosh(order * angle) * _STEP)
    # Few of the steps are in what is left of the integral where the argument is large.
    further = x.clamp(min=_FAR_GROWING)
    series = _series(_far(order, _TERMS_FAR), 1 / further) * (math.pi / (2 * further)).sqrt()
    far = torch.where(x > _FAR_GROWING, series, far)
    found = torch.where(x > 2, far if scaled else far * (-large).exp(), value)
    if scaled:
        found = torch.where(x > 2, found, value * near.exp())
    found = torch.where(x == math.inf, 0.0, torch.where(x == 0, math.inf, found))
    return torch.where((x < 0) | x.isnan(), math.nan, found)


def _spherical(x: Tensor) -> Tensor:
    found = torch.where(x == 0, 1.0, x.sin() / torch.where(x == 0, 1.0, x))
    return torch.where(x.abs() == math.inf, 0.0, found)


def _zeta(s: Tensor, q: Tensor) -> Tensor:
    """Hurwitz's zeta function by Euler and Maclaurin; nan where `q` is far below 0."""

    def power(base: Tensor) -> Tensor:
        size = base.abs() ** -s
        return torch.where((base < 0) & (s % 2 == 1), -size, size)

    total = torch.zeros_like(q * s)
    base = q
    for _ in range(_MOST_RAISED):
        is_low = base < _RAISED
        total = torch.where(is_low, total + power(torch.where(base == 0, 1.0, base)), total)
        base = torch.where(is_low, base + 1, base)
    last = base**-s
    total = total + base * last / (s - 1) + last / 2
    factor, power_of_base = s, last / base
    for place, number in enumerate(_BERNOULLI):
        # Of great s the factor is infinite.
        total = total + torch.where(power_of_base == 0, 0.0, number * factor * power_of_base)
        factor = factor * (s + 2 * place + 1) * (s + 2 * place + 2)
        power_of_base = power_of_base / (base * base)
    is_none = (s < 1) | (base < _RAISED) | (q < 0) & (s != s.floor())
    total = torch.where(is_none, math.nan, total)
    is_pole = (s == 1) | (q <= 0) & (q == q.floor()) & (s >= 1)
    return torch.where(is_pole, math.inf, total)


def _zeta_of_tensors(s: Tensor | float, q: Tensor | float) -> Tensor:
    kind = torch.result_type(s, q)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    both = [
        each.double() if isinstance(each, Tensor) else torch.full((), each, dtype=torch.float64)
        for each in (s, q)
    ]
    return _zeta(*both).to(kind)


def _polygamma(n: int, x: Tensor) -> Tensor:
    if n == 0:
        return torch.digamma(x)
    return in_f64(partial(_derivative, n), x)


def _derivative(n: int, x: Tensor) -> Tensor:
    order = torch.full((), n + 1.0, dtype=torch.float64, device=x.device)
    return _zeta(order, x) * ((-1) ** (n + 1) * math.factorial(n))


# Each from the two before it: of the number k, x, the last and the one before that.
_Step = Callable[[int, Tensor, Tensor, Tensor], Tensor]


def _twice(_: int, x: Tensor, last: Tensor, before: Tensor) -> Tensor:
    return 2 * x * last - before


# The polynomial of degree 1, and the step to the next.
_POLYNOMIALS: dict[str, tuple[Callable[[Tensor], Tensor], _Step]] = {
    "chebyshev_polynomial_t": (lambda x: x, _twice),
    "chebyshev_polynomial_u": (lambda x: 2 * x, _twice),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, _twice),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, _twice),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, a, b: 2 * x * a - 2 * k * b),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, a, b: x * a - k * b),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda k, x, a, b: ((2 * k + 1 - x) * a - k * b) / (k + 1),
    ),
    "legendre_polynomial_p": (
        lambda x: x,
        lambda k, x, a, b: ((2 * k + 1) * x * a - k * b) / (k + 1),
    ),
}


def _polynomial(steps: tuple[Callable[[Tensor], Tensor], _Step], x: Tensor, n: float) -> Tensor:
    first, step = steps
    if n < 0 or n != int(n):
        return NotImplemented
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    before, last = torch.ones_like(x), first(x)
    if n == 0:
        return before
    for k in range(1, int(n)):
        before, last = last, step(k, x, last, before)
    return last.clone()
