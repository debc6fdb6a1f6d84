"""What becomes of a sum: what the library adds to its product, and the activation it applies.

They are matched operation by operation, and constants exactly:

  a sum       sum + bias + addend, in any order, or less
  relu        max(sum, 0) as arith.maximumf, or `sum < 0 ? 0 : sum` in a form that keeps a nan,
              as the library does; where nans do not matter, the other forms too
  gelu_tanh   0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), its factors in any order

Between them a value may be rounded to the result's own type: the library rounds once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import copysign, pi, sqrt
from typing import TypeVar

from ...dialects.mlir import arith, ir, math
from ...dialects.records import dataclass

# A bias and an addend.
_MOST_ADDED = 2

_Op = TypeVar("_Op", bound=ir.OpView)
_Condition = Callable[[ir.Value], bool]

_MIRRORED = {
    arith.CmpFPredicate.OGT: arith.CmpFPredicate.OLT,
    arith.CmpFPredicate.OGE: arith.CmpFPredicate.OLE,
    arith.CmpFPredicate.OLT: arith.CmpFPredicate.OGT,
    arith.CmpFPredicate.OLE: arith.CmpFPredicate.OGE,
    arith.CmpFPredicate.UGT: arith.CmpFPredicate.ULT,
    arith.CmpFPredicate.UGE: arith.CmpFPredicate.ULE,
    arith.CmpFPredicate.ULT: arith.CmpFPredicate.UGT,
    arith.CmpFPredicate.ULE: arith.CmpFPredicate.UGE,
}


def read_activation(
    result: ir.Value,
    total: ir.Value,
    added: Sequence[ir.Value],
    element: ir.Type,
    *,
    ignores_nan: bool = False,
) -> str | None:
    """Returns the activation that leads from `total`, the sum, to `result`.

    It is empty where there is none, and the result None where no product ends so. `added` are the
    other elements that the program reads, each of which is added once before. `element` is the type
    of the result's elements. With `ignores_nan` it does not matter what becomes of a nan.
    """
    if len(added) > _MOST_ADDED:
        return None
    reader = _Reader(total, tuple(added), element, ignores_nan)
    activations = {"": reader.is_sum, "relu": reader.is_relu, "gelu_tanh": reader.is_gelu}
    for activation, holds in activations.items():
        if holds(result):
            return activation
    return None


@dataclass(frozen=True)
class _Reader:
    total: ir.Value
    added: tuple[ir.Value, ...]
    element: ir.Type
    ignores_nan: bool

    def is_sum(self, value: ir.Value) -> bool:
        """Returns whether a value is the total with all that is added, in whatever order."""
        missing, left = [self.total, *self.added], [value]
        while left:
            each = self._behind(left.pop())
            made = self._made_by(each, arith.AddFOp)
            if each in missing:
                missing.remove(each)
            elif made is not None:
                left += made.operands
            else:
                return False
        return not missing

    def is_relu(self, value: ir.Value) -> bool:
        """Returns whether a value is the greater one of the sum and 0."""
        most = self._made_by(value, arith.MaximumFOp)
        if most is None:
            most = self._made_by(value, arith.MaxNumFOp)
            if most is None:
                return self._is_relu_by_comparing(value)
            if not self._ignores_nan(most):
                return False
        first, second = most.operands
        return self._are_sum_and_zero(first, second) or self._are_sum_and_zero(second, first)

    def _is_relu_by_comparing(self, value: ir.Value) -> bool:
        choice = self._made_by(value, arith.SelectOp)
        compared = None if choice is None else self._made_by(choice.operands[0], arith.CmpFOp)
        if choice is None or compared is None:
            return False
        predicate = arith.CmpFPredicate(ir.IntegerAttr(compared.attributes["predicate"]).value)
        left, right = compared.operands
        if self._is_number(left, 0.0):
            left, right, predicate = right, left, _MIRRORED.get(predicate)
        if not self._are_sum_and_zero(left, right):
            return False
        _, chosen, otherwise = choice.operands
        is_free = self._ignores_nan(compared) or self._ignores_nan(choice)
        if self._are_sum_and_zero(chosen, otherwise):
            free = (arith.CmpFPredicate.OGT, arith.CmpFPredicate.OGE)
            return predicate in (arith.CmpFPredicate.UGT, arith.CmpFPredicate.UGE) or (
                is_free and predicate in free
            )
        if self._are_sum_and_zero(otherwise, chosen):
            free = (arith.CmpFPredicate.ULT, arith.CmpFPredicate.ULE)
            return predicate in (arith.CmpFPredicate.OLT, arith.CmpFPredicate.OLE) or (
                is_free and predicate in free
            )
        return False

    def is_gelu(self, value: ir.Value) -> bool:
        """Returns whether a value is 0.5 x (1 + tanh(...)) of the sum."""
        return self._multiplies(value, self._number(0.5), self._is_above_tangent, self.is_sum)

    def _is_above_tangent(self, value: ir.Value) -> bool:
        """Returns whether a value is 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))."""
        return self._adds(value, self._number(1.0), self._is_tangent)

    def _is_tangent(self, value: ir.Value) -> bool:
        tangent = self._made_by(value, math.TanhOp)
        return tangent is not None and self._multiplies(
            tangent.operands[0], self._number(sqrt(2 / pi)), self._is_cubic
        )

    def _is_cubic(self, value: ir.Value) -> bool:
        return self._adds(value, self.is_sum, self._is_small_cube)

    def _is_small_cube(self, value: ir.Value) -> bool:
        return self._multiplies(value, self._number(0.044715), *[self.is_sum] * 3)

    def _adds(self, value: ir.Value, *conditions: _Condition) -> bool:
        added = self._made_by(value, arith.AddFOp)
        return added is not None and _are_each(list(added.operands), conditions)

    def _multiplies(self, value: ir.Value, *conditions: _Condition) -> bool:
        return _are_each(self._factors(value, len(conditions)), conditions)

    def _factors(self, value: ir.Value, most: int) -> list[ir.Value]:
        """Returns what a value is a product of, powers written out; nothing where they are more."""
        found, left = list[ir.Value](), [value]
        while left and len(found) + len(left) <= most:
            value = self._behind(left.pop())
            product = self._made_by(value, arith.MulFOp)
            exponents = [each for each in (2, 3) if self._is_power(value, each)]
            if product is not None:
                left += product.operands
            elif exponents:
                power = _defining(value)
                assert power is not None
                left += [power.operands[0]] * exponents[0]
            else:
                found.append(value)
        return [] if left else found

    def _is_power(self, value: ir.Value, exponent: int) -> bool:
        power = self._made_by(value, math.PowFOp)
        if power is not None:
            return self._is_number(power.operands[1], exponent)
        power = self._made_by(value, math.FPowIOp)
        return power is not None and _is_integer(power.operands[1], exponent)

    def _are_sum_and_zero(self, one: ir.Value, other: ir.Value) -> bool:
        return self.is_sum(one) and self._is_number(other, 0.0)

    def _number(self, number: float) -> _Condition:
        return lambda value: self._is_number(value, number)

    def _is_number(self, value: ir.Value, number: float) -> bool:
        """Returns whether a value is the constant of that number, rounded to f32."""
        made = self._made_by(value, arith.ConstantOp)
        attribute = None if made is None else made.attributes["value"]
        if not isinstance(attribute, ir.FloatAttr):
            return False
        wanted = ir.FloatAttr.get(ir.F32Type.get(), number).value
        return attribute.value == wanted and copysign(1, attribute.value) == copysign(1, wanted)

    def _made_by(self, value: ir.Value, kind: type[_Op]) -> _Op | None:
        """Returns the operation that gives a value where it is one of that kind, None otherwise."""
        op = _defining(self._behind(value))
        return op if isinstance(op, kind) else None

    def _behind(self, value: ir.Value) -> ir.Value:
        """Returns what extensions from and roundings to the result's type are of."""
        types = (self.element, ir.F32Type.get())
        op = _defining(value)
        while isinstance(op, arith.ExtFOp | arith.TruncFOp):
            if op.operands[0].type not in types or value.type not in types:
                break
            value = op.operands[0]
            op = _defining(value)
        return value

    def _ignores_nan(self, op: ir.OpView) -> bool:
        """Returns whether it does not matter what an operation gives for a nan."""
        flags = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else ""
        return self.ignores_nan or "nnan" in flags or "fast>" in flags


def _are_each(values: Sequence[ir.Value], conditions: Sequence[_Condition]) -> bool:
    """Returns whether each value meets a condition of its own, and every condition is met."""
    if len(values) != len(conditions):
        return False
    return any(
        all(holds(value) for value, holds in zip(order, conditions, strict=True))
        for order in permutations(values)
    )


def _is_integer(value: ir.Value, number: int) -> bool:
    made = _defining(value)
    attribute = made.attributes["value"] if isinstance(made, arith.ConstantOp) else None
    return isinstance(attribute, ir.IntegerAttr) and attribute.value == number


def _defining(value: ir.Value) -> ir.OpView | None:
    """Returns the operation that gives a value; None for the argument of a block."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation.opview
