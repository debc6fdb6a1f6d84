"""Elements between memory and arithmetic: extended when loaded, rounded once when stored."""

from __future__ import annotations

from ....dialects.hir.element_types import ElementType
from ....dialects.mlir import arith, ir
from ...rewriting import constant
from ...round_to_odd import round_to_odd

# f32 has 23 bits of mantissa, tf32 the upper 10 of them.
_DROPPED = 13
_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000


def computing_type(element: ElementType) -> ir.Type:
    """Returns the type that arithmetic on an element type is done in."""
    return ir.Type.parse(element.computed_as)


def load(stored: ir.Value, element: ElementType) -> ir.Value:
    """Returns a stored element in its computing type."""
    target = computing_type(element)
    return stored if stored.type == target else arith.extf(target, stored)


def store(number: ir.Value, element: ElementType) -> ir.Value:
    """Returns a float in f32 or f64 as it is stored, rounded once."""
    if element.name == "tf32":
        return _round_to_tf32(round_to_odd(number) if _is_f64(number) else number)
    target = ir.Type.parse(element.stored_as)
    if number.type == target:
        return number
    if element.name == "f64":
        return arith.extf(target, number)
    if _is_f64(number) and element.name == "bf16":
        number = round_to_odd(number)
    return arith.truncf(target, number)


def is_rounded(element: ElementType) -> bool:
    """Returns whether storing a computed number rounds it."""
    return element.name != element.computed_as and element.is_float


def _is_f64(number: ir.Value) -> bool:
    return isinstance(number.type, ir.F64Type)


def _round_to_tf32(number: ir.Value) -> ir.Value:
    """To nearest, ties away from zero; infinities and nan as they are."""
    i32 = ir.IntegerType.get_signless(32)
    bits = arith.bitcast(i32, number)
    half = constant(i32, 1 << (_DROPPED - 1))
    kept = constant(i32, -(1 << _DROPPED))
    rounded = arith.bitcast(number.type, arith.andi(arith.addi(bits, half), kept))
    magnitude = arith.andi(bits, constant(i32, _MAGNITUDE))
    is_finite = arith.cmpi(arith.CmpIPredicate.ult, magnitude, constant(i32, _INFINITY))
    return arith.select(is_finite, rounded, number)
