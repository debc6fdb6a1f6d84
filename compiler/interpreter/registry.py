"""The table of operations: each is a typed function, registered by operation name.

The modules of `operations` are loaded when the first one is asked for.

Such a function gets the operation and the running program, and returns its results' values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...dialects.mlir import ir
from ...dialects.modules import load_modules

if TYPE_CHECKING:
    from .frame import Frame

Step = Callable[[ir.Operation, "Frame"], Sequence[Any]]

_steps: dict[str, Step] = {}


def interprets(*names: str) -> Callable[[Step], Step]:
    """Registers the function for the operations `names`."""

    def add(function: Step) -> Step:
        for name in names:
            _steps[name] = function
        return function

    return add


def find_step(name: str) -> Step | None:
    """Returns the function of an operation, or None."""
    load_modules(f"{__package__}.operations")
    return _steps.get(name)
