"""What the kinds of hir.reduce are as kinds of hir.reduce_loops and hir.find_loops."""

from __future__ import annotations

from math import inf

from ....dialects.hir.element_types import ElementType

# f8E4M3FN has no infinity.
_F8E4M3FN_GREATEST = 448.0

_SUM = {"float": "addf", "signed": "addi", "unsigned": "addi", "truth": "addi"}
_PRODUCT = {"float": "mulf", "signed": "muli", "unsigned": "muli", "truth": "muli"}
_LEAST = {"float": "minimumf", "signed": "minsi", "unsigned": "minui", "truth": "minui"}
_GREATEST = {"float": "maximumf", "signed": "maxsi", "unsigned": "maxui", "truth": "maxui"}
_COLLECTIVE_KINDS = {
    "sum": _SUM,
    "mean": _SUM,
    "prod": _PRODUCT,
    "min": _LEAST,
    "max": _GREATEST,
    "fmin": {"float": "minnumf"},
    "fmax": {"float": "maxnumf"},
    "argmin": _LEAST,
    "argmax": _GREATEST,
}


def collective_kind(kind: str, element: ElementType) -> str:
    """Returns the operation of arith that a kind combines numbers of an element type with."""
    return _COLLECTIVE_KINDS[kind][element.kind]


def greatest(element: ElementType) -> float:
    """Returns the greatest number of a float type; the least is its opposite."""
    return _F8E4M3FN_GREATEST if element.name == "f8E4M3FN" else inf
