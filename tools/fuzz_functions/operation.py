"""Operations of arith and math on elements: their text, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .numbers import I1, Array, Element, Numbers, known

# Given the operands and the element types of operands and result.
Step = Callable[[list[Numbers]], Numbers]


@dataclass(frozen=True)
class Operation:
    """A drawn operation.

    `text` may be several operations, with ` ; ` between them. {0} and so on are operands, {m} what
    the operation before gives, {=5} a constant, {r} the result's type and {t0} an operand's.
    """

    text: str
    takes: tuple[Element, ...]
    gives: Element
    step: Step


def unsigned(array: Array) -> Array:
    """Returns integers' bits read without a sign; i1 as 0 and 1."""
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def signed(array: Array) -> Array:
    """Returns integers as signed ones: a true i1 is -1."""
    return -array.astype(np.int8) if array.dtype == np.bool_ else array


def select(have: Element) -> Operation:
    def step(xs: list[Numbers]) -> Numbers:
        one, two, condition = xs
        value = np.where(condition.value, one.value, two.value)
        error = np.where(condition.value, one.error, two.error)
        return Numbers(value, np.where(known(condition), error, np.inf))

    return Operation("arith.select {2}, {0}, {1} : {t2}, {r}", (have, have, I1), have, step)
