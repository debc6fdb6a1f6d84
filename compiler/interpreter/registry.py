"""The table of operations: each is a typed function, registered by operation name.

Such a function gets the operation and the running program, and returns its results' values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...dialects.mlir import ir

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
    """The function of an operation, or None."""
    return _steps.get(name)
