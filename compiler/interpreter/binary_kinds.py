"""The kinds of hir.binary and hir.ternary, on numbers in their computing type.

ui64 is held as its bits: what its sign bit would change is computed apart.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable

from ...dialects.hir.element_types import ElementType
from .torch_import import torch

Function = Callable[[torch.Tensor, torch.Tensor, ElementType], torch.Tensor]

_LEAST = -(2**63)


class DivisionByZero(Exception):
    """An integer was divided by 0."""


def ordered(x: torch.Tensor, element: ElementType) -> torch.Tensor:
    """Numbers that compare, signed, as those of `element` do."""
    return x ^ _LEAST if element.name == "ui64" else x


def _div(x: torch.Tensor, y: torch.Tensor, element: ElementType) -> torch.Tensor:
    if x.is_floating_point():
        return x / y
    return _quotient(x, y, element, "trunc")


def _floordiv(x: torch.Tensor, y: torch.Tensor, element: ElementType) -> torch.Tensor:
    if x.is_floating_point():
        return torch.div(x, y, rounding_mode="floor")
    return _quotient(x, y, element, "floor")


def _mod(x: torch.Tensor, y: torch.Tensor, element: ElementType) -> torch.Tensor:
    if x.is_floating_point():
        return torch.remainder(x, y)
    return x - y * _quotient(x, y, element, "floor")


def _quotient(
    x: torch.Tensor, y: torch.Tensor, element: ElementType, rounding: str
) -> torch.Tensor:
    if bool((y == 0).any()):
        raise DivisionByZero
    x, y = torch.broadcast_tensors(x, y)
    if element.name == "ui64":
        pairs = zip(x.flatten().tolist(), y.flatten().tolist(), strict=True)
        whole = [(a % 2**64) // (b % 2**64) for a, b in pairs]
        signed = [value - 2**64 if value >= 2**63 else value for value in whole]
        return torch.tensor(signed, dtype=torch.int64, device=x.device).reshape(x.shape)
    # The least number divided by -1 is itself; processors stop there.
    by_minus_one = y == -1
    safe = torch.where(by_minus_one, torch.ones_like(y), y)
    return torch.where(by_minus_one, -x, torch.div(x, safe, rounding_mode=rounding))


def _pow(x: torch.Tensor, y: torch.Tensor, element: ElementType) -> torch.Tensor:
    if x.is_floating_point():
        return torch.pow(x, y)
    base, exponent = (item.clone() for item in torch.broadcast_tensors(x, y))
    result = torch.ones_like(base)
    for _ in range(64):
        result = torch.where((exponent & 1) == 1, result * base, result)
        base *= base
        exponent = (exponent >> 1) & (2**63 - 1)
    if element.kind == "unsigned":
        return result
    odd = (y & 1) == 1
    negative = torch.where(
        x == 1, 1, torch.where(x == -1, torch.where(odd, -1, 1), torch.zeros_like(result))
    )
    return torch.where(y < 0, negative, result)


def _least(x: torch.Tensor, y: torch.Tensor, element: ElementType) -> torch.Tensor:
    if x.dtype == torch.bool:
        return x & y
    return ordered(torch.minimum(ordered(x, element), ordered(y, element)), element)


def _greatest(x: torch.Tensor, y: torch.Tensor, element: ElementType) -> torch.Tensor:
    if x.dtype == torch.bool:
        return x | y
    return ordered(torch.maximum(ordered(x, element), ordered(y, element)), element)


def _compared(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Function:
    return lambda x, y, element: function(ordered(x, element), ordered(y, element))


BINARY_FUNCTIONS: dict[str, Function] = {
    "add": lambda x, y, element: x + y,
    "sub": lambda x, y, element: x - y,
    "mul": lambda x, y, element: x * y,
    "div": _div,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
    "atan2": lambda x, y, element: torch.atan2(x, y),
    "min": _least,
    "max": _greatest,
    "and": lambda x, y, element: x & y,
    "or": lambda x, y, element: x | y,
    "xor": lambda x, y, element: x ^ y,
    "eq": _compared(torch.eq),
    "ne": _compared(torch.ne),
    "lt": _compared(torch.lt),
    "le": _compared(torch.le),
    "gt": _compared(torch.gt),
    "ge": _compared(torch.ge),
}


def fma(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """x * y + z rounded once: C's own function on each element, torch has none."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    wide = x.dtype == torch.float64
    function, scalar = (library.fma, ctypes.c_double) if wide else (library.fmaf, ctypes.c_float)
    function.argtypes, function.restype = [scalar] * 3, scalar
    x, y, z = torch.broadcast_tensors(x, y, z)
    elements = zip(x.flatten().tolist(), y.flatten().tolist(), z.flatten().tolist(), strict=True)
    numbers = [function(*each) for each in elements]
    return torch.tensor(numbers, dtype=x.dtype, device=x.device).reshape(x.shape)


def clamp(
    x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, element: ElementType
) -> torch.Tensor:
    """min(max(x, low), high)."""
    return _least(_greatest(x, low, element), high, element)
