"""The kinds by which values are combined: arith's operations, and their neutral elements."""

from __future__ import annotations

import math

from ...dialects.hir.loop_operation import FLOAT_KINDS, INTEGER_KINDS
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..constants import float_constant

_KINDS = (*FLOAT_KINDS, *INTEGER_KINDS)
# arith.cmpf and arith.cmpi predicates: what they compare as, and whether a nan makes them hold.
_FLOAT_ORDER = {
    2: (">", False),
    3: (">=", False),
    4: ("<", False),
    5: ("<=", False),
    9: (">", True),
    10: (">=", True),
    11: ("<", True),
    12: ("<=", True),
}
_INTEGER_ORDER = {
    2: ("<", "s"),
    3: ("<=", "s"),
    4: (">", "s"),
    5: (">=", "s"),
    6: ("<", "u"),
    7: ("<=", "u"),
    8: (">", "u"),
    9: (">=", "u"),
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Combination:
    """A value that is combined with what was there, by an operation of arith's named `kind`.

    With `keeps_nan` it is a comparison and a select that never replace a nan: one that was there
    before the first value stays. The values themselves leave none behind.
    """

    kind: str
    value: ir.Value
    keeps_nan: bool = False


@dataclass(frozen=True)
class Comparison:
    """`value` compared with another: `order` is <, <=, > or >=.

    `on_nan` is what it gives where one of the two is a nan; `signedness` is s or u, of integers.
    """

    order: str
    value: ir.Value
    on_nan: bool
    signedness: str

    @property
    def kind(self) -> str:
        """The kind that keeps the value for which it holds."""
        extreme = "max" if self.order[0] == ">" else "min"
        return extreme + (f"{self.signedness}i" if self.signedness else "numf")


def combination(result: ir.Value, before: ir.Value) -> Combination | None:
    """Returns how `result` is made of `before` and one other value; None where that is unknown."""
    if isinstance(result.owner, ir.Block):
        return None
    op = result.owner.operation
    if op.name == "arith.select":
        return _by_select(op, before)
    kind = op.name.removeprefix("arith.")
    if op.name == kind or kind not in _KINDS:
        return None
    first, second = op.operands
    if first == before and second != before:
        return Combination(kind, second)
    if second == before and first != before:
        return Combination(kind, first)
    return None


def comparison(result: ir.Value, before: ir.Value) -> Comparison | None:
    """Returns how `result` compares some value with `before`."""
    if isinstance(result.owner, ir.Block):
        return None
    op = result.owner.operation
    if op.name not in ("arith.cmpf", "arith.cmpi"):
        return None
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    on_nan, signedness = False, ""
    if op.name == "arith.cmpf":
        if predicate not in _FLOAT_ORDER:
            return None
        order, on_nan = _FLOAT_ORDER[predicate]
    else:
        if predicate not in _INTEGER_ORDER:
            return None
        order, signedness = _INTEGER_ORDER[predicate]
    first, second = op.operands
    if second == before and first != before:
        return Comparison(order, first, on_nan, signedness)
    if first == before and second != before:
        return Comparison(_MIRRORED[order], second, on_nan, signedness)
    return None


def neutral(kind: str, element: ir.Type) -> int | float:
    """Returns the value that changes nothing when combined; integers as unsigned bits where all are
    set.
    """
    if kind in FLOAT_KINDS:
        # An infinity changes a nan: maxnumf and minnumf give the other operand.
        floats = {"addf": -0.0, "mulf": 1.0, "maximumf": -math.inf, "minimumf": math.inf}
        return floats.get(kind, math.nan)
    width = ir.IntegerType(element).width
    return {
        "muli": 1,
        "andi": (1 << width) - 1,
        "minui": (1 << width) - 1,
        "maxsi": 1 << (width - 1),
        "minsi": (1 << (width - 1)) - 1,
    }.get(kind, 0)


def is_neutral(kind: str, start: ir.Value, *, of_sums: bool = True) -> bool:
    """Returns whether a value is a constant that changes nothing when combined by `kind`.

    Zeros of either sign change no sum that is begun by a kernel, which begins with 0. With
    `of_sums` false a value alone has to stay as it is, and 0 makes -0 into 0.
    """
    if kind in FLOAT_KINDS:
        value, wanted = float_constant(start), neutral(kind, start.type)
        if value is None or (math.isnan(value) and math.isnan(wanted)):
            return value is not None
        same_sign = math.copysign(1, value) == math.copysign(1, wanted)
        return value == wanted and (of_sums or same_sign)
    if isinstance(start.owner, ir.Block) or start.owner.operation.name != "arith.constant":
        return False
    attribute = start.owner.operation.attributes["value"]
    if not isinstance(attribute, ir.IntegerAttr):
        return False
    wanted = int(neutral(kind, start.type))
    return (attribute.value - wanted) % (1 << ir.IntegerType(start.type).width) == 0


def is_extreme(kind: str, start: ir.Value) -> bool:
    """Returns whether a constant is one that no value is more extreme than, in the
    sense of `kind`.
    """
    if kind not in ("maxnumf", "minnumf"):
        return is_neutral(kind, start)
    return float_constant(start) == extreme_number(kind)


def extreme_number(kind: str) -> float:
    """Returns the infinity that a search for the greatest or least float begins with."""
    return -math.inf if kind.startswith("max") else math.inf


def may_be_nan(value: ir.Value) -> bool:
    """Returns whether a float is no constant that is a number."""
    number = float_constant(value)
    return number is None or math.isnan(number)


def combine(kind: str, first: ir.Value, second: ir.Value) -> ir.Value:
    """Returns the operation `kind` on two values."""
    return ir.Operation.create(
        f"arith.{kind}", results=[first.type], operands=[first, second]
    ).results[0]


def _by_select(op: ir.Operation, before: ir.Value) -> Combination | None:
    """Returns a maximum or minimum by comparing, in a form that never keeps a nan that comes in."""
    condition, chosen, otherwise = op.operands
    found = comparison(condition, before)
    if found is None:
        return None
    if chosen == found.value and otherwise == before and not found.on_nan:
        return Combination(found.kind, found.value, not found.signedness)
    if chosen == before and otherwise == found.value and (found.on_nan or found.signedness):
        opposite = Comparison(_MIRRORED[found.order], found.value, False, found.signedness)
        return Combination(opposite.kind, found.value, not found.signedness)
    return None
