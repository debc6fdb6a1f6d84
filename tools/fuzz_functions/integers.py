"""Operations whose first operand is an integer."""

# Operands are arrays, as many as an operation has.
# pyright: reportUnknownLambdaType=false
from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np

from .numbers import (
    BF16,
    F16,
    F32,
    FLOATS,
    I1,
    I16,
    I32,
    INTEGERS,
    Array,
    Element,
    Numbers,
    compute,
    decide,
    known,
)
from .operation import Operation, Step, select, signed, unsigned

_SIGNED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}
_UNSIGNED: dict[str, Callable[[Array, Array], Array]] = {
    "ult": np.less,
    "ule": np.less_equal,
    "ugt": np.greater,
    "uge": np.greater_equal,
}


def integers(element: Element, apply: Callable[..., Array], *, as_unsigned: bool = False) -> Step:
    """Returns what an integer operation does; its result is cut to the element type's bits."""
    read = unsigned if as_unsigned else signed

    def step(operands: list[Numbers]) -> Numbers:
        def run(*values: Array) -> Array:
            result = np.asarray(apply(*(read(value) for value in values)))
            return (result & 1) != 0 if element.bits == 1 else result

        return decide(run, operands, element.dtype)

    return step


def _truncated(a: Array, b: Array) -> Array:
    quotient = a // b
    return quotient + ((quotient < 0) & (quotient * b != a)).astype(quotient.dtype)


_WRAPPING: dict[str, Callable[..., Array]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
}
_UNSIGNED_BINARY: dict[str, Callable[..., Array]] = {
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
}
_DIVISIONS: dict[str, tuple[Callable[..., Array], bool]] = {
    "arith.divsi": (_truncated, False),
    "arith.remsi": (lambda a, b: a - _truncated(a, b) * b, False),
    "arith.floordivsi": (lambda a, b: a // b, False),
    "arith.ceildivsi": (lambda a, b: a // b + (a % b != 0).astype(a.dtype), False),
    "arith.divui": (lambda a, b: a // b, True),
    "arith.remui": (lambda a, b: a % b, True),
    "arith.ceildivui": (lambda a, b: a // b + (a % b != 0).astype(a.dtype), True),
}
_SHIFTS: dict[str, tuple[Callable[..., Array], bool]] = {
    "arith.shli": (np.left_shift, False),
    "arith.shrsi": (np.right_shift, False),
    "arith.shrui": (np.right_shift, True),
}


def _bits(element: Element, count: Callable[[int], int]) -> Callable[[Array], Array]:
    mask = 2**element.bits - 1
    return lambda x: np.asarray(np.vectorize(lambda one: count(int(one) & mask), otypes=[int])(x))


def draw_integer(random: Random, have: Element) -> Operation:
    choice = random.random()
    if choice < 0.4:
        name, apply = random.choice(list(_WRAPPING.items()))
        return Operation(f"{name} {{0}}, {{1}} : {{r}}", (have,) * 2, have, integers(have, apply))
    if choice < 0.45:
        name, apply = random.choice(list(_UNSIGNED_BINARY.items()))
        return Operation(
            f"{name} {{0}}, {{1}} : {{r}}",
            (have,) * 2,
            have,
            integers(have, apply, as_unsigned=True),
        )
    if choice < 0.55:
        signs = random.random() < 0.6
        compares = _SIGNED if signs else _UNSIGNED
        name, compare = random.choice(list(compares.items()))
        return Operation(
            f"arith.cmpi {name}, {{0}}, {{1}} : {{t0}}",
            (have,) * 2,
            I1,
            _compare(compare, not signs),
        )
    if choice < 0.65:
        return select(have)
    if choice < 0.8 or have is I1:
        return _convert_integer(random, have)
    if choice < 0.9:
        return _divide(random, have)
    if choice < 0.94:
        return _shift(random, have)
    if choice < 0.96 and have in (I32, I16):
        return _float_of_bits(random, have)
    name, count = random.choice(
        [
            ("ctpop", lambda x: x.bit_count()),
            ("ctlz", lambda x: have.bits - x.bit_length()),
            ("cttz", lambda x: (x & -x).bit_length() - 1 if x else have.bits),
        ]
    )
    return Operation(
        f"math.{name} {{0}} : {{r}}", (have,), have, integers(have, _bits(have, count))
    )


def _compare(apply: Callable[..., Array], as_unsigned: bool) -> Step:
    read = unsigned if as_unsigned else signed
    return lambda xs: decide(lambda a, b: apply(read(a), read(b)), xs, np.bool_)


def _divide(random: Random, have: Element) -> Operation:
    """Returns a division by 1 to 64: one that is defined."""
    name, (apply, as_unsigned) = random.choice(list(_DIVISIONS.items()))
    text = "arith.andi {1}, {=63} : {r} ; arith.addi {m}, {=1} : {r} ; " + name + " {0}, {m} : {r}"
    one = np.asarray(1, have.dtype)
    if as_unsigned:
        one = unsigned(one)

    def run(a: Array, b: Array) -> Array:
        return apply(a, (b & one.dtype.type(63)) + one)

    return Operation(text, (have,) * 2, have, integers(have, run, as_unsigned=as_unsigned))


def _shift(random: Random, have: Element) -> Operation:
    name, (apply, as_unsigned) = random.choice(list(_SHIFTS.items()))
    text = f"arith.andi {{1}}, {{={have.bits - 1}}} : {{r}} ; {name} {{0}}, {{m}} : {{r}}"

    def run(a: Array, b: Array) -> Array:
        return apply(a, b & b.dtype.type(have.bits - 1))

    return Operation(text, (have,) * 2, have, integers(have, run, as_unsigned=as_unsigned))


def _float_of_bits(random: Random, have: Element) -> Operation:
    other = F32 if have is I32 else random.choice((F16, BF16))

    def read(xs: list[Numbers]) -> Numbers:
        bits = xs[0].value
        if other is F16:
            value = bits.astype(np.int16).view(np.float16)
        else:
            value = (bits.astype(np.int32) << (32 - have.bits)).view(np.float32)
        return Numbers(value.astype(np.float64), xs[0].error)

    return Operation("arith.bitcast {0} : {t0} to {r}", (have,), other, read)


def _convert_integer(random: Random, have: Element) -> Operation:
    if random.random() < 0.5:
        other = random.choice([each for each in (*INTEGERS, I1) if each is not have])
        if other.bits < have.bits:
            return Operation(
                "arith.trunci {0} : {t0} to {r}",
                (have,),
                other,
                integers(other, lambda x: x.astype(np.int64)),
            )
        name = random.choice(["extsi", "extui"])
        return Operation(
            f"arith.{name} {{0}} : {{t0}} to {{r}}",
            (have,),
            other,
            integers(other, lambda x: x, as_unsigned=name == "extui"),
        )
    return to_float(random.choice(FLOATS), have, random.choice(["sitofp", "uitofp"]))


def to_float(other: Element, have: Element, name: str) -> Operation:
    """Returns the conversion of an integer to a float."""
    read = signed if name == "sitofp" else unsigned

    def step(xs: list[Numbers]) -> Numbers:
        result = compute(
            other, lambda x: x.astype(np.float64), [Numbers(read(xs[0].value), xs[0].error)]
        )
        is_whole = np.abs(result.value) < 2.0 ** (-math.log2(other.step))
        is_exact = is_whole & known(result)
        return Numbers(result.value, np.where(is_exact, 0.0, result.error))

    return Operation(f"arith.{name} {{0}} : {{t0}} to {{r}}", (have,), other, step)
