"""The table of lowerings: each is a typed function, registered by operation name.

The modules of this folder are loaded when the first one is asked for.

A lowering builds what comes in its operation's place, before the operation, and returns the values
that replace its results; the caller erases the operation. What gives a !hir.results_t puts its
values into the state instead and returns None; it is erased when nothing uses it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.mlir import ir
from ....dialects.modules import load_modules
from .state import ProgramState

# Takes the operation's own view, which differs from one to the next.
Lowering = Callable[[Any, ProgramState], Sequence[ir.Value] | None]

_lowerings: dict[str, Lowering] = {}


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Registers a lowering of the operations of these names."""

    def add(function: Lowering) -> Lowering:
        for name in names:
            _lowerings[name] = function
        return function

    return add


def find_lowering(name: str) -> Lowering | None:
    """Returns the lowering of an operation, or None."""
    load_modules(__package__)
    return _lowerings.get(name)
