"""Assertions on two sizes, whose messages show both sizes when they fail."""

from __future__ import annotations

import re

from ..dialects.mlir import arith, cf, ir
from .constants import constant_value

# The attribute of a cf.assert with the end of its message: `{0}` and `{1}` stand for the operands
# of the comparison that is its condition.
SHOWN = "hir.shown"
_PLACE = re.compile(r"\{(\d)\}")
_EQUAL = arith.CmpIPredicate.eq
_AT_MOST = arith.CmpIPredicate.sle
_AT_LEAST = arith.CmpIPredicate.sge


def assert_equal(first: ir.Value, second: ir.Value, message: str, shown: str) -> None:
    """Emits an assertion that two sizes are equal; a failure appends `shown` to `message`."""
    if constant_value(first) is not None:
        # Canonicalization would otherwise swap them.
        first, second = second, first
        shown = _PLACE.sub(lambda place: "{1}" if place[1] == "0" else "{0}", shown)
    _assert(_EQUAL, first, second, message, shown)


def assert_at_most(first: ir.Value, second: ir.Value, message: str, shown: str) -> None:
    """Emits an assertion that the first number is at most the second; as assert_equal."""
    _assert(_AT_MOST, first, second, message, shown)


def _assert(
    predicate: arith.CmpIPredicate, first: ir.Value, second: ir.Value, message: str, shown: str
) -> None:
    op = cf.AssertOp(arith.cmpi(predicate, first, second), message)
    op.operation.attributes[SHOWN] = ir.StringAttr.get(shown)


def compared(assertion: ir.Operation) -> tuple[str, list[ir.Value]] | None:
    """Returns an assertion's message, with `{}` for each number, and these numbers in order.

    Returns None where the message has no numbers, or the condition was folded to a constant.
    """
    condition = assertion.operands[0].owner
    if SHOWN not in assertion.attributes or isinstance(condition, ir.Block):
        return None
    op = condition.operation
    if op.name != "arith.cmpi":
        return None
    numbers = list(op.operands)
    if ir.IntegerAttr(op.attributes["predicate"]).value == _AT_LEAST.value:
        numbers.reverse()
    message, shown = (ir.StringAttr(assertion.attributes[name]).value for name in ("msg", SHOWN))
    order = [int(each) for each in _PLACE.findall(shown)]
    return f"{message}: {_PLACE.sub('{}', shown)}", [numbers[each] for each in order]
