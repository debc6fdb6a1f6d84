"""How far a result of libdevice may be from the GPU's, and from the exact one.

A function whose code has no approximate operation is exactly defined: its results are the GPU's
bits. The others have the errors that CUDA documents: CUDA C++ Programming Guide 13.0, appendix on
mathematical functions, the tables of maximum ulp errors, and those of intrinsic functions for
what is called fast_ here. PTX ISA 9.0 says what sin.approx, cos.approx, rcp.approx and tanh.approx
do where the guide says nothing. Where neither has a bound, the comment says what ours is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from programs import math_reference as reference
from programs.libdevice_functions import Function, approximations
from programs.libdevice_values import FORMATS, WIDTHS
from programs.math_programs import CUDA_ULP_ERRORS

Values = Sequence[float]


@dataclass(frozen=True)
class Allowance:
    """A result may be off by either: units in the last place, or an absolute difference."""

    ulp: float = 0
    absolute: float = 0.0


EXACT = Allowance()
UNBOUNDED = Allowance(math.inf, math.inf)

# In units in the last place, of (float, double).
_DOCUMENTED = {
    **CUDA_ULP_ERRORS,
    "cospi": (1, 2),
    "cyl_bessel_i0": (6, 6),
    "cyl_bessel_i1": (6, 6),
    "erfcinv": (4, 6),
    "erfcx": (4, 4),
    "erfinv": (2, 5),
    "exp10": (2, 1),
    "hypot": (3, 2),
    "norm3d": (3, 2),
    "norm4d": (3, 2),
    "normcdf": (5, 5),
    "normcdfinv": (5, 8),
    "pow": (4, 2),
    "rcbrt": (1, 1),
    "rhypot": (2, 1),
    "rnorm3d": (2, 1),
    "rnorm4d": (2, 1),
    "sincos": (2, 2),
    "sincospi": (1, 2),
    "sinpi": (1, 2),
    "tgamma": (5, 10),
    # No bound for vectors of any length: ours are those of four elements.
    "norm": (3, 2),
    "rnorm": (2, 1),
    # rcp.approx.ftz.f64 has 20 bits of significand; ours is one unit of them, 2**32 of a double's.
    "rcp64h": (0, 2**32),
    # A relative error of 2**-11.
    "fast_tanh": (2**13, 0),
    # Exact results, by approximate operations and a correction.
    "fmod": (0, 0),
    "remainder": (0, 0),
    "remquo": (0, 0),
    "frsqrt_rn": (0, 0),
}


def is_exact(function: Function) -> bool:
    """Whether the function's results are the GPU's to the bit."""
    return not approximations()[function.name]


def from_gpu(function: Function, kind: str, values: Values) -> Allowance:
    """How far a result of type `kind` may be from the GPU's."""
    return EXACT if kind in WIDTHS or is_exact(function) else documented(function, values)


def documented(function: Function, values: Values) -> Allowance:
    """How far the function's results may be from the exact ones."""
    double = "double" in (*function.values, *function.pointed)
    name = base_name(function)
    if name in _BY_VALUE:
        return _BY_VALUE[name](double, values)
    if name not in _DOCUMENTED and is_exact(function):
        return EXACT
    return Allowance(_DOCUMENTED[name][double])


def base_name(function: Function) -> str:
    """The name that the function of floats shares with that of doubles."""
    takes_float = "float" in (*function.values, *function.pointed)
    return function.name.removesuffix("f") if takes_float else function.name


def truth(function: Function, values: Values) -> int | None:
    """The bits of the exact result rounded once, or None for what the reference does not have."""
    name = base_name(function)
    if name in _UNARY:
        exact = reference.unary(_UNARY[name], values[0])
    elif name in _BINARY:
        exact = reference.binary(_BINARY[name], values[0], values[1])
    elif name in _FUSED:
        exact = reference.fma(values[0], values[1], values[2])
    else:
        return None
    return FORMATS[function.results[0]].encode(exact)


_UNARY = {
    **{name: name for name in CUDA_ULP_ERRORS if name not in ("atan2", "powf")},
    "fabs": "absf",
    "ceil": "ceil",
    "floor": "floor",
    "trunc": "trunc",
    "round": "round",
    "rint": "roundeven",
    "nearbyint": "roundeven",
    "sqrt": "sqrt",
    "frsqrt_rn": "rsqrt",
    "fsqrt_rn": "sqrt",
    "dsqrt_rn": "sqrt",
}
_BINARY = {
    "atan2": "atan2",
    "pow": "powf",
    "copysign": "copysign",
    "fmod": "remf",
    "fdiv_rn": "divf",
    "ddiv_rn": "divf",
}
_FUSED = {"fma", "fmaf_rn", "fma_rn", "fmaf_ieee_rn"}


def _log_gamma(double: bool, values: Values) -> Allowance:
    # Larger errors near the zeros between these; ours is what four ulp are at 2.
    ulp = 4 if double else 6
    near_a_zero = -10.001 < values[0] < -2.2637
    return Allowance(ulp, ulp * math.ulp(2.0) * (1 if double else 2.0**29) if near_a_zero else 0.0)


def _bessel(double: bool, values: Values) -> Allowance:
    if abs(values[0]) < 8:
        return Allowance(7 if double else 9)
    return Allowance(7 if double else 9, 5e-12 if double else 2.2e-6)


def _bessel_of_order(double: bool, values: Values) -> Allowance:
    """jn, whose error is given for order 128 alone, and yn, for floats below its order too."""
    order = abs(values[0])
    return Allowance(math.ceil(2 + 2.5 * order), 5e-12 if double else 2.2e-6)


def _fast_trigonometric(bound: float) -> Callable[[bool, Values], Allowance]:
    return lambda double, values: Allowance(0, _sine_error(values[0], bound))


def _sine_error(x: float, bound: float) -> float:
    if abs(x) <= math.pi:
        return bound
    if abs(x) <= 2 * math.pi:
        return 2.0**-20.5
    return 2.0**-14.7 if abs(x) <= 100 * math.pi else math.inf


def _fast_tangent(double: bool, values: Values) -> Allowance:
    """The sine by the cosine, each with its own error."""
    x = values[0]
    if not math.isfinite(x):
        return EXACT
    tangent, error = math.tan(x), _sine_error(x, 2.0**-21.19)
    if abs(math.cos(x)) <= 2 * error:
        # The cosine's error may make it zero: at the poles nothing is promised.
        return Allowance(0, math.inf)
    return Allowance(2, error * (1 + abs(tangent)) * math.hypot(1, tangent))


def _fast_logarithm(near_one: float, ulp: int) -> Callable[[bool, Values], Allowance]:
    def allowance(double: bool, values: Values) -> Allowance:
        if 0.5 <= values[0] <= 2:
            return Allowance(0, near_one)
        return Allowance(ulp)

    return allowance


def _fast_exponential(slope: float) -> Callable[[bool, Values], Allowance]:
    def allowance(double: bool, values: Values) -> Allowance:
        x = values[0]
        return Allowance(2 + math.floor(min(abs(slope * x), 1000))) if math.isfinite(x) else EXACT

    return allowance


def _fast_power(double: bool, values: Values) -> Allowance:
    """exp2 of the product with log2, whose errors the exponential makes relative ones."""
    x, y = values
    if not (0 < x < math.inf and math.isfinite(y)):
        return Allowance(2)
    logarithm = math.log2(x)
    error = 2.0**-22 if 0.5 <= x <= 2 else abs(logarithm) * 2.0**-22
    exponent = min(abs(y * error) + abs(y * logarithm) * 2.0**-24, 1.0)
    return Allowance(2 + math.ceil(exponent * 2.0**24))


def _fast_quotient(double: bool, values: Values) -> Allowance:
    # 2 ulp for these; a larger divisor gives 0, or NaN below infinity; a smaller one has no bound.
    divisor = abs(values[1])
    if divisor != 0 and divisor < 2.0**-126:
        return UNBOUNDED
    return Allowance(2 if divisor <= 2.0**126 else 0)


_BY_VALUE: dict[str, Callable[[bool, Values], Allowance]] = {
    "lgamma": _log_gamma,
    "j0": _bessel,
    "j1": _bessel,
    "y0": _bessel,
    "y1": _bessel,
    "jn": _bessel_of_order,
    "yn": _bessel_of_order,
    "fast_sin": _fast_trigonometric(2.0**-21.41),
    "fast_cos": _fast_trigonometric(2.0**-21.19),
    "fast_sincos": _fast_trigonometric(2.0**-21.19),
    "fast_tan": _fast_tangent,
    "fast_log": _fast_logarithm(2.0**-21.41, 3),
    "fast_log2": _fast_logarithm(2.0**-22, 2),
    "fast_log10": _fast_logarithm(2.0**-24, 3),
    "fast_exp": _fast_exponential(1.173),
    "fast_exp10": _fast_exponential(2.97),
    "fast_pow": _fast_power,
    "fast_fdivide": _fast_quotient,
}
