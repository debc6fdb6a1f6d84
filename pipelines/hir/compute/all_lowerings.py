"""The lowerings of elementwise operations and reductions: importing them registers them.

Those of products are in products/all_lowerings.py.
"""

from . import kinds, reduce, set
from .registry import find_lowering

__all__ = [
    "find_lowering",
    "kinds",
    "reduce",
    "set",
]
