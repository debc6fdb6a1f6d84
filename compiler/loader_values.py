"""What a loaded program takes and gives, and Python's numbers as its scalars."""

from __future__ import annotations

import operator
import reprlib
import struct
from dataclasses import dataclass
from typing import Any

from .errors import InputError

ALLOCATED, INPUT, VIEW = range(3)

_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
# The exponent's bits of an f32, all set for infinities and NaNs.
_INFINITE = 0x7F800000
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
        if isinstance(number, (str, bytes)):
            raise TypeError
        if value.code == _BOOL:
            return bytes([_truth(number)])
        if value.code in (_INT, _UINT):
            whole = operator.index(number)
            return whole.to_bytes(value.element_bytes, "little", signed=value.code == _INT)
        if value.element == "bf16":
            return _bf16(float(number))
        if value.code == _FLOAT and value.element != "tf32":
            return struct.pack(_FLOAT_FORMATS[value.element_bytes], float(number))
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


def _truth(number: Any) -> bool:
    whole = operator.index(number)
    if whole not in (0, 1):
        raise ValueError(whole)
    return bool(whole)


def _bf16(number: float) -> bytes:
    """Returns the nearest bf16, the even one of two. Raises OverflowError where that is infinite
    and the number is not.
    """
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    is_finite = bits & _INFINITE != _INFINITE
    if number == number:
        bits += 0x7FFF + (bits >> 16 & 1)
    if is_finite and bits & _INFINITE == _INFINITE:
        raise OverflowError(number)
    return struct.pack("<H", bits >> 16 & 0xFFFF)
