"""Leaves out the Python code of torch's graphs that nobody runs: a quarter of a model's import.

torch writes and compiles the code of a graph whenever the graph has changed, some forty times for a
program, and runs it a few times.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast
from unittest import mock

from torch.fx import GraphModule

_write = cast("Callable[[GraphModule], object]", GraphModule.recompile)
# What a graph's code gives the module; its class is given the function `forward`.
_OF_MODULE = ("_code", "_lineno_map", "_prologue_start")


@contextmanager
def late_code() -> Generator[None]:
    """Within a `with` block the code of a graph that changes is written when it is asked for, which
    may be later.
    """
    with mock.patch.object(GraphModule, "recompile", _postpone):
        yield


class _Late:
    """An attribute that a graph's code gives, until it is asked for."""

    def __init__(self, module: GraphModule, name: str) -> None:
        self._module = weakref.ref(module)
        self._name = name

    def __get__(self, instance: GraphModule | None, owner: type[GraphModule]) -> Any:
        module = self._module() if instance is None else instance
        if module is None:
            raise AttributeError(self._name)
        _write(module)
        return getattr(owner if instance is None else instance, self._name)


def _postpone(module: GraphModule) -> None:
    """Does what GraphModule.recompile does, but for the code."""
    trees = getattr(module.graph._codegen, "pytree_info", None)  # pyright: ignore[reportPrivateUsage]
    if trees is not None:
        vars(module).update(_in_spec=trees.in_spec, _out_spec=trees.out_spec)
    # A graph module has a class of its own.
    for name in ("forward", *_OF_MODULE):
        setattr(type(module), name, _Late(module, name))
    for name in _OF_MODULE:
        vars(module).pop(name, None)
    for child in module.children():
        if isinstance(child, GraphModule):
            child.recompile()
