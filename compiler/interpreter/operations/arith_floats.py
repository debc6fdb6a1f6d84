"""arith on floats: arithmetic, comparisons, conversions. Computed in 64 bits, rounded once.

64 bits are enough for one rounding of a sum, product or quotient of 32 bits or fewer (S. Figueroa,
"When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.mlir import ir
from ..convert import convert, load, store
from ..dtypes import computing_dtype, dtype_of, element_type_of
from ..frame import Frame
from ..registry import interprets
from ..scalar_numbers import from_number, integer_of_type, round_float, signed, unsigned, width_of
from ..torch_import import torch


def divide(a: float, b: float) -> float:
    """IEEE's quotient."""
    if b != 0 or math.isnan(a):
        return a / b if b != 0 else math.nan
    if a == 0:
        return math.nan
    return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))


def _remainder(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


def _least(a: float, b: float) -> float:
    """IEEE's minimum: nan if either is, -0 below 0."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return min(a, b, key=lambda x: (x, math.copysign(1, x)))


def _greatest(a: float, b: float) -> float:
    return -_least(-a, -b)


def _number_of(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Returns the function of numbers, where one that is nan does not count."""
    return lambda a, b: b if math.isnan(a) else a if math.isnan(b) else function(a, b)


FLOAT_FUNCTIONS: dict[str, Callable[[float, float], float]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": divide,
    "remf": _remainder,
    "minimumf": _least,
    "maximumf": _greatest,
    "minnumf": _number_of(_least),
    "maxnumf": _number_of(_greatest),
}


def _is_less(a: float, b: float) -> bool:
    return a < b


# By number, as arith.cmpf has them: ordered ones from 1, unordered ones from 8.
_ORDERED: tuple[Callable[[float, float], bool], ...] = (
    lambda a, b: False,
    lambda a, b: a == b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    _is_less,
    lambda a, b: a <= b,
    lambda a, b: a != b,
    lambda a, b: True,
)
_FIRST_UNORDERED = 7
_ALWAYS_TRUE = 15


@interprets(*(f"arith.{name}" for name in FLOAT_FUNCTIONS))
def floats(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    a, b = (frame.value(operand) for operand in op.operands)
    value = FLOAT_FUNCTIONS[op.name.removeprefix("arith.")](a, b)
    return [round_float(value, str(op.results[0].type))]


@interprets("arith.negf")
def negate(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [-frame.value(op.operands[0])]


@interprets("arith.cmpf")
def compare(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    a, b = (frame.value(operand) for operand in op.operands)
    if predicate in (0, _ALWAYS_TRUE):
        return [predicate == _ALWAYS_TRUE]
    if math.isnan(a) or math.isnan(b):
        return [predicate > _FIRST_UNORDERED]
    if predicate == _FIRST_UNORDERED:
        return [True]
    # uno is the last of the unordered ones, as ord is of the ordered.
    place = predicate if predicate < _FIRST_UNORDERED else predicate - _FIRST_UNORDERED
    return [place != _FIRST_UNORDERED and _ORDERED[place](a, b)]


@interprets("arith.extf", "arith.truncf")
def resize(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [round_float(frame.value(op.operands[0]), str(op.results[0].type))]


@interprets("arith.sitofp", "arith.uitofp")
def from_integer(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    bits = width_of(op.operands[0].type)
    value = frame.number(op.operands[0])
    value = signed(value, bits) if op.name == "arith.sitofp" else unsigned(value, bits)
    target = element_type_of(op.results[0].type)
    source = element_type_of(ir.Type.parse("i64" if value < 2**63 else "ui64", op.context))
    assert source is not None
    assert target is not None
    number = torch.tensor(signed(value, 64), dtype=torch.int64)
    return [from_number(convert(number, source, target), target)]


@interprets("arith.fptosi", "arith.fptoui")
def to_integer(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value = frame.value(op.operands[0])
    whole = int(value) if math.isfinite(value) else 0
    return [integer_of_type(whole, op.results[0].type)]


@interprets("arith.bitcast")
def bitcast(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value = frame.value(op.operands[0])
    source, target = (element_type_of(item.type) for item in (op.operands[0], op.results[0]))
    assert source is not None
    assert target is not None
    number = torch.tensor(
        signed(value, 64) if source.is_integer else value, dtype=computing_dtype(source)
    )
    return [from_number(load(store(number, source).view(dtype_of(target)), target), target)]
