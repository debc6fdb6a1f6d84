"""hir.reduce: one generic, in which elements are extended, reduced, and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.hir.element_types import ElementType
from ....dialects.mlir import arith, ir
from ...rewriting import constant
from ..host_checks import check
from ..index_arithmetic import Index, materialized
from .casts import is_not_zero, resize
from .elements import computing_type, load, store
from .kinds import kind_name
from .operand import read_destination
from .reduced import Reduced, is_none, read_reduced
from .reductions import collective_kind, greatest
from .registry import lowers
from .sizes import subject

# Takes an element in its computing type, in the region; gives what the result holds of it all.
Rule = Callable[[ir.Value], ir.Value]


@lowers("hir.reduce")
def lower_reduce(op: ir.Operation) -> ir.Operation:
    """One generic, whatever the kind."""
    kind = kind_name(op)
    result = read_destination(op)
    reduced = read_reduced(op, result)
    element, target = reduced.x.element, result.element
    if kind in ("argmin", "argmax"):
        _check_some(op, reduced.sizes())
        rule = _place(kind, reduced)
    elif kind in ("sum", "prod", "mean"):
        rule = _total(kind, reduced, target)
    elif kind in ("any", "all"):
        rule = _truth(kind, reduced)
    else:
        rule = _extreme(kind, reduced)

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        number = rule(load(arguments[0], element))
        return [store(number, target) if target.is_float else number]

    return reduced.emit(result.stored, body)


def _total(kind: str, reduced: Reduced, target: ElementType) -> Rule:
    """Sums and products, in the computing type of the result."""
    element = reduced.x.element
    divide = _divide_by(reduced.count(), target) if kind == "mean" else None

    def total(number: ir.Value) -> ir.Value:
        if not target.is_float:
            number = resize(number, element, target)
        found = reduced.combine(collective_kind(kind, target), number)
        return found if divide is None else divide(found)

    return total


def _divide_by(count: Index, element: ElementType) -> Rule:
    """Returns what makes the mean of a sum."""
    kind = computing_type(element)
    divisor: float | ir.Value = 0.0
    if isinstance(count, int):
        divisor = float(count)
    else:
        whole = arith.index_cast(ir.IntegerType.get_signless(64), count)
        divisor = arith.sitofp(kind, whole)

    def divide(total: ir.Value) -> ir.Value:
        by = divisor if isinstance(divisor, ir.Value) else constant(kind, divisor)
        return arith.divf(total, by)

    return divide


def _truth(kind: str, reduced: Reduced) -> Rule:
    """Returns whether any or all elements are not 0."""

    def truth(number: ir.Value) -> ir.Value:
        return reduced.combine("ori" if kind == "any" else "andi", is_not_zero(number))

    return truth


def _extreme(kind: str, reduced: Reduced) -> Rule:
    """One of the elements, or of none the type's greatest or least."""
    element = reduced.x.element
    of_none = greatest(element) if kind in ("min", "fmin") else -greatest(element)
    # Only the float kinds' neutral element is not yet what is wanted of no elements.
    count = reduced.count() if _is_other_of_none(kind, element) else 1
    none = None if isinstance(count, int) else is_none(count)

    def extreme(number: ir.Value) -> ir.Value:
        found = reduced.combine(collective_kind(kind, element), number)
        if count == 0:
            return constant(found.type, of_none)
        if none is not None:
            return arith.select(none, constant(found.type, of_none), found)
        return found

    return extreme


def _is_other_of_none(kind: str, element: ElementType) -> bool:
    """Returns whether no elements give another number than the collective kind's
    neutral element.
    """
    return kind in ("fmin", "fmax") or element.name == "f8E4M3FN"


def _place(kind: str, reduced: Reduced) -> Rule:
    """Where the first of the extremes is."""
    element = reduced.x.element

    def place(number: ir.Value) -> ir.Value:
        return reduced.find(collective_kind(kind, element), number)

    return place


def _check_some(op: ir.Operation, sizes: Sequence[Index]) -> None:
    """There must be an element that can have a place."""
    text = f"{subject(op)} of no elements: a size that it reduces is 0"
    for size in sizes:
        if not isinstance(size, int):
            some = arith.cmpi(arith.CmpIPredicate.ne, size, materialized(0))
            check(some, text)
