"""Expands conversions of 8-bit floats to integer operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..rewriting import constant, element_type, like, rewrite_each
from ..round_to_odd import round_to_odd


@dataclass(frozen=True)
class _Format:
    """An 8-bit format: stored significand bits, exponent bias, and what its top codes mean.

    IEEE formats have infinities and NaN in the top exponent. Of the others, `finite` ones have
    NaN in the top code of either sign, and `unsigned_zero` ones only in that of minus zero.
    """

    stored: int
    bias: int
    finite: bool = False
    unsigned_zero: bool = False

    @property
    def infinity(self) -> int:
        """The code of infinity in an IEEE format."""
        return 0x7F & ~((1 << self.stored) - 1)

    @property
    def nan(self) -> int:
        if self.unsigned_zero:
            return 0x80
        return 0x7F if self.finite else self.infinity | (1 << (self.stored - 1))

    @property
    def overflow(self) -> int:
        """The first magnitude beyond the largest finite one; in the f8 of FNUZ kind, 0x80."""
        if self.unsigned_zero:
            return 0x80
        return 0x7F if self.finite else self.infinity


_FORMATS = {
    "f8E5M2": _Format(2, 15),
    "f8E4M3": _Format(3, 7),
    "f8E3M4": _Format(4, 3),
    "f8E4M3FN": _Format(3, 7, finite=True),
    "f8E5M2FNUZ": _Format(2, 16, unsigned_zero=True),
    "f8E4M3FNUZ": _Format(3, 8, unsigned_zero=True),
    "f8E4M3B11FNUZ": _Format(3, 11, unsigned_zero=True),
}

_F32_STORED = 23
_F32_BIAS = 127
_F32_MAGNITUDE = 0x7FFFFFFF
_F32_INFINITY = 0x7F800000
_F32_NAN = 0x7FC00000


@register
@dataclass(frozen=True)
class ExpandSmallFloats(Pass):
    """Expands arith.extf and arith.truncf from and to the 8-bit float types, and f8E8M0FNU's extf.

    Neither LLVM nor most chips have these types. Values go through f32, which holds all of them;
    truncation rounds to nearest, ties to even, once from any source, and what is too large
    becomes infinity, or NaN in a format that has none.

        %y = arith.extf %x : f8E4M3FN to f32

    becomes operations on the bits of `arith.bitcast %x : f8E4M3FN to i8`.
    """

    name: ClassVar[str] = "expand-small-floats"
    subjects: ClassVar[tuple[str, ...]] = ("arith.extf", "arith.truncf")

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"arith.extf": _extend, "arith.truncf": _truncate})


def _extend(op: ir.Operation) -> Sequence[ir.Value] | None:
    source, result_type = op.operands[0], op.results[0].type
    name = str(element_type(source.type))
    if name == "f8E8M0FNU":
        wide = _from_exponent(source)
    elif name in _FORMATS:
        wide = _to_f32(source, _FORMATS[name])
    else:
        return None
    target = str(element_type(result_type))
    if target in ("f32", "f64"):
        return [wide if target == "f32" else arith.extf(result_type, wide)]
    if target in ("f16", "bf16"):
        return [arith.truncf(result_type, wide)]
    if target in _FORMATS:
        return [_from_f32(wide, result_type, _FORMATS[target])]
    return None


def _truncate(op: ir.Operation) -> Sequence[ir.Value] | None:
    source, result_type = op.operands[0], op.results[0].type
    target = _FORMATS.get(str(element_type(result_type)))
    if target is None:
        return None
    if "roundingmode" in op.attributes and ir.IntegerAttr(op.attributes["roundingmode"]).value:
        fail(op, "'arith.truncf' to an 8-bit float can only round to the nearest, ties to even")
    f32 = like(source.type, ir.F32Type.get())
    name = str(element_type(source.type))
    if name == "f64":
        source = round_to_odd(source)
    elif name != "f32":
        source = arith.extf(f32, source)
    return [_from_f32(source, result_type, target)]


def _to_f32(value: ir.Value, form: _Format) -> ir.Value:
    i8, i32, f32 = (like(value.type, element) for element in _elements())
    bits = arith.extui(i32, arith.bitcast(i8, value))
    sign = arith.shli(arith.andi(bits, constant(i32, 0x80)), constant(i32, 24))
    magnitude = arith.andi(bits, constant(i32, 0x7F))
    rebias = (_F32_BIAS - form.bias) << _F32_STORED
    shift = constant(i32, _F32_STORED - form.stored)
    normal = arith.addi(arith.shli(magnitude, shift), constant(i32, rebias))
    # A denormal is its significand times a power of two, exactly.
    unit = constant(f32, 2.0 ** (1 - form.bias - form.stored))
    denormal = arith.bitcast(i32, arith.mulf(arith.uitofp(f32, magnitude), unit))
    smallest = constant(i32, 1 << form.stored)
    is_denormal = arith.cmpi(arith.CmpIPredicate.ult, magnitude, smallest)
    wide = arith.select(is_denormal, denormal, normal)
    nan = constant(i32, _F32_NAN)
    if form.unsigned_zero:
        is_nan = arith.cmpi(arith.CmpIPredicate.eq, bits, constant(i32, form.nan))
        wide = arith.select(is_nan, nan, arith.ori(wide, sign))
        return arith.bitcast(f32, wide)
    top = constant(i32, form.overflow)
    if form.finite:
        is_nan = arith.cmpi(arith.CmpIPredicate.eq, magnitude, top)
    else:
        is_nan = arith.cmpi(arith.CmpIPredicate.ugt, magnitude, top)
        is_infinite = arith.cmpi(arith.CmpIPredicate.eq, magnitude, top)
        wide = arith.select(is_infinite, constant(i32, _F32_INFINITY), wide)
    return arith.bitcast(f32, arith.ori(arith.select(is_nan, nan, wide), sign))


def _from_f32(value: ir.Value, result_type: ir.Type, form: _Format) -> ir.Value:
    i8, i32, f32 = (like(value.type, element) for element in _elements())
    bits = arith.bitcast(i32, value)
    magnitude = arith.andi(bits, constant(i32, _F32_MAGNITUDE))
    sign = arith.andi(arith.shrui(bits, constant(i32, 24)), constant(i32, 0x80))
    dropped = _F32_STORED - form.stored
    # Half a unit less one, and one more when the last kept bit is odd: ties go to even.
    odd = arith.andi(arith.shrui(magnitude, constant(i32, dropped)), constant(i32, 1))
    half = constant(i32, (1 << (dropped - 1)) - 1)
    rounded = arith.shrui(arith.addi(arith.addi(magnitude, half), odd), constant(i32, dropped))
    normal = arith.subi(rounded, constant(i32, (_F32_BIAS - form.bias) << form.stored))
    # Adding a power of two whose unit is the format's smallest number rounds a denormal there.
    anchor = constant(f32, 2.0 ** (_F32_STORED + 1 - form.bias - form.stored))
    sum_bits = arith.bitcast(i32, arith.addf(arith.bitcast(f32, magnitude), anchor))
    denormal = arith.subi(sum_bits, arith.bitcast(i32, anchor))
    smallest_normal = constant(i32, (_F32_BIAS + 1 - form.bias) << _F32_STORED)
    is_denormal = arith.cmpi(arith.CmpIPredicate.ult, magnitude, smallest_normal)
    code = arith.select(is_denormal, denormal, normal)
    overflow = constant(i32, form.overflow)
    # Infinity and NaN have the largest exponent, so they too are beyond the top.
    too_large = arith.ori(
        arith.cmpi(arith.CmpIPredicate.uge, code, overflow),
        arith.cmpi(arith.CmpIPredicate.uge, magnitude, constant(i32, _F32_INFINITY)),
    )
    nan = constant(i32, form.nan)
    if form.unsigned_zero:
        # Minus zero's code means NaN, so zero has no sign.
        is_zero = arith.cmpi(arith.CmpIPredicate.eq, code, constant(i32, 0))
        signed = arith.select(is_zero, code, arith.ori(code, sign))
        return _narrow(arith.select(too_large, nan, signed), i8, result_type)
    infinite = constant(i32, form.overflow)
    is_nan = arith.cmpi(arith.CmpIPredicate.ugt, magnitude, constant(i32, _F32_INFINITY))
    code = arith.select(is_nan, nan, arith.select(too_large, infinite, code))
    return _narrow(arith.ori(code, sign), i8, result_type)


def _narrow(code: ir.Value, i8: ir.Type, result_type: ir.Type) -> ir.Value:
    return arith.bitcast(result_type, arith.trunci(i8, code))


def _from_exponent(value: ir.Value) -> ir.Value:
    """f8E8M0FNU is 2^(code - 127), which for code 0 is a denormal f32, and NaN for code 255."""
    i8, i32, f32 = (like(value.type, element) for element in _elements())
    code = arith.extui(i32, arith.bitcast(i8, value))
    shifted = arith.shli(code, constant(i32, _F32_STORED))
    is_zero = arith.cmpi(arith.CmpIPredicate.eq, code, constant(i32, 0))
    is_nan = arith.cmpi(arith.CmpIPredicate.eq, code, constant(i32, 255))
    number = arith.select(is_zero, constant(i32, 1 << (_F32_STORED - 1)), shifted)
    return arith.bitcast(f32, arith.select(is_nan, constant(i32, _F32_NAN), number))


def _elements() -> tuple[ir.Type, ir.Type, ir.Type]:
    return (
        ir.IntegerType.get_signless(8),
        ir.IntegerType.get_signless(32),
        ir.F32Type.get(),
    )
