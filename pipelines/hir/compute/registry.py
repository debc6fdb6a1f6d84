"""The table of lowerings: each is a function of an operation, registered by operation name.

A lowering builds what comes in its operation's place, before the operation, which the caller
erases.
Of an operation on tensors it returns the linalg.generic whose result is the operation's.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import ir

Lowering = Callable[[ir.Operation], ir.Operation | None]

_lowerings: dict[str, Lowering] = {}


def lowers(name: str) -> Callable[[Lowering], Lowering]:
    """Registers the lowering of an operation."""

    def add(function: Lowering) -> Lowering:
        _lowerings[name] = function
        return function

    return add


def find_lowering(name: str) -> Lowering | None:
    """Returns the lowering of an operation, or None."""
    return _lowerings.get(name)
