"""Every lowering of a compute operation: importing their modules registers them."""

from . import binary, linear, matmul, reduce, set, ternary, unary
from .registry import find_lowering

__all__ = [
    "binary",
    "find_lowering",
    "linear",
    "matmul",
    "reduce",
    "set",
    "ternary",
    "unary",
]
