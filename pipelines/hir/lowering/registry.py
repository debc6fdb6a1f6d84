"""The table of lowerings: each is a typed function, registered by operation name.

The module that is named after an operation, or that `_ELSEWHERE` has for it, is loaded when it is
asked for; all of this folder are for one that neither tells.

A lowering builds what comes in its operation's place, before the operation, and returns the values
that replace its results; the caller erases the operation. What gives a !hir.results_t puts its
values into the state instead and returns None; it is erased when nothing uses it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.mlir import ir
from ....dialects.modules import load_module, load_modules
from .state import ProgramState

# Takes the operation's own view, which differs from one to the next.
Lowering = Callable[[Any, ProgramState], Sequence[ir.Value] | None]

_lowerings: dict[str, Lowering] = {}
# What names of operations with a lowering begin with.
_BEGINNINGS = ("hir.", "cf.assert")
# Modules of operations that most programs have, and that have another name.
_ELSEWHERE = {
    "hir.run_launcher": "launcher",
    "hir.if": "if_branch",
    "hir.for": "for_loop",
    "cf.assert": "assertion",
}


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Registers a lowering of the operations of these names."""

    def add(function: Lowering) -> Lowering:
        for name in names:
            _lowerings[name] = function
        return function

    return add


def find_lowering(name: str) -> Lowering | None:
    """Returns the lowering of an operation, or None."""
    if name not in _lowerings and name.startswith(_BEGINNINGS):
        load_module(__package__, _ELSEWHERE.get(name, name.partition(".")[2]))
        if name not in _lowerings:
            load_modules(__package__)
    return _lowerings.get(name)
