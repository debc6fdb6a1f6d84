"""What the kinds of collective operations do to values: neutral elements, combining, places.

All take scalars, and vectors element by element.
"""

from __future__ import annotations

from math import inf, nan

from ...dialects.mlir import arith, ir, math
from ..rewriting import constant, element_type

# A value and the number of its iteration among those that are reduced.
Found = tuple[ir.Value, ir.Value]

_NEUTRAL_FLOATS = {
    "addf": 0.0,
    "mulf": 1.0,
    "maximumf": -inf,
    "minimumf": inf,
    # They give the other operand where one is nan.
    "maxnumf": nan,
    "minnumf": nan,
    "logaddexp": -inf,
}
_NEUTRAL_INTEGERS = {"addi": 0, "muli": 1, "andi": -1, "ori": 0, "xori": 0, "maxui": 0, "minui": -1}


def neutral(kind: str, type: ir.Type) -> ir.Value:
    """The element that leaves every other as it is, and the result without iterations.

    The sum of no floats is +0.
    """
    return constant(type, neutral_number(kind, element_type(type)))


def neutral_number(kind: str, element: ir.Type) -> int | float:
    """The same as a number; integers may be unsigned bits."""
    if kind in _NEUTRAL_FLOATS:
        return _NEUTRAL_FLOATS[kind]
    if kind in _NEUTRAL_INTEGERS:
        return _NEUTRAL_INTEGERS[kind]
    sign = 1 << (ir.IntegerType(element).width - 1)
    return {"maxsi": sign, "minsi": sign - 1}[kind]


def combine(kind: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """Two values made into one.

    maximumf and minimumf give nan where either is nan, and take -0 for less than +0. All but
    logaddexp are arith's.
    """
    if kind == "logaddexp":
        return _log_of_sum(a, b)
    return ir.Operation.create(f"arith.{kind}", operands=[a, b], results=[a.type]).results[0]


def _log_of_sum(a: ir.Value, b: ir.Value) -> ir.Value:
    """log(exp(a) + exp(b)), of which no power overflows. Two equal infinities differ by nothing."""
    greatest, least = arith.maximumf(a, b), arith.minimumf(a, b)
    is_equal = arith.cmpf(arith.CmpFPredicate.OEQ, greatest, least)
    less = arith.select(is_equal, constant(a.type, 0.0), arith.subf(least, greatest))
    return arith.addf(greatest, math.log1p(math.exp(less)))


def combine_places(kind: str, a: Found, b: Found, *, ascending: bool = False) -> Found:
    """The more extreme of two values, with its place; the smaller place among equals.

    With maximumf and minimumf a nan is more extreme than any number, with maxnumf and minnumf
    less; -0 and +0 are equal. `ascending` says that the place of `b` is known to be the greater.
    A search begins with the kind's neutral element and place 0: every element that is no more
    extreme than the neutral one is as good as the first.
    """
    taken = _precedes(kind, b[0], a[0])
    if not ascending:
        is_before = arith.cmpi(arith.CmpIPredicate.ult, b[1], a[1])
        taken = arith.ori(taken, arith.andi(_are_equal(a[0], b[0]), is_before))
    return arith.select(taken, b[0], a[0]), arith.select(taken, b[1], a[1])


_INTEGER_ORDERS = {
    "maxsi": arith.CmpIPredicate.sgt,
    "maxui": arith.CmpIPredicate.ugt,
    "minsi": arith.CmpIPredicate.slt,
    "minui": arith.CmpIPredicate.ult,
}


def _precedes(kind: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """Returns whether `a` is more extreme than `b`."""
    if kind in _INTEGER_ORDERS:
        return arith.cmpi(_INTEGER_ORDERS[kind], a, b)
    is_greatest = kind in ("maximumf", "maxnumf")
    order = arith.CmpFPredicate.UGT if is_greatest else arith.CmpFPredicate.ULT
    # The order holds where either is nan: which of them must not be depends on who wins.
    number = b if kind in ("maximumf", "minimumf") else a
    return arith.andi(arith.cmpf(order, a, b), _is_number(number))


def _are_equal(a: ir.Value, b: ir.Value) -> ir.Value:
    """Returns whether neither precedes the other."""
    if not isinstance(element_type(a.type), ir.FloatType):
        return arith.cmpi(arith.CmpIPredicate.eq, a, b)
    both_nan = arith.ori(_is_number(a), _is_number(b))
    false = constant(both_nan.type, 0)
    both_nan = arith.cmpi(arith.CmpIPredicate.eq, both_nan, false)
    return arith.ori(arith.cmpf(arith.CmpFPredicate.OEQ, a, b), both_nan)


def _is_number(value: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate.ORD, value, value)
