"""Operators that read or write the bits of floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_ATEN = torch.ops.aten
_PRIMS = torch.ops.prims
# Integers by their bytes.
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bit_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of operators that take the bits of numbers."""
    return {
        _ATEN.view.dtype: _view_of_bits,
        _ATEN.signbit.default: _signbit,
        _PRIMS.nextafter.default: _nextafter,
        _PRIMS.frexp.default: _frexp,
    }


def _view_of_bits(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns an element as several narrower ones, or several as one: the last dim is longer or
    shorter.

    Those of one width are left for the importer. The least bits come first.
    """
    if torch.bool in (x.dtype, dtype) or x.dtype == dtype:
        return NotImplemented
    if x.is_complex():
        return torch.view_as_real(x).flatten(-2).view(dtype)
    if dtype.is_complex:
        return torch.view_as_complex(x.view(dtype.to_real()).unflatten(-1, (-1, 2)))
    given, wanted = x.dtype.itemsize, dtype.itemsize
    if given == wanted:
        return NotImplemented
    bits = x.view(_INTEGERS[given])
    if given > wanted:
        parts = [
            bits.bitwise_right_shift(place * 8 * wanted).to(_INTEGERS[wanted])
            for place in range(given // wanted)
        ]
        return torch.stack(parts, -1).flatten(-2).view(dtype)
    mask = (1 << 8 * given) - 1
    wide = bits.unflatten(-1, (-1, wanted // given)).to(_INTEGERS[wanted]) & mask
    whole = wide[..., 0]
    for place in range(1, wanted // given):
        whole = whole | wide[..., place].bitwise_left_shift(place * 8 * given)
    return whole.view(dtype)


def _signbit(x: Tensor) -> Tensor:
    """torch-mlir makes a view of the bits of it, which it does not lower."""
    if x.is_floating_point():
        return x.view(_INTEGERS[x.dtype.itemsize]) < 0
    return torch.zeros_like(x) if x.dtype is torch.bool else x < 0


def _nextafter(x: Tensor, y: Tensor) -> Tensor:
    """Adds 1 to the bits of each number, taken as an integer, or subtracts it."""
    x, y = torch.broadcast_tensors(x, y)
    bits = x.view(_INTEGERS[x.dtype.itemsize])
    away = torch.where((y > x) == (x > 0), 1, -1).to(bits.dtype)
    least = torch.where(y > 0, 1, torch.iinfo(bits.dtype).min + 1).to(bits.dtype)
    found = torch.where(x == 0, least, bits + away).view(x.dtype)
    return torch.where(x.isnan() | y.isnan(), x + y, torch.where(x == y, y, found))


def _frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """Reads the bits of the exponent. Subnormal numbers, which have none, are scaled first."""
    info = torch.finfo(x.dtype)
    bits = -int(math.log2(info.eps))
    raised = x.abs() < info.smallest_normal
    normal = torch.where(raised, x * 2.0**bits, x)
    kind = _INTEGERS[x.dtype.itemsize]
    bias = int(-math.log2(info.smallest_normal))
    whole = normal.view(kind)
    field = ((2 * bias + 3) << bits) & torch.iinfo(kind).max
    exponent = (whole & field) >> bits
    half = (whole & ~field) | (bias << bits)
    is_plain = (x != 0) & x.isfinite()
    found = torch.where(is_plain, half.view(x.dtype), x)
    exponent = exponent - bias - torch.where(raised, bits, 0)
    return found, torch.where(is_plain, exponent, 0).to(torch.int32)
