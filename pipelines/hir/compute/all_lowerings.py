"""The lowerings of elementwise operations and reductions: importing them registers them.

Those of products are in products/all_lowerings.py.
"""

from . import binary, reduce, set, ternary, unary
from .registry import find_lowering

__all__ = [
    "binary",
    "find_lowering",
    "reduce",
    "set",
    "ternary",
    "unary",
]
