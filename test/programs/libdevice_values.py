"""The rows of values that libdevice's functions are run on: edges, crossed edges, and random bits.

A row has one integer of 64 bits for each input, which holds the input's bits. The rows of a
signature are the same on every call, and on every machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import product

from programs.libdevice_functions import VECTOR_LENGTH
from programs.math_reference import F16, F32, F64, Format

Row = tuple[int, ...]

FORMATS = {"half": F16, "float": F32, "double": F64}
WIDTHS = {"i16": 16, "i32": 32, "i64": 64}


@cache
def rows(inputs: tuple[str, ...], pointed: int = 0) -> tuple[Row, ...]:
    """The rows for functions of these inputs, of which the last `pointed` lie behind a pointer."""
    generator = random.Random(f"{inputs} {pointed}")
    if pointed == 1:
        return tuple((_text(text),) for text in _NAN_PAYLOADS)
    if pointed:
        return _vectors(inputs, generator)
    if len(inputs) == 1:
        return tuple((bits,) for bits in _unary(inputs[0], generator))
    if inputs[0] == "i32" and inputs[1] in FORMATS:
        return tuple(_with_order(FORMATS[inputs[1]]))
    edges = [_few(kind, len(inputs)) for kind in inputs]
    crossed = list(product(*edges))
    if len(inputs) == 4:
        crossed = generator.sample(crossed, 120)
    rest = [tuple(_random(kind, generator) for kind in inputs) for _ in range(_RANDOM_ROWS)]
    special = _special(inputs)
    return tuple(dict.fromkeys([*crossed, *special, *rest]))


_RANDOM_ROWS = 56


def _unary(kind: str, generator: random.Random) -> list[int]:
    if kind in WIDTHS:
        width = WIDTHS[kind]
        if kind == "i16":
            return _half_bits(generator)
        rest = [generator.getrandbits(generator.randint(1, width)) for _ in range(60)]
        return list(dict.fromkeys([*_integer_edges(width), *rest]))
    form = FORMATS[kind]
    edges = [bits | sign for bits in _float_edges(form) for sign in (0, form.sign_bit)]
    rest = [generator.getrandbits(form.width) for _ in range(20)]
    rest += [form.encode(generator.gauss(0.0, 4.0)) for _ in range(20)]
    rest += [form.encode(generator.uniform(-1.0, 1.0)) for _ in range(10)]
    rest += [form.encode(generator.uniform(-100.0, 100.0)) for _ in range(10)]
    rest += [form.encode(generator.uniform(0.9, 1.1)) for _ in range(8)]
    return list(dict.fromkeys([*edges, *rest]))


def _float_edges(form: Format) -> list[int]:
    """Magnitudes: the format's own edges, integers' edges, and the functions' turning points."""
    normal, one, two = 1 << form.stored, form.encode(1.0), form.encode(2.0)
    edges = [0, 1, 2, normal - 1, normal, normal + 1, one - 1, one, one + 1, two - 1, two]
    edges += [form.infinity - 1, form.infinity, form.infinity + 1, form.infinity | (normal >> 1)]
    precision = form.stored + 1
    for power in (8, precision - 1, precision, 31, 32, 63, 64):
        bits = form.encode(2.0**power)
        edges += [bits - 1, bits, bits + 1]
    edges += [form.encode(value) for value in _HALFWAY]
    # Multiples of pi, whose remainders cancel, and arguments as large as reduction must take.
    edges += [form.encode(count * math.pi / 4) for count in (1, 2, 3, 4, 8, 1000)]
    huge = (105615.0, 6.4e8, 2.0**53 + 2, 1e19, 2.0**100 + 2.0**77, 3e38)
    edges += [form.encode(value) for value in huge]
    if form is F64:
        edges += [form.encode(value) for value in (1e200, 6381956970095103 * 2.0**797)]
    return [*edges, *(form.encode(value) for value in _TURNING_POINTS)]


_HALFWAY = (0.5, 1.5, 2.5, 3.5, 0.25, 8388607.5, 4194304.5, 2147483647.5, 0.49999997)

_TURNING_POINTS = (
    *(1e-30, 1e-7, 1e-3, 0.1, 0.7, 0.9, 0.99, 1.1, 3.0, 5.5, 8.5, 10.5, 17.0, 25.0, 33.5),
    *(38.0, 60.0, 88.5, 89.0, 100.0, 103.5, 126.5, 150.0, 170.5, 308.0, 500.0, 709.5, 745.0),
    *(1023.5, 1e5, 1e10, 1e20),
)


def _half_bits(generator: random.Random) -> list[int]:
    edges = [0, 1, 2, 0x3FF, 0x400, 0x401, 0x3BFF, 0x3C00, 0x3C01, 0x7BFF, 0x7C00, 0x7C01, 0x7E00]
    signed = [bits | sign for bits in edges for sign in (0, F16.sign_bit)]
    return list(dict.fromkeys([*signed, *(generator.getrandbits(16) for _ in range(60))]))


def _integer_edges(width: int) -> list[int]:
    mask = (1 << width) - 1
    edges = [0, 1, 2, 3, 5, 7, 0xFF, 0x80, 0x12345678, 0x7FFFFF, 0x800000, 0x800001]
    for power in (24, 25, 31, 32, 33, 53, 54, 63):
        edges += [(1 << power) - 1, 1 << power, (1 << power) + 1, 3 << (power - 1)]
    # Halfway between two floats, and next to it.
    edges += [0x1000001, 0x1000003, 0x2000002, 0x2000006, 0x40000040, 0x400000C0, 0x20000000000001]
    values = [value & mask for value in edges]
    return list(dict.fromkeys([*values, *(-value & mask for value in values)]))


def _few(kind: str, inputs: int) -> list[int]:
    """The edges that are crossed with those of the other inputs."""
    if kind in WIDTHS:
        mask = (1 << WIDTHS[kind]) - 1
        half = 1 << (WIDTHS[kind] - 1)
        if inputs == 3:
            return [0, 1, 0x3210, 0x76543210 & mask, half, mask]
        return [0, 1, 2, 3, 0x12345678, 1 << 24, half - 1, half, half + 1, mask - 1, mask]
    form = FORMATS[kind]
    if inputs == 2:
        return _few_floats(form)
    sign = form.sign_bit
    return [0, sign, 1, form.encode(1.0), form.encode(-3.0), form.infinity]


def _few_floats(form: Format) -> list[int]:
    sign = form.sign_bit
    nan = form.infinity | (1 << (form.stored - 1))
    one, three = form.encode(1.0), form.encode(3.0)
    values = [0, sign, 1, one, one | sign, form.encode(0.5), form.encode(2.0), three | sign]
    return [*values, form.encode(2.5), form.infinity - 1, form.infinity, form.infinity | sign, nan]


def _special(inputs: Sequence[str]) -> list[Row]:
    """Rows that a kind of function needs and chance would not bring."""
    if len(set(inputs)) == 1 and inputs[0] in FORMATS:
        return _special_floats(FORMATS[inputs[0]], len(inputs))
    if inputs[0] in FORMATS and inputs[1] == "i32":
        return _with_exponent(FORMATS[inputs[0]])
    return []


def _special_floats(form: Format, count: int) -> list[Row]:
    one, normal, tiny = form.encode(1.0), 1 << form.stored, 1
    largest, sign = form.infinity - 1, form.sign_bit
    if count == 2:
        bound = form.encode(2.0 ** (form.bias - 1))
        ordered = [(bound, bound), (bound + 1, one), (one, bound + 1), (largest, normal), (tiny, 2)]
        ordered += [(normal, normal - 1), (one + 1, one), (largest, tiny), (one - 1, normal)]
        pairs = ((5.0, 2.0), (7.0, 2.0), (5.5, 2.0), (1e10, 3.0), (-27.0, 3.0), (1e-5, -7.5))
        ordered += [(form.encode(x), form.encode(y)) for x, y in (*pairs, (2.0, -3.5), (1.1, 90.0))]
        signalling_nan = form.infinity + 1
        ordered += [(signalling_nan, one), (signalling_nan, signalling_nan)]
        near_one = [
            (one + step, form.encode(2.0**exponent))
            for step in (-1, 1)
            for exponent in (10, form.stored)
        ]
        return [*ordered, *((y, x) for x, y in ordered), *near_one]
    if count == 3:
        # A product halfway between two numbers, and a summand that only one rounding can see.
        halfway = (one + 1, form.encode(1.5))
        rows: list[Row] = [(*halfway, bits | side) for bits in (tiny, normal) for side in (0, sign)]
        rows += [(one + 1, one + 1, one | sign), (largest, largest, form.infinity | sign)]
        rows += [(largest, form.encode(2.0), largest | sign), (normal, one - 1, tiny)]
        return [*rows, (normal, form.encode(0.5), 0), (largest, largest, largest)]
    return [(largest,) * count, (normal,) * count, (tiny,) * count, (0,) * count]


def _with_exponent(form: Format) -> list[Row]:
    """A float and what ldexp, scalbn and powi take."""
    exponents = [-2200, -1075, -1074, -1022, -151, -149, -126, -23, -1, 4, 10, 53, 127, 128, 300]
    exponents += [1023, 1024, 2200]
    values = [form.encode(value) for value in (1.0, 1.1, -1.5, 0.3, 1e-30)]
    return [
        (value, exponent & 0xFFFFFFFF)
        for exponent in exponents
        for value in (*values, 1, form.infinity - 1)
    ]


def _with_order(form: Format) -> list[Row]:
    """The orders of jn and yn and a float. They take as many steps as the order says."""
    orders = [-1, 0, 1, 2, 3, 5, 10, 100, 128]
    values = [form.encode(value) for value in (7.9, 8.1, 20.0, 31.5, 150.0, 1e5, 1e-3)]
    return [
        (order & 0xFFFFFFFF, value) for order in orders for value in (*_few_floats(form), *values)
    ]


def _random(kind: str, generator: random.Random) -> int:
    """Bits of any size, or a float of ordinary size as often."""
    if kind in WIDTHS:
        return generator.getrandbits(generator.randint(1, WIDTHS[kind]))
    form = FORMATS[kind]
    if generator.random() < 0.4:
        return generator.getrandbits(form.width)
    return form.encode(generator.gauss(0.0, 4.0))


def _vectors(inputs: tuple[str, ...], generator: random.Random) -> tuple[Row, ...]:
    form = FORMATS[inputs[1]]
    large, small = form.infinity - 1, 1
    special = [[0] * 5, [large] * 5, [small] * 5, [form.infinity, 0, 0, 0, 0]]
    special += [[form.infinity, form.infinity + 1, 0, 0, 0], [0, 0, 0, 0, form.infinity + 1]]
    special += [[form.encode(value) for value in (3.0, 4.0, 12.0, 84.0, 3612.0)]]
    special += [[large, small, form.encode(-1.0), 0, large]]
    found: list[Row] = []
    for count in range(VECTOR_LENGTH + 1):
        elements = [[_random(inputs[1], generator) for _ in range(5)] for _ in range(20)]
        found += [(count, *each) for each in (*special, *elements)]
    return tuple(found)


# What nan and nanf read: octal, decimal and hexadecimal digits, and what is no number.
_NAN_PAYLOADS = (
    "",
    "0",
    "1",
    "17",
    "017",
    "0x17",
    "0xaBcD",
    "0XFFFFF",
    "999999",
    "0777777",
    "x1",
    "1x",
    "08",
    "0x",
    "0xg",
    "123456",
    "0x7ffff",
    "-1",
    " 1",
    "4194304",
)


def _text(text: str) -> int:
    return int.from_bytes(text.encode(), "little")
