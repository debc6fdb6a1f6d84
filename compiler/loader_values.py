"""What a loaded program takes and gives, and Python's numbers as its scalars."""

from __future__ import annotations

import math
import operator
import reprlib
import struct
import sys
from dataclasses import dataclass
from typing import Any

from .errors import InputError

ALLOCATED, INPUT, VIEW = range(3)

_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
# Of a bf16: the binary digits, and the exponent of the least one with all of them, by `frexp`.
_BF16_DIGITS, _LEAST_EXPONENT = 8, -125
_FLOAT_FORMATS = {2: "<e", 4: "<f", 8: "<d"}


@dataclass(frozen=True)
class ValueInfo:
    """One input or output: its name, its type as text, its sizes (None where open)."""

    name: str
    type: str
    element: str
    sizes: tuple[int | None, ...]
    dtype: int
    element_bytes: int
    is_scalar: bool
    origin: int
    origin_input: int

    @property
    def code(self) -> int:
        """The DLPack type code."""
        return self.dtype & 0xFF


def scalar_bytes(value: ValueInfo, number: Any, program: str) -> bytes:
    """Returns a Python number as the scalar's bytes. Raises InputError for one that
    the type lacks.
    """
    try:
        plain = plain_number(number)
        if isinstance(plain, (str, bytes, bytearray, memoryview)):
            raise TypeError
        if value.code == _BOOL:
            return bytes([_truth(plain)])
        if value.code in (_INT, _UINT):
            whole = operator.index(plain)
            return whole.to_bytes(value.element_bytes, "little", signed=value.code == _INT)
        if value.element == "bf16":
            return _bf16(float(plain))
        if value.code == _FLOAT and value.element != "tf32":
            return struct.pack(_FLOAT_FORMATS[value.element_bytes], float(plain))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InputError(
            f"input '{value.name}' of {program}: {reprlib.repr(number)} is no {value.element}"
        ) from error
    raise InputError(
        f"input '{value.name}' of {program} is {value.element}, which Python has no number for",
        hint="pass a tensor without dims in the host's memory",
    )


def scalar_value(value: ValueInfo, data: bytes) -> bool | int | float:
    """Returns the Python number that a scalar's bytes are."""
    if value.code == _BOOL:
        return data[0] != 0
    if value.code in (_INT, _UINT):
        return int.from_bytes(data, "little", signed=value.code == _INT)
    if value.element == "bf16":
        return float(struct.unpack("<f", b"\0\0" + data)[0])
    if value.code == _FLOAT:
        return float(struct.unpack(_FLOAT_FORMATS[value.element_bytes], data)[0])
    raise InputError(f"output '{value.name}' is {value.element}, which Python has no number for")


def plain_number(number: Any) -> Any:
    """Returns a scalar of NumPy as Python's number, and all else as it is.

    Its booleans are no index, and its complex numbers are floats but for a warning.
    """
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(number, (numpy.bool_, numpy.number)):
        return number
    if isinstance(number, numpy.complexfloating):
        return complex(number)
    return float(number) if isinstance(number, numpy.longdouble) else number.item()


def _truth(number: Any) -> bool:
    whole = operator.index(number)
    if whole not in (0, 1):
        raise ValueError(whole)
    return bool(whole)


def _bf16(number: float) -> bytes:
    """Returns the nearest bf16, the even one of two. Raises OverflowError where that is infinite
    and the number is not.
    """
    if number == number and abs(number) != math.inf:
        # At once: the nearest f32 may be half way between two.
        digits, exponent = math.frexp(number)
        unit = max(exponent, _LEAST_EXPONENT) - _BF16_DIGITS
        number = math.copysign(math.ldexp(round(math.ldexp(digits, exponent - unit)), unit), number)
    return struct.pack("<f", number)[2:]
