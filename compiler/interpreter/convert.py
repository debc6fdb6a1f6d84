"""Conversions between element types, with the one rounding that docs/host-ir.md says.

Numbers are held in their computing type (see dtypes): floats of 4 bytes or fewer as f32, integers
as 64 bits with the value's sign (ui64 as its bits), i1 as a truth.
"""

from __future__ import annotations

from ...dialects.hir.element_types import ElementType
from .buffer import view_as
from .dtypes import bits_of, computing_dtype, dtype_of
from .torch_import import torch

_INFINITY = float("inf")
_MANTISSA_OF_F32 = 23
_MANTISSA_OF_TF32 = 10
# Above it f8E4M3FN rounds to what would be its next number, which is nan.
_F8E4M3FN_LIMIT = 464.0
_LEAST_I64 = -(2**63)


def load(stored: torch.Tensor, element: ElementType) -> torch.Tensor:
    """Elements as they lie in memory, in the type they are computed in."""
    if element.name == "ui64":
        return view_as(stored, torch.int64)
    return stored.to(computing_dtype(element))


def store(numbers: torch.Tensor, element: ElementType) -> torch.Tensor:
    """Numbers in the computing type of `element`, rounded and as they lie in memory."""
    if element.is_integer:
        wrapped = wrap(numbers, element)
        if element.name == "ui64":
            return view_as(wrapped, torch.uint64)
        return wrapped.to(dtype_of(element))
    if element.is_float:
        return _narrow(numbers, element).to(dtype_of(element))
    return numbers.to(dtype_of(element))


def convert(numbers: torch.Tensor, source: ElementType, target: ElementType) -> torch.Tensor:
    """Returns the same numbers as another element type, by the rules of the kind `cast`."""
    if target.kind == "truth":
        return numbers != 0
    if target.kind == "complex":
        return numbers.to(dtype_of(target))
    if target.is_integer:
        if source.is_float:
            numbers = _whole(numbers, target)
        return wrap(numbers.to(torch.int64), target)
    if source.is_integer:
        return _float_of_integer(numbers, source, target)
    return round_to(numbers, target)


def round_to(numbers: torch.Tensor, element: ElementType) -> torch.Tensor:
    """Floats rounded once to the precision of `element`, in its computing type."""
    return _narrow(numbers, element).to(dtype_of(element)).to(computing_dtype(element))


def wrap(numbers: torch.Tensor, element: ElementType) -> torch.Tensor:
    """64-bit integers modulo 2^bits of an integer type, with its sign."""
    bits = bits_of(element)
    if bits == 64:
        return numbers
    if element.kind == "unsigned":
        return numbers & ((1 << bits) - 1)
    return numbers << (64 - bits) >> (64 - bits)


def greatest(element: ElementType, sign: int = 1) -> float | int | bool:
    """Returns the greatest number of a type, or with the sign -1 its least; ui64's as its bits."""
    if element.kind == "truth":
        return sign > 0
    if element.name == "f8E4M3FN":
        return sign * 448.0
    if element.is_float:
        return sign * _INFINITY
    bits = bits_of(element)
    if element.kind == "unsigned":
        return 0 if sign < 0 else -1 if bits == 64 else (1 << bits) - 1
    return (1 << (bits - 1)) - 1 if sign > 0 else -(1 << (bits - 1))


def _narrow(numbers: torch.Tensor, element: ElementType) -> torch.Tensor:
    """Floats that torch's own conversion to `element` rounds as it should."""
    if element.name == "f64":
        return numbers.double()
    if element.name == "f32":
        return numbers.float()
    if numbers.dtype == torch.float64:
        numbers = _odd_f32(numbers)
    numbers = numbers.float()
    if element.name == "tf32":
        return _tf32(numbers)
    if element.name == "f8E4M3FN":
        # torch gives the greatest number there.
        return torch.where(numbers.abs() > _F8E4M3FN_LIMIT, float("nan"), numbers)
    return numbers


def _odd_f32(numbers: torch.Tensor) -> torch.Tensor:
    """f64 rounded to f32 so that rounding again, to fewer bits, is as rounding once.

    Of the two neighbours of an inexact number it is the one whose last bit is 1
    (S. Boldo and G. Melquiond, "When double rounding is odd", 2005).
    """
    near = numbers.float()
    inexact = (near.double() != numbers) & numbers.isfinite()
    even = (view_as(near, torch.int32) & 1) == 0
    toward = torch.where(numbers > near.double(), _INFINITY, -_INFINITY).float()
    return torch.where(inexact & even, torch.nextafter(near, toward), near)


def _tf32(numbers: torch.Tensor) -> torch.Tensor:
    """f32 rounded to the ten bits of mantissa of tf32, to nearest, ties away from zero."""
    dropped = _MANTISSA_OF_F32 - _MANTISSA_OF_TF32
    bits = view_as(numbers.contiguous(), torch.int32)
    rounded = (bits + (1 << (dropped - 1))) & ~((1 << dropped) - 1)
    return torch.where(numbers.isfinite(), view_as(rounded, torch.float32), numbers)


def _whole(numbers: torch.Tensor, target: ElementType) -> torch.Tensor:
    """Floats toward zero; what no integer of 64 bits holds becomes any value."""
    if target.name != "ui64":
        return numbers.to(torch.int64)
    half = 2.0**63
    low = numbers.to(torch.int64)
    high = (numbers - half).to(torch.int64) ^ _LEAST_I64
    return torch.where(numbers >= half, high, low)


def _float_of_integer(
    numbers: torch.Tensor, source: ElementType, target: ElementType
) -> torch.Tensor:
    if source.name == "ui64":
        # Half of it, with what is dropped kept in the last bit, has a sign bit to spare.
        half = ((numbers >> 1) & (2**63 - 1)) | (numbers & 1)
        halved = _float_of_signed(half, target)
        return torch.where(
            numbers < 0, round_to(halved * 2, target), _float_of_signed(numbers, target)
        )
    return _float_of_signed(numbers, target)


def _float_of_signed(numbers: torch.Tensor, target: ElementType) -> torch.Tensor:
    if target.name == "f64":
        return numbers.double()
    if target.name == "f32":
        return numbers.float()
    # As many bits as f64 has, what is dropped kept in the last one.
    dropped = (1 << 11) - 1
    folded = (numbers & ~dropped) | (((numbers & dropped) != 0).to(torch.int64) << 11)
    fits = (numbers > -(2**53)) & (numbers < 2**53)
    return round_to(torch.where(fits, numbers, folded).double(), target)
