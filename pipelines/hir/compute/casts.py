"""Conversions between element types: the kind `cast`."""

from __future__ import annotations

from ....dialects.hir.element_types import ElementType
from ....dialects.mlir import arith, ir
from ...rewriting import constant
from .elements import computing_type, store

# Of a 64-bit integer, the bits that an f64 may have no room for.
_BEYOND_F64 = 11


def cast(number: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    """Returns a number in the computing type of `source` as a stored element of `target`."""
    if target.kind == "truth":
        return is_not_zero(number)
    if source.is_float:
        return store(number, target) if target.is_float else _whole(number, target)
    if target.is_float:
        return store(_float_of(number, source, target), target)
    return resize(number, source, target)


def is_not_zero(number: ir.Value) -> ir.Value:
    """Returns whether a number is not 0; nan is not."""
    zero = constant(number.type, 0)
    if isinstance(number.type, ir.FloatType):
        return arith.cmpf(arith.CmpFPredicate.UNE, number, zero)
    if ir.IntegerType(number.type).width == 1:
        return number
    return arith.cmpi(arith.CmpIPredicate.ne, number, zero)


def resize(number: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    """Returns an integer or i1 modulo 2^bits of another integer type."""
    wanted = computing_type(target)
    here, there = ir.IntegerType(number.type).width, ir.IntegerType(wanted).width
    if here == there:
        return number
    if here > there:
        return arith.trunci(wanted, number)
    return arith.extsi(wanted, number) if source.kind == "signed" else arith.extui(wanted, number)


def _whole(number: ir.Value, target: ElementType) -> ir.Value:
    kind = computing_type(target)
    return arith.fptosi(kind, number) if target.kind == "signed" else arith.fptoui(kind, number)


def _float_of(number: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    """Returns an integer as a float that rounds to `target` as the integer itself does."""
    bits = ir.IntegerType(number.type).width
    f32, f64 = ir.F32Type.get(), ir.F64Type.get()
    if target.name in ("f32", "f64"):
        return _converted(number, source, computing_type(target))
    if bits <= 16:
        return _converted(number, source, f32)
    if bits == 64:
        number = _with_53_bits(number, source)
    return _converted(number, source, f64)


def _converted(number: ir.Value, source: ElementType, kind: ir.Type) -> ir.Value:
    return arith.sitofp(kind, number) if source.kind == "signed" else arith.uitofp(kind, number)


def _with_53_bits(number: ir.Value, source: ElementType) -> ir.Value:
    """Returns a 64-bit integer of which f64 has all bits, what is dropped kept in
    the last of them.
    """
    kind = number.type
    dropped = constant(kind, (1 << _BEYOND_F64) - 1)
    low = arith.andi(number, dropped)
    some = arith.cmpi(arith.CmpIPredicate.ne, low, constant(kind, 0))
    sticky = arith.shli(arith.extui(kind, some), constant(kind, _BEYOND_F64))
    folded = arith.ori(arith.subi(number, low), sticky)
    bound = constant(kind, 1 << 53)
    if source.kind == "unsigned":
        fits = arith.cmpi(arith.CmpIPredicate.ule, number, bound)
    else:
        twice = constant(kind, 1 << 54)
        fits = arith.cmpi(arith.CmpIPredicate.ule, arith.addi(number, bound), twice)
    return arith.select(fits, number, folded)
