"""What a straight scalar program computes, found by running it on numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence

from ...dialects.mlir import ir

_UNARY: dict[str, Callable[[float], float]] = {
    "arith.extf": float,
    "arith.truncf": float,
    "arith.negf": operator.neg,
    "math.tanh": math.tanh,
    "math.absf": abs,
    "math.erf": math.erf,
}
_BINARY: dict[str, Callable[[float, float], float]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.maximumf": max,
    "arith.maxnumf": max,
    "math.powf": lambda base, exponent: math.pow(base, exponent),
}
# The predicates of arith.cmpf on numbers; ordered and unordered ones are the same.
_COMPARISONS: dict[int, Callable[[float, float], bool]] = {
    1: operator.eq,
    2: operator.gt,
    3: operator.ge,
    4: operator.lt,
    5: operator.le,
    8: operator.eq,
    9: operator.gt,
    10: operator.ge,
    11: operator.lt,
    12: operator.le,
}


class UnknownOperation(Exception):
    """The program does what is not known here."""


def evaluate(value: ir.Value, known: Mapping[ir.Value, float]) -> float:
    """The number that a value is where the values in `known` are those; rounding is left out.

    Raises UnknownOperation.
    """
    return _Run(dict(known)).value(value)


class _Run:
    def __init__(self, known: dict[ir.Value, float]) -> None:
        self._known = known

    def value(self, value: ir.Value) -> float:
        if value not in self._known:
            owner = value.owner
            if isinstance(owner, ir.Block):
                raise UnknownOperation
            self._known[value] = self._result(owner.operation)
        return self._known[value]

    def _result(self, op: ir.Operation) -> float:
        if op.name == "arith.constant":
            attribute = op.attributes["value"]
            if not isinstance(attribute, ir.FloatAttr):
                raise UnknownOperation
            return attribute.value
        if op.name == "arith.select":
            condition, yes, no = op.operands
            return self.value(yes if self._holds(condition) else no)
        operands = list(op.operands)
        try:
            return self._computed(op.name, operands)
        except (ArithmeticError, ValueError) as error:
            raise UnknownOperation from error

    def _computed(self, name: str, operands: Sequence[ir.Value]) -> float:
        if name in _UNARY:
            return _UNARY[name](self.value(operands[0]))
        if name in _BINARY:
            return _BINARY[name](self.value(operands[0]), self.value(operands[1]))
        raise UnknownOperation

    def _holds(self, condition: ir.Value) -> bool:
        owner = condition.owner
        if isinstance(owner, ir.Block) or owner.operation.name != "arith.cmpf":
            raise UnknownOperation
        predicate = ir.IntegerAttr(owner.operation.attributes["predicate"]).value
        if predicate not in _COMPARISONS:
            raise UnknownOperation
        left, right = (self.value(operand) for operand in owner.operation.operands)
        return _COMPARISONS[predicate](left, right)
