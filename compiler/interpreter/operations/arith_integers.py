"""arith on integers and indices: constants, arithmetic, comparisons, conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..registry import interprets
from ..scalar_numbers import integer_of_type, round_float, signed, unsigned, width_of

_Function = Callable[[int, int, int], int]


class _Undefined(Exception):
    """The operation has no result for these operands."""


def truncated(a: int, b: int) -> int:
    """a / b without the fraction."""
    if b == 0:
        raise _Undefined("a division by 0")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def floored(a: int, b: int) -> int:
    """Returns the greatest whole number not above a / b."""
    if b == 0:
        raise _Undefined("a division by 0")
    return a // b


def _shifted(a: int, b: int, bits: int, shift: Callable[[int, int], int]) -> int:
    places = unsigned(b, bits)
    if places >= bits:
        raise _Undefined(f"a shift of {bits} bits by {places}")
    return shift(a, places)


def _of_unsigned(function: Callable[[int, int], int]) -> _Function:
    return lambda a, b, bits: function(unsigned(a, bits), unsigned(b, bits))


# On two signed integers and their number of bits.
INTEGER_FUNCTIONS: dict[str, _Function] = {
    "addi": lambda a, b, bits: a + b,
    "subi": lambda a, b, bits: a - b,
    "muli": lambda a, b, bits: a * b,
    "divsi": lambda a, b, bits: truncated(a, b),
    "divui": _of_unsigned(floored),
    "ceildivsi": lambda a, b, bits: -floored(-a, b),
    "ceildivui": _of_unsigned(lambda a, b: -floored(-a, b)),
    "floordivsi": lambda a, b, bits: floored(a, b),
    "remsi": lambda a, b, bits: a - b * truncated(a, b),
    "remui": _of_unsigned(lambda a, b: a - b * floored(a, b)),
    "minsi": lambda a, b, bits: min(a, b),
    "minui": _of_unsigned(min),
    "maxsi": lambda a, b, bits: max(a, b),
    "maxui": _of_unsigned(max),
    "andi": lambda a, b, bits: a & b,
    "ori": lambda a, b, bits: a | b,
    "xori": lambda a, b, bits: a ^ b,
    "shli": lambda a, b, bits: _shifted(a, b, bits, lambda x, n: x << n),
    "shrsi": lambda a, b, bits: _shifted(a, b, bits, lambda x, n: x >> n),
    "shrui": lambda a, b, bits: _shifted(unsigned(a, bits), b, bits, lambda x, n: x >> n),
}

# By number, as arith.cmpi has them.
PREDICATES: tuple[_Function, ...] = (
    lambda a, b, bits: a == b,
    lambda a, b, bits: a != b,
    lambda a, b, bits: a < b,
    lambda a, b, bits: a <= b,
    lambda a, b, bits: a > b,
    lambda a, b, bits: a >= b,
    _of_unsigned(lambda a, b: a < b),
    _of_unsigned(lambda a, b: a <= b),
    _of_unsigned(lambda a, b: a > b),
    _of_unsigned(lambda a, b: a >= b),
)


@interprets("arith.constant")
def constant(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value = op.attributes["value"]
    if isinstance(value, ir.FloatAttr):
        return [round_float(value.value, str(op.results[0].type))]
    if isinstance(value, ir.BoolAttr):
        return [value.value]
    if not isinstance(value, ir.IntegerAttr):
        fault.refuse(op, f"the interpreter has numbers alone as constants, not {value}")
    return [integer_of_type(value.value, op.results[0].type)]


@interprets(*(f"arith.{name}" for name in INTEGER_FUNCTIONS))
def integers(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [on_integers(op, frame, INTEGER_FUNCTIONS[op.name.removeprefix("arith.")])]


def on_integers(op: ir.Operation, frame: Frame, function: _Function) -> int | bool:
    """Returns a function of an operation's two operands, wrapped around to its result's type."""
    a, b, bits = _operands(op, frame)
    try:
        value = function(a, b, bits)
    except _Undefined as error:
        fault.fail(op, f"{error} has no result")
    return integer_of_type(value, op.results[0].type)


@interprets("arith.cmpi")
def compare(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    a, b, bits = _operands(op, frame)
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    return [bool(PREDICATES[predicate](a, b, bits))]


@interprets("arith.select")
def select(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    condition, if_true, if_false = (frame.value(operand) for operand in op.operands)
    return [if_true if condition else if_false]


@interprets("arith.index_cast", "arith.extsi", "arith.trunci")
def keep_sign(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [integer_of_type(_signed_operand(op, frame), op.results[0].type)]


@interprets("arith.index_castui", "arith.extui")
def drop_sign(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    bits = width_of(op.operands[0].type)
    return [integer_of_type(unsigned(_signed_operand(op, frame), bits), op.results[0].type)]


def _signed_operand(op: ir.Operation, frame: Frame, place: int = 0) -> int:
    """Returns an integer operand with the sign that its top bit gives."""
    return signed(frame.number(op.operands[place]), width_of(op.operands[place].type))


def _operands(op: ir.Operation, frame: Frame) -> tuple[int, int, int]:
    return (
        _signed_operand(op, frame, 0),
        _signed_operand(op, frame, 1),
        width_of(op.operands[0].type),
    )
