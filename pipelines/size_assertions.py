"""Assertions on two sizes, whose messages show both where they do not hold."""

from __future__ import annotations

import re

from ..dialects.mlir import arith, cf, ir
from .constants import constant_value

# Of a cf.assert: what its message goes on with, `{0}` and `{1}` for what its condition compares.
SHOWN = "hir.shown"
_PLACE = re.compile(r"\{(\d)\}")
_EQUAL = arith.CmpIPredicate.eq
_AT_MOST = arith.CmpIPredicate.sle
_AT_LEAST = arith.CmpIPredicate.sge


def assert_equal(first: ir.Value, second: ir.Value, message: str, shown: str) -> None:
    """Asserts that two sizes are the same."""
    if constant_value(first) is not None:
        # As canonicalization has it, which would change the order.
        first, second = second, first
        shown = _PLACE.sub(lambda place: "{1}" if place[1] == "0" else "{0}", shown)
    _assert(_EQUAL, first, second, message, shown)


def assert_at_most(first: ir.Value, second: ir.Value, message: str, shown: str) -> None:
    """Asserts that the first number is the second one at most."""
    _assert(_AT_MOST, first, second, message, shown)


def _assert(
    predicate: arith.CmpIPredicate, first: ir.Value, second: ir.Value, message: str, shown: str
) -> None:
    op = cf.AssertOp(arith.cmpi(predicate, first, second), message)
    op.operation.attributes[SHOWN] = ir.StringAttr.get(shown)


def compared(assertion: ir.Operation) -> tuple[str, list[ir.Value]] | None:
    """Returns an assertion's message with `{}` for its numbers, and these in order.

    None where there are none: a condition that is known compares nothing any more.
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
