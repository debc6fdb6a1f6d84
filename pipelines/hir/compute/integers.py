"""What the kinds compute with integers, which wrap around."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ....dialects.mlir import arith, cf, ir, math
from ...rewriting import constant

Emitter = Callable[..., ir.Value]

_P = arith.CmpIPredicate


def _compare(predicate: arith.CmpIPredicate, x: ir.Value, y: ir.Value) -> ir.Value:
    return arith.cmpi(predicate, x, y)


def _like(x: ir.Value, number: int) -> ir.Value:
    return constant(x.type, number)


def _same(x: ir.Value) -> ir.Value:
    return x


def _not(x: ir.Value) -> ir.Value:
    return arith.xori(x, _like(x, -1))


def _neg(x: ir.Value) -> ir.Value:
    return arith.subi(_like(x, 0), x)


def _abs(x: ir.Value) -> ir.Value:
    return arith.select(_compare(_P.slt, x, _like(x, 0)), _neg(x), x)


def _sign(x: ir.Value) -> ir.Value:
    zero = _like(x, 0)
    below = arith.select(_compare(_P.slt, x, zero), _like(x, -1), zero)
    return arith.select(_compare(_P.sgt, x, zero), _like(x, 1), below)


def _is_some(x: ir.Value) -> ir.Value:
    return arith.select(_compare(_P.ne, x, _like(x, 0)), _like(x, 1), _like(x, 0))


def _check_divisor(kind: str, y: ir.Value) -> None:
    cf.AssertOp(_compare(_P.ne, y, _like(y, 0)), f"'{kind}' of integers divides by 0")


def _checked(kind: str, divide: Emitter) -> Emitter:
    """Returns a division that ends the program where the divisor is 0."""

    def emit(x: ir.Value, y: ir.Value) -> ir.Value:
        _check_divisor(kind, y)
        return divide(x, y)

    return emit


def _by_other_than_minus_one(y: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Returns whether a divisor is -1, of which the least integer has no quotient; and one that is
    not.
    """
    is_minus_one = _compare(_P.eq, y, _like(y, -1))
    return is_minus_one, arith.select(is_minus_one, _like(y, 1), y)


def _div(x: ir.Value, y: ir.Value) -> ir.Value:
    is_minus_one, divisor = _by_other_than_minus_one(y)
    return arith.select(is_minus_one, _neg(x), arith.divsi(x, divisor))


def _needs_step(rest: ir.Value, y: ir.Value) -> ir.Value:
    """Returns whether a remainder of the sign of x is not 0 and has not that of y."""
    some = _compare(_P.ne, rest, _like(rest, 0))
    differ = _compare(_P.slt, arith.xori(rest, y), _like(rest, 0))
    return arith.andi(some, differ)


def _floordiv(x: ir.Value, y: ir.Value) -> ir.Value:
    is_minus_one, divisor = _by_other_than_minus_one(y)
    quotient = arith.divsi(x, divisor)
    rest = arith.subi(x, arith.muli(quotient, divisor))
    below = arith.subi(quotient, _like(x, 1))
    floor = arith.select(_needs_step(rest, divisor), below, quotient)
    return arith.select(is_minus_one, _neg(x), floor)


def _mod(x: ir.Value, y: ir.Value) -> ir.Value:
    # The remainder by -1 is that by 1.
    _, divisor = _by_other_than_minus_one(y)
    rest = arith.remsi(x, divisor)
    return arith.select(_needs_step(rest, divisor), arith.addi(rest, divisor), rest)


def _signed_relu(x: ir.Value) -> ir.Value:
    return arith.maxsi(x, _like(x, 0))


def _signed_clamp(x: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
    return arith.minsi(arith.maxsi(x, low), high)


def _unsigned_clamp(x: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
    return arith.minui(arith.maxui(x, low), high)


def _unsigned_pow(x: ir.Value, y: ir.Value) -> ir.Value:
    """Of the exponent's top bit t: x^(t + r) is x^r where x is odd, and 0 where x is even.

    That is so modulo 2^bits for 8 bits and more.
    """
    bits = ir.IntegerType(x.type).width
    rest = arith.andi(y, _like(y, (1 << (bits - 1)) - 1))
    is_even = _compare(_P.eq, arith.andi(x, _like(x, 1)), _like(x, 0))
    has_top = _compare(_P.slt, y, _like(y, 0))
    power = math.ipowi(x, rest)
    return arith.select(arith.andi(is_even, has_top), _like(x, 0), power)


_COMMON: dict[str, Emitter] = {
    "neg": _neg,
    "floor": _same,
    "ceil": _same,
    "round": _same,
    "trunc": _same,
    "not": _not,
    "add": arith.addi,
    "sub": arith.subi,
    "mul": arith.muli,
    "and": arith.andi,
    "or": arith.ori,
    "xor": arith.xori,
    "eq": partial(_compare, _P.eq),
    "ne": partial(_compare, _P.ne),
}

SIGNED: dict[str, Emitter] = {
    **_COMMON,
    "abs": _abs,
    "sign": _sign,
    "relu": _signed_relu,
    "div": _checked("div", _div),
    "floordiv": _checked("floordiv", _floordiv),
    "mod": _checked("mod", _mod),
    "pow": math.ipowi,
    "min": arith.minsi,
    "max": arith.maxsi,
    "lt": partial(_compare, _P.slt),
    "le": partial(_compare, _P.sle),
    "gt": partial(_compare, _P.sgt),
    "ge": partial(_compare, _P.sge),
    "clamp": _signed_clamp,
}

UNSIGNED: dict[str, Emitter] = {
    **_COMMON,
    "abs": _same,
    "sign": _is_some,
    "relu": _same,
    "div": _checked("div", arith.divui),
    "floordiv": _checked("floordiv", arith.divui),
    "mod": _checked("mod", arith.remui),
    "pow": _unsigned_pow,
    "min": arith.minui,
    "max": arith.maxui,
    "lt": partial(_compare, _P.ult),
    "le": partial(_compare, _P.ule),
    "gt": partial(_compare, _P.ugt),
    "ge": partial(_compare, _P.uge),
    "clamp": _unsigned_clamp,
}
