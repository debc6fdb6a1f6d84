"""The reductions that keep one number an element: what they begin with, and how they go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from ....dialects.hir.element_types import ElementType

Start = Callable[[ElementType], float]

# f8E4M3FN has no infinity.
_F8E4M3FN_GREATEST = 448.0


def greatest(element: ElementType) -> float:
    """The greatest number of an element type; of integers, as bits."""
    if element.is_float:
        return _F8E4M3FN_GREATEST if element.name == "f8E4M3FN" else inf
    bits = _bits(element)
    return (1 << (bits - (element.kind == "signed"))) - 1


def least(element: ElementType) -> float:
    """The least number of an element type."""
    if element.is_float:
        return -greatest(element)
    return -(1 << (_bits(element) - 1)) if element.kind == "signed" else 0


def _bits(element: ElementType) -> int:
    return 1 if element.kind == "truth" else 8 * element.bytes


@dataclass(frozen=True)
class Reduction:
    """`start` is the number that changes nothing, `combine` the kind that takes in one more."""

    start: Start
    combine: str


REDUCTIONS = {
    "sum": Reduction(lambda element: 0, "add"),
    "prod": Reduction(lambda element: 1, "mul"),
    "mean": Reduction(lambda element: 0, "add"),
    "min": Reduction(greatest, "min"),
    "max": Reduction(least, "max"),
    "fmin": Reduction(greatest, "fmin"),
    "fmax": Reduction(least, "fmax"),
    "any": Reduction(lambda element: 0, "or"),
    "all": Reduction(lambda element: 1, "and"),
}
