"""Scalars: Python's int, float and bool, and the numbers in a buffer that they stand for.

An index, a signless or signed integer is held with its sign, an unsigned one without; i1 is a bool.
"""

from __future__ import annotations

from typing import Any

from ...dialects.hir.element_types import ELEMENT_TYPES, ElementType
from ...dialects.mlir import ir
from .convert import convert, round_to
from .dtypes import computing_dtype, element_type_of
from .torch_import import torch

_NATIVE = "f64"


def round_float(value: float, name: str) -> float:
    """Returns a number of 64 bits rounded to the float type of that name."""
    if name == _NATIVE or name not in ELEMENT_TYPES:
        return value
    exact = torch.tensor(value, dtype=torch.float64)
    return float(round_to(exact, ELEMENT_TYPES[name]))


def signed(value: int, bits: int) -> int:
    """Returns an integer modulo 2^bits, with its sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    """Returns an integer modulo 2^bits, without sign."""
    return value & ((1 << bits) - 1)


def width_of(value_type: ir.Type) -> int:
    """Returns how many bits an integer or index has."""
    return 64 if isinstance(value_type, ir.IndexType) else ir.IntegerType(value_type).width


def integer_of_type(value: int, value_type: ir.Type) -> int | bool:
    """Returns an integer as a value of that type is held: wrapped around, i1 as a truth."""
    bits = width_of(value_type)
    if bits == 1:
        return bool(value & 1)
    if isinstance(value_type, ir.IntegerType) and value_type.is_unsigned:
        return unsigned(value, bits)
    return signed(value, bits)


def as_numbers(
    value: Any, value_type: ir.Type, element: ElementType, device: torch.device
) -> torch.Tensor:
    """Returns a scalar as one number of a buffer of `element`, in the type that is computed in."""
    source = element_type_of(value_type)
    assert source is not None
    if source.is_integer:
        value = signed(value, 64)
    number = torch.tensor(value, dtype=computing_dtype(source))
    return convert(number, source, element).to(device)


def from_number(number: torch.Tensor, element: ElementType) -> Any:
    """One number in its computing type as a scalar."""
    value = number.item()
    if element.name == "ui64":
        return unsigned(int(value), 64)
    return value
