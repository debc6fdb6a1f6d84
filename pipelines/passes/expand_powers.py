"""Expands powers with integer exponents, and with whole numbers and halves."""

from __future__ import annotations

import math as math_constants
from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir, math, scf
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..rewriting import constant, each_element, element_type, like, rewrite_each


@register
@dataclass(frozen=True)
class ExpandPowers(Pass):
    """Expands math.ipowi, math.fpowi, and math.powf with a small whole number or a half.

    `ipowi` becomes a loop over the exponent's bits, on signed integers that wrap. With a negative
    exponent the exact result is a fraction and is rounded towards zero: 1 and -1 keep magnitude
    1, all else gives 0.

    `fpowi` with a constant exponent from -1 to 4 becomes products, else math.powf with the
    exponent as a float. That is at most powf's own error, where libdevice's powi multiplies
    in a chain whose error grows with the exponent. An exponent that the float cannot hold is cut
    in two: x^(h + l) = x^h * x^l. `powf` with a constant of those becomes products, too, and with
    0.5 a square root.

        %r = math.fpowi %x, %n : f32, i16

    becomes

        %y = arith.sitofp %n : i16 to f32
        %r = math.powf %x, %y : f32
    """

    name: ClassVar[str] = "expand-powers"
    subjects: ClassVar[tuple[str, ...]] = ("math.ipowi", "math.fpowi", "math.powf")

    def run(self, op: ir.Operation) -> None:
        rules = {
            "math.ipowi": _integer_power,
            "math.fpowi": _float_power,
            "math.powf": _whole_power,
        }
        rewrite_each(op, rules)


def _integer_power(op: ir.Operation) -> Sequence[ir.Value]:
    return each_element(_scalar_integer_power, list(op.operands), [op.results[0].type])


def _scalar_integer_power(base: ir.Value, exponent: ir.Value) -> Sequence[ir.Value]:
    integer = base.type
    zero, one, minus_one = (constant(integer, value) for value in (0, 1, -1))
    odd = _is_odd(exponent)
    loop = scf.WhileOp([integer] * 3, [one, base, exponent])
    before = loop.before.blocks.append(*[integer] * 3)
    with ir.InsertionPoint(before):
        more = arith.cmpi(arith.CmpIPredicate.sgt, before.arguments[2], zero)
        scf.condition(more, list(before.arguments))
    after = loop.after.blocks.append(*[integer] * 3)
    with ir.InsertionPoint(after):
        product, square, rest = after.arguments
        longer = arith.select(_is_odd(rest), arith.muli(product, square), product)
        scf.yield_([longer, arith.muli(square, square), arith.shrsi(rest, one)])
    is_one = arith.cmpi(arith.CmpIPredicate.eq, base, one)
    is_minus_one = arith.cmpi(arith.CmpIPredicate.eq, base, minus_one)
    unit = arith.select(odd, minus_one, one)
    fraction = arith.select(is_minus_one, unit, arith.select(is_one, one, zero))
    negative = arith.cmpi(arith.CmpIPredicate.slt, exponent, zero)
    return [arith.select(negative, fraction, loop.results[0])]


def _float_power(op: ir.Operation) -> Sequence[ir.Value]:
    base, exponent = op.operands
    bits = element_type(exponent.type)
    if not isinstance(bits, ir.IntegerType) or bits.width > 64:
        fail(op, f"the exponent of 'math.fpowi' may have at most 64 bits, this is {bits}")
    result_type = base.type
    narrow = str(element_type(result_type)) in ("f16", "bf16")
    working_type = like(result_type, ir.F32Type.get()) if narrow else result_type
    wide = arith.extf(working_type, base) if narrow else base
    known = _constant_exponent(exponent)
    if known is not None and -1 <= known <= 4:
        power = _product(wide, int(known))
    else:
        flags = op.attributes["fastmath"]

        def emit(x: ir.Value, n: ir.Value) -> Sequence[ir.Value]:
            return [_scalar_float_power(x, n, flags)]

        (power,) = each_element(emit, [wide, exponent], [working_type])
    return [arith.truncf(result_type, power) if narrow else power]


def _whole_power(op: ir.Operation) -> Sequence[ir.Value] | None:
    """Returns products in place of a power with a constant whole number, a root in place of one
    with a half, else None.
    """
    base, exponent = op.operands
    known = _constant_exponent(exponent)
    if known is None or known not in (*range(-1, 5), 0.5):
        return None
    narrow = str(element_type(base.type)) in ("f16", "bf16")
    working_type = like(base.type, ir.F32Type.get()) if narrow else base.type
    working = arith.extf(working_type, base) if narrow else base
    power = _root(working) if known == 0.5 else _product(working, int(known))
    return [arith.truncf(base.type, power) if narrow else power]


def _root(base: ir.Value) -> ir.Value:
    """Returns a square root: a power is 0 of -0, and infinite of infinities of both signs."""
    infinity = constant(base.type, math_constants.inf)
    root = math.sqrt(arith.addf(base, constant(base.type, 0.0)))
    lowest = arith.cmpf(arith.CmpFPredicate.OEQ, base, constant(base.type, -math_constants.inf))
    return arith.select(lowest, infinity, root)


def _product(base: ir.Value, exponent: int) -> ir.Value:
    """Returns a power by at most two products or one quotient, each rounded once."""
    one = constant(base.type, 1.0)
    if exponent <= 0:
        return one if exponent == 0 else arith.divf(one, base)
    if exponent == 1:
        return base
    square = arith.mulf(base, base)
    if exponent == 2:
        return square
    return arith.mulf(square, base if exponent == 3 else square)


def _scalar_float_power(base: ir.Value, exponent: ir.Value, flags: ir.Attribute) -> ir.Value:
    real = base.type
    exact_bits = 53 if isinstance(real, ir.F64Type) else 24
    i32 = ir.IntegerType.get_signless(32)
    integer = ir.IntegerType(exponent.type)
    if integer.width > 32 and exact_bits == 24:
        exponent, integer = _saturate(exponent), i32
    if integer.width <= exact_bits:
        return math.powf(base, arith.sitofp(real, exponent), fastmath=flags)
    bound = 1 << exact_bits
    shifted = arith.addi(exponent, constant(integer, bound))
    fits = arith.cmpi(arith.CmpIPredicate.ule, shifted, constant(integer, 2 * bound))
    branch = scf.IfOp(fits, [real], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.yield_([math.powf(base, arith.sitofp(real, exponent), fastmath=flags)])
    with ir.InsertionPoint(branch.regions[1].blocks[0]):
        scf.yield_([_power_in_parts(base, exponent, integer.width - exact_bits, flags)])
    return branch.results[0]


def _power_in_parts(
    base: ir.Value, exponent: ir.Value, low_bits: int, flags: ir.Attribute
) -> ir.Value:
    """|x|^h * |x|^l with the sign that the exponent's parity gives.

    l is the exponent's remainder by 2^low_bits, of its sign, so both parts are exact as floats
    and the first cannot overflow where the whole does not. Far from 1 the first part is already
    zero or infinite, and the second is left out lest their product be a NaN.
    """
    real, integer = base.type, exponent.type
    magnitude = math.absf(base)
    near_one = arith.andi(
        arith.cmpf(arith.CmpFPredicate.OGT, magnitude, constant(real, 0.5)),
        arith.cmpf(arith.CmpFPredicate.OLT, magnitude, constant(real, 2.0)),
    )
    low = arith.remsi(exponent, constant(integer, 1 << low_bits))
    high = arith.subi(exponent, low)
    low = arith.select(near_one, low, constant(integer, 0))
    powers = [
        math.powf(magnitude, arith.sitofp(real, part), fastmath=flags) for part in (high, low)
    ]
    whole = arith.mulf(*powers)
    return arith.select(_is_odd(exponent), math.copysign(whole, base), whole)


def _saturate(exponent: ir.Value) -> ir.Value:
    """Returns a wide exponent as i32, of the same parity.

    Beyond 2^31 every f32 power is zero, one or infinite.
    """
    wide = exponent.type
    i32 = ir.IntegerType.get_signless(32)
    limit = (1 << 31) - 2
    clamped = arith.minsi(arith.maxsi(exponent, constant(wide, -limit)), constant(wide, limit))
    inside = arith.cmpi(arith.CmpIPredicate.eq, clamped, exponent)
    parity = arith.andi(exponent, constant(wide, 1))
    beyond = arith.ori(clamped, parity)
    return arith.trunci(i32, arith.select(inside, exponent, beyond))


def _is_odd(value: ir.Value) -> ir.Value:
    one = constant(value.type, 1)
    return arith.cmpi(arith.CmpIPredicate.eq, arith.andi(value, one), one)


def _constant_exponent(exponent: ir.Value) -> float | None:
    """Returns the exponent, when it is a constant and the same for every element."""
    owner = exponent.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr):
        if not attribute.is_splat:
            return None
        attribute = attribute.get_splat_value()
    kind = ir.FloatAttr if isinstance(attribute, ir.FloatAttr) else ir.IntegerAttr
    return kind(attribute).value
