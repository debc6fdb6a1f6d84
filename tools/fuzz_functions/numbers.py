"""Arrays with bounds of their errors: what a function on tensors computes, and how sure that is.

Floats are float64 arrays that hold values of their element type. The error of an element bounds
how far a right program may be from the value; where it is infinite, the program may give anything:
a comparison could go either way, for example. Integers are exact or unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Element:
    """An element type. `step` is the distance of 1 from the next float, `tiny` the least float."""

    name: str
    bits: int
    dtype: Any
    step: float = 0.0
    tiny: float = 0.0
    largest: float = 0.0

    @property
    def is_float(self) -> bool:
        return self.step > 0


F64 = Element("f64", 64, np.float64, 2.0**-52, 5e-324, float(np.finfo(np.float64).max))
F32 = Element("f32", 32, np.float64, 2.0**-23, 2.0**-149, float(np.finfo(np.float32).max))
F16 = Element("f16", 16, np.float64, 2.0**-10, 2.0**-24, 65504.0)
BF16 = Element("bf16", 16, np.float64, 2.0**-7, 2.0**-133, 2.0**128 - 2.0**120)
I64 = Element("i64", 64, np.int64)
I32 = Element("i32", 32, np.int32)
I16 = Element("i16", 16, np.int16)
I8 = Element("i8", 8, np.int8)
I1 = Element("i1", 1, np.bool_)
INDEX = Element("index", 64, np.int64)
FLOATS = (F64, F32, F16, BF16)
INTEGERS = (I64, I32, I16, I8)


class Numbers(NamedTuple):
    """Values and the bounds of their errors, of one shape."""

    value: Array
    error: Array


def exact(value: Any) -> Numbers:
    """Returns numbers that have no error."""
    array = np.asarray(value)
    return Numbers(array, np.zeros(array.shape))


def known(numbers: Numbers) -> Array:
    return np.isfinite(numbers.error)


def round_to(element: Element, value: Array) -> Array:
    """Returns floats rounded to an element type, as float64."""
    if element.name == "f64":
        return value
    if element.name == "bf16":
        single = np.asarray(value, np.float32)
        bits = single.view(np.uint32)
        rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        cut = (rounded & np.uint32(0xFFFF0000)).view(np.float32)
        return np.where(np.isnan(single), single, cut).astype(np.float64)
    narrow = np.float32 if element.name == "f32" else np.float16
    return np.asarray(value).astype(narrow).astype(np.float64)


def compute(
    element: Element,
    apply: Callable[..., Array],
    operands: list[Numbers],
    steps: float = 1.0,
    spread: Callable[..., Array] | None = None,
) -> Numbers:
    """Returns what a function of floats gives, in `element`.

    The function is monotone in each operand within the errors, or `spread` bounds by how much its
    value differs there. Its own rounding is `steps` times the element type's.
    """
    sure = np.asarray(True)
    for operand in operands:
        sure = sure & known(operand)
    errors = [np.where(known(operand), operand.error, 0.0) for operand in operands]
    values = [operand.value for operand in operands]
    center = np.asarray(apply(*values))
    shift = np.zeros(center.shape)
    if any(np.any(error > 0) for error in errors):
        for signs in itertools.product((-1, 1), repeat=len(operands)):
            corner = apply(
                *(
                    value + sign * error if np.any(error > 0) else value
                    for value, sign, error in zip(values, signs, errors, strict=True)
                )
            )
            same = (corner == center) | (np.isnan(corner) & np.isnan(center))
            away = np.abs(np.where(same, 0.0, corner) - np.where(same, 0.0, center))
            sure = sure & (same | np.isfinite(away))
            shift = np.maximum(shift, np.where(np.isfinite(away), away, 0.0))
        if spread is not None:
            shift = np.asarray(spread(*values, *errors))
    return settle(element, center, shift, sure, steps)


def settle(
    element: Element, center: Array, shift: Array, sure: Array, steps: float, whole: bool = False
) -> Numbers:
    """Returns numbers of a float element type near `center`, of which `sure` are known."""
    rounded = round_to(element, center)
    finite = np.isfinite(center)
    inexact = (rounded != center) | (steps > 1) | ((element.name == "f64") & (steps > 0))
    if whole:
        inexact = inexact & ((center != np.rint(center)) | (np.abs(center) > 2.0**50))
    size = np.where(finite, np.abs(center), 0.0)
    error = shift + np.where(
        inexact | (shift > 0), steps * (element.step * size + 2 * element.tiny), 0.0
    )
    near = finite & (size + error > element.largest * 0.99)
    beyond = near & (size - error > element.largest * 1.01) & (element.name in ("f32", "f64"))
    fits = near & (error == 0) & (size <= element.largest)
    sure = sure & (~near | beyond | fits)
    value = np.where(beyond, np.sign(center) * np.inf, rounded)
    error = np.where(beyond | ~finite, 0.0, error)
    value, error, sure = np.broadcast_arrays(value, error, sure)
    return Numbers(np.where(sure, value, 0.0), np.where(sure, error, np.inf))


def decide(apply: Callable[..., Array], operands: list[Numbers], dtype: Any) -> Numbers:
    """Returns a value that is exact or unknown: of integers, comparisons and conversions."""
    sure = np.asarray(True)
    for operand in operands:
        sure = sure & known(operand)
    values = [operand.value for operand in operands]
    center = np.asarray(apply(*values)).astype(dtype)
    errors = [np.where(known(operand), operand.error, 0.0) for operand in operands]
    if any(np.any(error > 0) for error in errors):
        for signs in itertools.product((-1, 1), repeat=len(operands)):
            corner = apply(
                *(
                    value + sign * error if np.any(error > 0) else value
                    for value, sign, error in zip(values, signs, errors, strict=True)
                )
            )
            sure = sure & (np.asarray(corner).astype(dtype) == center)
    center, sure = np.broadcast_arrays(center, sure)
    return Numbers(np.where(sure, center, 0).astype(dtype), np.where(sure, 0.0, np.inf))


def mismatches(element: Element, wanted: Numbers, given: Array) -> Array:
    """Returns where `given`, in the element type's own values, is not what was wanted."""
    if not element.is_float:
        return known(wanted) & (given != wanted.value)
    same = (given == wanted.value) | (np.isnan(given) & np.isnan(wanted.value))
    # Equal infinities differ by nan, which is no less; unequal ones by infinity.
    with np.errstate(invalid="ignore"):
        close = np.abs(given - wanted.value) <= wanted.error + 2 * element.tiny * (wanted.error > 0)
    return known(wanted) & ~same & ~close
