"""expand-erf: the error function of f32, as polynomials and a choice."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import ClassVar

from ...dialects import mlir
from ...dialects.mlir import arith, ir, math
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, each_element, element_type, rewrite_each
from ..schedules.division import constant_float, is_factor_of_rounded, one_below
from ..walking import defining_op

# Below it erf(x) = x + x p(x^2), above it 1 - 2^q(x).
_SPLIT = 1.0
# p: erf(sqrt(t)) / sqrt(t) - 1 on [0, 1], least greatest error (Lawson's iteration), constant term
# first.
_NEAR = (
    0.12837917,
    -0.37612626,
    0.112836,
    -0.026854444,
    0.005189535,
    -0.00080208416,
    7.8891215e-05,
)
# q: log2(1 - erf(x)) on [1, 4], weighted by the error that it makes in erf; below -25 from 4 on.
_FAR = (
    0.0002719,
    -1.6296399,
    -0.91353816,
    -0.15642002,
    0.03637083,
    -0.006066942,
    0.0006369102,
    -3.130303e-05,
)
# log2(1 - erf(x)) on [0, 5], least greatest error (Lawson's iteration): 1 - erf(x) is off by 2^-16
# of it at most. It falls from there on.
_ALL = (
    -1.5371796e-05,
    -1.6277785,
    -0.9180388,
    -0.1511815,
    0.03312441,
    -0.0049681985,
    0.00044483782,
    -1.7699396e-05,
)
# Constants in this range may be moved from the function's argument or its products to the
# coefficients.
_LEAST, _MOST = 2.0**-8, 2.0**8


@register
@dataclass(frozen=True)
class ExpandErf(Pass):
    """Computes `math.erf` of f32 without branches, within 1.2 units in the last place.

    libdevice's function, which math operations otherwise become, chooses each of its coefficients;
    selections are half as fast as fused multiply-adds on the chips there are. Both polynomials are
    computed, and one of them is chosen. Of 1 + erf(x), as in gelu, one is enough where it is a
    factor of what is rounded to 16 bits: it is 2^q(|x|) or 2 - 2^q(|x|), within 2^-16 of it.
    Constants that it or x is multiplied by, like the 0.5 and 1/sqrt(2) of gelu, are part of q.

        %y = math.erf %x : f32
    becomes
        %t = arith.mulf %x, %x : f32
        %p = math.fma ...
        %near = math.fma %p, %x, %x : f32
        %e = nvvm.ex2 ...
        %y = arith.select %is_far, %far, %near : f32
    """

    name: ClassVar[str] = "expand-erf"
    subjects: ClassVar[tuple[str, ...]] = ("math.erf",)

    def run(self, op: ir.Operation) -> bool:
        is_rough = rewrite_each(op, {"arith.addf": _one_more})
        return rewrite_each(op, {"math.erf": _erf}) or is_rough


def _one_more(op: ir.Operation) -> Sequence[ir.Value] | None:
    erf = one_below(op.results[0], "math.erf")
    if erf is None or not isinstance(op.results[0].type, ir.F32Type):
        return None
    if not is_factor_of_rounded(op.results[0]):
        return None
    x, scale = _without_factor(erf.operands[0])
    return _emit_one_more(x, scale, _take_factors(op.results[0]))


def _without_factor(value: ir.Value) -> tuple[ir.Value, float]:
    """Returns what a value is a constant times of, and that; itself and 1 where there is none."""
    op = defining_op(value)
    if op is not None and op.name == "arith.mulf":
        for one, other in (op.operands, reversed(list(op.operands))):
            number = constant_float(other)
            if number is not None and _LEAST <= number <= _MOST:
                return one, number
    return value, 1.0


def _take_factors(value: ir.Value) -> float:
    """Removes constants from the products that come of a value; returns their product."""
    factor, at = 1.0, value
    while True:
        uses = list(at.uses)
        user = uses[0].owner.operation
        if len(uses) > 1 or user.name != "arith.mulf":
            return factor
        one, other = user.operands
        other = one if other == at else other
        number = constant_float(other)
        if number is not None:
            if not _LEAST <= factor * number <= _MOST:
                return factor
            factor *= number
            user.results[0].replace_all_uses_with(at)
            user.erase()
            continue
        rest, number = _without_factor(other)
        if rest != other and len(list(other.uses)) == 1 and _LEAST <= factor * number <= _MOST:
            factor *= number
            other.replace_all_uses_with(rest)
        at = user.results[0]


def _emit_one_more(x: ir.Value, scale: float, factor: float) -> Sequence[ir.Value]:
    """Emits `factor` (1 + erf(`scale` x))."""
    first, *others = (each * scale**power for power, each in enumerate(_ALL))
    size = _polynomial([first + log2(factor), *others], math.absf(x))
    rest = mlir.nvvm.Ex2Op(size, ftz=True).result
    more = arith.subf(constant(x.type, 2 * factor), rest)
    # Of a nan the other one, which is nan too.
    is_less = arith.cmpf(arith.CmpFPredicate.OLT, x, constant(x.type, 0.0))
    return [arith.select(is_less, rest, more)]


def _erf(op: ir.Operation) -> Sequence[ir.Value] | None:
    kind = op.results[0].type
    if not isinstance(element_type(kind), ir.F32Type):
        return None
    if not list(op.results[0].uses):
        return op.operands
    return each_element(_emit, list(op.operands), [kind])


def _emit(x: ir.Value) -> Sequence[ir.Value]:
    f32 = x.type
    size = math.absf(x)
    near = math.fma(_polynomial(_NEAR, arith.mulf(x, x)), x, x)
    rest = mlir.nvvm.Ex2Op(_polynomial(_FAR, size), ftz=True).result
    far = math.copysign(arith.subf(constant(f32, 1.0), rest), x)
    # Of a nan the near one, which is nan too.
    is_far = arith.cmpf(arith.CmpFPredicate.OGE, size, constant(f32, _SPLIT))
    return [arith.select(is_far, far, near)]


def _polynomial(coefficients: Sequence[float], x: ir.Value) -> ir.Value:
    """By Horner's rule."""
    result = constant(x.type, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = math.fma(result, x, constant(x.type, coefficient))
    return result
