"""Frames whose names say more than a function's: which pass runs, which stage."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def named(name: str, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`function`, below a frame called `name` in tracebacks.

    Also in those that faulthandler writes when native code crashes, which hold nothing but names.
    """
    frame = FunctionType(_call.__code__.replace(co_name=name), globals())
    return partial(frame, function)


def _call(function: Callable[..., Any], *values: Any, **settings: Any) -> Any:
    return function(*values, **settings)
