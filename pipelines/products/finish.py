"""What becomes of a sum: a bias and an activation that the library adds to its product."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...dialects.mlir import ir
from .scalar_program import UnknownOperation, evaluate

# Numbers to try: with both signs, around what activations turn at, and far from it.
_SUMS = (-7.5, -3.25, -1.0, -0.6, -0.1, 0.0, 0.05, 0.3, 0.9, 1.7, 3.1, 6.0)
_BIASES = (-1.3, 0.0, 0.45, 2.2)
# Constants are written in f32, or narrower where they stand for themselves.
_TOLERANCE = 1e-6


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


_ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "": float,
    "relu": lambda x: max(x, 0.0),
    "gelu_tanh": _gelu_tanh,
}


@dataclass(frozen=True)
class Finish:
    """An activation of the sum, with a bias added before where `bias` is one."""

    activation: str
    bias: ir.Value | None


def read_finish(result: ir.Value, total: ir.Value, others: list[ir.Value]) -> Finish | None:
    """What the program from `total`, the sum, to `result` is; None for what no product ends with.

    `others` are further elements that the program may read; one at most is a bias.
    """
    if len(others) > 1:
        return None
    bias = others[0] if others else None
    for activation, expected in _ACTIVATIONS.items():
        if _computes(result, total, bias, expected):
            return Finish(activation, bias)
    return None


def _computes(
    result: ir.Value,
    total: ir.Value,
    bias: ir.Value | None,
    expected: Callable[[float], float],
) -> bool:
    for first in _SUMS:
        for second in _BIASES if bias is not None else (0.0,):
            known = {total: first} if bias is None else {total: first, bias: second}
            try:
                found = evaluate(result, known)
            except UnknownOperation:
                return False
            wanted = expected(first + second)
            if not abs(found - wanted) <= _TOLERANCE * max(1.0, abs(wanted)):
                return False
    return True
