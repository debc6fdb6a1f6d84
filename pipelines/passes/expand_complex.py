"""Expands complex operations that upstream lowers inaccurately or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir, math
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, rewrite_each

# Emits a result's real and imaginary part from those of the operand, with fast-math flags.
_Parts = tuple[ir.Value, ir.Value]
_Function = Callable[[ir.Value, ir.Value, ir.Attribute], _Parts]


@register
@dataclass(frozen=True)
class ExpandComplex(Pass):
    """Prepares complex operations for convert-complex-to-standard.

    `sin` and `cos` go through sinh and cosh, where upstream subtracts exponentials and so loses
    small imaginary parts; `log` near the unit circle and `log1p` near zero go through log1p,
    where upstream takes the logarithm of a rounded magnitude.

        %r = complex.sin %z : complex<f32>

    becomes, for %z = x + iy, the pair

        sin(x) * cosh(y), cos(x) * sinh(y)

    f16 and bf16 are computed in f32. `bitcast` becomes shifts; the real part is the low half.
    """

    name: ClassVar[str] = "expand-complex"
    subjects: ClassVar[tuple[str, ...]] = ("complex.",)

    def run(self, op: ir.Operation) -> None:
        functions: dict[str, _Function] = {
            "complex.sin": _sin,
            "complex.cos": _cos,
            "complex.log": _log,
            "complex.log1p": _log1p,
        }
        rewrite_each(
            op,
            {
                **{name: _by_parts(function) for name, function in functions.items()},
                "complex.bitcast": _bitcast,
            },
        )


def _by_parts(function: _Function) -> Callable[[ir.Operation], Sequence[ir.Value]]:
    """Returns a rule that takes the operand apart, widens its parts if narrow, and joins the
    result.
    """

    def rule(op: ir.Operation) -> Sequence[ir.Value]:
        operand, flags = op.operands[0], op.attributes["fastmath"]
        part_type = ir.ComplexType(operand.type).element_type
        parts = _take_apart(operand, part_type)
        narrow = str(part_type) in ("f16", "bf16")
        if narrow:
            wide = ir.F32Type.get()
            x, y = (arith.extf(wide, part) for part in parts)
            real, imaginary = function(x, y, flags)
            real, imaginary = arith.truncf(part_type, real), arith.truncf(part_type, imaginary)
        else:
            real, imaginary = function(*parts, flags)
        return [_join(operand.type, real, imaginary)]

    return rule


def _take_apart(value: ir.Value, part_type: ir.Type) -> _Parts:
    real, imaginary = (
        ir.Operation.create(name, results=[part_type], operands=[value]).results[0]
        for name in ("complex.re", "complex.im")
    )
    return real, imaginary


def _join(complex_type: ir.Type, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    return ir.Operation.create(
        "complex.create", results=[complex_type], operands=[real, imaginary]
    ).results[0]


def _sin(x: ir.Value, y: ir.Value, flags: ir.Attribute) -> _Parts:
    sine, cosine = math.sin(x, fastmath=flags), math.cos(x, fastmath=flags)
    growth, slope = math.cosh(y, fastmath=flags), math.sinh(y, fastmath=flags)
    return arith.mulf(sine, growth), arith.mulf(cosine, slope)


def _cos(x: ir.Value, y: ir.Value, flags: ir.Attribute) -> _Parts:
    sine, cosine = math.sin(x, fastmath=flags), math.cos(x, fastmath=flags)
    growth, slope = math.cosh(y, fastmath=flags), math.sinh(y, fastmath=flags)
    return arith.mulf(cosine, growth), arith.negf(arith.mulf(sine, slope))


def _log(x: ir.Value, y: ir.Value, flags: ir.Attribute) -> _Parts:
    """log|z| and the argument.

    With a and b the larger and smaller magnitude of the parts, |z|^2 - 1 is (a - 1)(a + 1) + b^2,
    in which only a loss remains that is small against the argument.
    """
    real_type = x.type
    one = constant(real_type, 1.0)
    size_x, size_y = math.absf(x), math.absf(y)
    large, small = arith.maximumf(size_x, size_y), arith.minimumf(size_x, size_y)
    excess = arith.addf(
        arith.mulf(arith.subf(large, one), arith.addf(large, one)), arith.mulf(small, small)
    )
    near = arith.mulf(constant(real_type, 0.5), math.log1p(excess, fastmath=flags))
    far = math.log(_magnitude(x, y), fastmath=flags)
    near_circle = arith.andi(
        arith.cmpf(arith.CmpFPredicate.OGT, large, constant(real_type, 0.5)),
        arith.cmpf(arith.CmpFPredicate.OLT, large, constant(real_type, 2.0)),
    )
    return arith.select(near_circle, near, far), math.atan2(y, x, fastmath=flags)


def _log1p(x: ir.Value, y: ir.Value, flags: ir.Attribute) -> _Parts:
    """log(1 + z); near zero |1 + z|^2 - 1 is x(2 + x) + y^2."""
    real_type = x.type
    shifted = arith.addf(constant(real_type, 1.0), x)
    far, argument = _log(shifted, y, flags)
    excess = arith.addf(arith.mulf(x, arith.addf(constant(real_type, 2.0), x)), arith.mulf(y, y))
    near = arith.mulf(constant(real_type, 0.5), math.log1p(excess, fastmath=flags))
    size = arith.maximumf(math.absf(x), math.absf(y))
    small = arith.cmpf(arith.CmpFPredicate.OLT, size, constant(real_type, 0.25))
    return arith.select(small, near, far), argument


def _magnitude(x: ir.Value, y: ir.Value) -> ir.Value:
    value = _join(ir.ComplexType.get(x.type), x, y)
    return ir.Operation.create("complex.abs", results=[x.type], operands=[value]).results[0]


def _bitcast(op: ir.Operation) -> Sequence[ir.Value]:
    source, target_type = op.operands[0], op.results[0].type
    if isinstance(source.type, ir.ComplexType):
        part_type = source.type.element_type
        halves = [_as_integer(part) for part in _take_apart(source, part_type)]
        whole = ir.IntegerType.get_signless(2 * ir.IntegerType(halves[0].type).width)
        low, high = (arith.extui(whole, half) for half in halves)
        shift = constant(whole, whole.width // 2)
        return [_from_integer(target_type, arith.ori(arith.shli(high, shift), low))]
    whole_value = _as_integer(source)
    whole = ir.IntegerType(whole_value.type)
    half = ir.IntegerType.get_signless(whole.width // 2)
    part_type = ir.ComplexType(target_type).element_type
    low = arith.trunci(half, whole_value)
    high = arith.trunci(half, arith.shrui(whole_value, constant(whole, half.width)))
    return [
        _join(target_type, _from_integer(part_type, low), _from_integer(part_type, high)),
    ]


def _as_integer(value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.IntegerType):
        return value
    bits = ir.IntegerType.get_signless(ir.FloatType(value.type).width)
    return arith.bitcast(bits, value)


def _from_integer(target_type: ir.Type, value: ir.Value) -> ir.Value:
    return value if value.type == target_type else arith.bitcast(target_type, value)
