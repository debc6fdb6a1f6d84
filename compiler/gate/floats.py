"""Floating-point literals: the producer prints rounded decimals, `+inf`, `+nan(0x1)`, `f0x...`.

Until 22 a decimal must be of double or exact in half, bfloat or float, and everything else is
written as bits: for float and double the 64 bits of the double of the same value (`0x`), for the
others the bits of the type itself (`0xH` half, `0xR` bfloat, `0xK` x86_fp80, `0xL` fp128, `0xM`
ppc_fp128). Decimals that the older parser takes stay, so that the text remains readable.
Source: LLVM language reference, "Simple Constants", of 22 and of 24.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ...dialects.records import dataclass
from .rule import WORD_END, WORD_START, Inexpressible, Rule

if TYPE_CHECKING:
    from fractions import Fraction

_FLOAT = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: its width, exponent bits, and bits of precision stored.

    `explicit` says that the integer bit is stored too (x86_fp80); `fraction` does not count it.
    """

    width: int
    exponent: int
    fraction: int
    spelling: Callable[[int], str]
    explicit: bool = False

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        """The bits of positive infinity."""
        integer = 1 << self.fraction if self.explicit else 0
        return ((1 << self.exponent) - 1) << (self.fraction + self.explicit) | integer

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def quiet_bit(self) -> int:
        return 1 << (self.fraction - 1)


def _spell_float_bits(bits: int) -> str:
    """Returns the double equal to a float; of a NaN, the one of the same sign, quietness and
    payload.
    """
    if bits & 0x7F800000 == 0x7F800000:
        return f"0x{(bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29:016X}"
    return _spell_double(_FLOAT.unpack(bits.to_bytes(4, "big"))[0])


def _spell_double(value: float) -> str:
    return f"0x{_DOUBLE.pack(value).hex().upper()}"


def _words(bits: int) -> str:
    """128 bits as the parser reads `0xL` and `0xM`: the low half first."""
    return f"{bits & (1 << 64) - 1:016X}{bits >> 64:016X}"


FORMATS: dict[str, Format] = {
    "half": Format(16, 5, 10, lambda bits: f"0xH{bits:04X}"),
    "bfloat": Format(16, 8, 7, lambda bits: f"0xR{bits:04X}"),
    "float": Format(32, 8, 23, _spell_float_bits),
    "double": Format(64, 11, 52, lambda bits: f"0x{bits:016X}"),
    "x86_fp80": Format(80, 15, 63, lambda bits: f"0xK{bits:020X}", explicit=True),
    "fp128": Format(128, 15, 112, lambda bits: f"0xL{_words(bits)}"),
    # A pair of doubles; the greater is the low half, and alone says infinity, NaN and the sign.
    "ppc_fp128": Format(64, 11, 52, lambda bits: f"0xM{_words(bits)}"),
}

_TYPE = "half|bfloat|float|double|x86_fp80|fp128|ppc_fp128"
_LITERAL = (
    r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?|[+-](?:inf|qnan|s?nan\(0x[0-9A-Fa-f]+\))|f0x[0-9A-Fa-f]+"
)
_SPECIAL = re.compile(r"([+-])(inf|qnan|s?nan)(?:\(0x([0-9A-Fa-f]+)\))?")


class FloatLiterals(Rule):
    """Decimals that are not exact, infinities, NaNs and bit patterns.

    A literal's type is the last floating-point type before it on its line: an operand list names
    the type of its first operand, and every element of an aggregate has its own.
    """

    construct = "rounded floating-point literals"
    triggers = ("e+", "e-", "f0x", "nan(", "qnan", "+inf", "-inf")
    pattern = (
        rf"{WORD_START}(?:{_TYPE})(?: (?:{_LITERAL}){WORD_END}|(?![\w.$-]))"
        rf"|{WORD_START}(?:{_LITERAL}){WORD_END}"
    )

    def __init__(self) -> None:
        self._type = ""

    def rewrite(self, found: str) -> str:
        name, space, literal = found.partition(" ")
        if space:
            self._type = name
            return f"{name} {spell(literal, name)}"
        if found in FORMATS:
            self._type = found
            return found
        if not self._type:
            raise Inexpressible("a literal without a type before it")
        return spell(found, self._type)


RULES: tuple[type[Rule], ...] = (FloatLiterals,)


@lru_cache(maxsize=1 << 16)
def spell(literal: str, type_name: str) -> str:
    """Returns the LLVM 22 spelling of a literal of that type. `Inexpressible` where
    there is none.
    """
    form = FORMATS[type_name]
    if literal.startswith("f0x"):
        return form.spelling(int(literal[3:], 16))
    special = _SPECIAL.fullmatch(literal)
    if special is not None:
        return form.spelling(_special_bits(form, *special.groups()))
    if type_name == "double":
        return literal
    if type_name == "float":
        return _spell_float(literal)
    value = _fraction(literal)
    bits = _round(abs(value), form)
    # Of the 16-bit types the older parser takes a decimal too, if it is exact.
    if form.width == 16 and _value(bits, form) == abs(value):
        return literal
    if type_name == "ppc_fp128" and _value(bits, form) != abs(value):
        raise Inexpressible("the lesser double of a ppc_fp128 is not known from a decimal")
    return form.spelling(bits | (form.sign_bit if literal.startswith("-") else 0))


def _spell_float(decimal: str) -> str:
    value = float(decimal)
    if value == 0.0:
        return decimal
    if 1.2e-38 < abs(value) < 3.4e38:
        nearest = _FLOAT.unpack(_FLOAT.pack(value))[0]
        if nearest == value:
            return decimal
        bits = _DOUBLE.pack(value)
        # A double in the middle between two floats may stand for a decimal on either side of it.
        if bits[4] & 0x1F != 0x10 or bits[5:] != b"\0\0\0":
            return _spell_double(nearest)
    form = FORMATS["float"]
    sign = form.sign_bit if value < 0 else 0
    return form.spelling(sign | _round(abs(_fraction(decimal)), form))


def _special_bits(form: Format, sign: str, kind: str, payload: str | None) -> int:
    bits = form.infinity | (form.sign_bit if sign == "-" else 0)
    if kind in ("nan", "qnan"):
        bits |= form.quiet_bit
    return bits | int(payload or "0", 16)


def _fraction(value: str | int) -> Fraction:
    # Imported late: it loads decimal numbers, and most programs have none but doubles.
    from fractions import Fraction

    return Fraction(value)


def _round(value: Fraction, form: Format) -> int:
    """Returns the bits of a value at or above zero, rounded to nearest, ties to even."""
    if value == 0:
        return 0
    scale = value.numerator.bit_length() - value.denominator.bit_length()
    if value < _fraction(2) ** scale:
        scale -= 1
    # Below the least normal exponent the spacing no longer shrinks.
    scale = max(scale, 1 - form.bias)
    steps = round(value / _fraction(2) ** (scale - form.fraction))
    if steps >> (form.fraction + 1):
        steps >>= 1
        scale += 1
    if scale > form.bias:
        return form.infinity
    biased = scale + form.bias if steps >> form.fraction else 0
    if form.explicit:
        return biased << (form.fraction + 1) | steps
    return biased << form.fraction | steps & ((1 << form.fraction) - 1)


def _value(bits: int, form: Format) -> Fraction:
    """Returns the value of the bits that `_round` gave; 0 for infinity, which no decimal equals."""
    stored = form.fraction + form.explicit
    biased = bits >> stored
    if biased == (1 << form.exponent) - 1:
        return _fraction(0)
    steps = bits & ((1 << stored) - 1)
    if biased and not form.explicit:
        steps |= 1 << form.fraction
    return steps * _fraction(2) ** (max(biased, 1) - form.bias - form.fraction)
