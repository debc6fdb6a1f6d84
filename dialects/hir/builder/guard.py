"""Checking the arguments of every public call against its annotations, before anything is written.

What an annotation does not say, the functions and the operations' verifiers check.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property, wraps
from typing import Any, get_type_hints

from ..element_rules import ElementError
from ..layout import LayoutError
from .argument_kinds import REFUSED, described, taken
from .emitter import Emitter
from .errors import BuildError
from .scalar import Scalar

# What other libraries call the parameters.
_ELSEWHERE = {
    "dim": ("axes", "axis", "order"),
    "dims": ("axes", "order"),
    "axis": ("axes",),
    "axes": ("axis", "order"),
    "keepdim": ("keep_dims",),
    "keepdims": ("keep_dims",),
    "dtype": ("element", "to", "type"),
    "size": ("shape",),
    "sizes": ("shape",),
    "requires_grad": (),
    "input": ("x",),
    "other": ("y",),
    "grid_dim": ("grid",),
    "block_dim": ("block",),
    "threads": ("block",),
    "blocks": ("grid",),
}
# What names an element type: others' type objects are shown by their names.
_ELEMENTS = ("element", "to", "type", "result")
_NAMED = {
    "shape": "a shape is a tuple of sizes",
    "axis": "an axis is a whole number",
    "axes": "axes are whole numbers",
    "condition": "a condition is an i1 scalar",
    "which": "a stream has a name or a number",
    "operands": "an operand is a buffer, a scalar or a number",
}
_HINTS = {
    "shape": "write ({value},)",
    "index": 'a float is made an index by .cast("index")',
    "condition": "compare it: p.branch(n > 4)",
}


def guard(owner: type, names: Mapping[str, Any]) -> None:
    """Guards the public methods of a class; `names` are what its annotations name."""
    for name, method in list(vars(owner).items()):
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(owner, name, guarded(method, names))


def guarded(function: Callable[..., Any], names: Mapping[str, Any]) -> Callable[..., Any]:
    """`function`, which raises BuildError for arguments that are not as annotated."""
    call = _Call(function, names)

    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        arguments, keywords = call.checked(arguments, keywords)
        try:
            return function(*arguments, **keywords)
        except (LayoutError, ElementError) as error:
            raise BuildError(str(error)) from None

    return checked


class _Call:
    """The parameters of a function, and checking what it is called with."""

    def __init__(self, function: Callable[..., Any], names: Mapping[str, Any]) -> None:
        self._function = function
        self._names = names
        self._signature = inspect.signature(function)
        first = next(iter(self._signature.parameters), "")
        self._is_method = first == "self"

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        return get_type_hints(self._function, localns=dict(self._names))

    def checked(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments and keywords as the function takes them. Raises BuildError."""
        try:
            bound = self._signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise self._not_bound(arguments, keywords, str(error)) from None
        owner = arguments[0] if self._is_method else None
        name = self._called(arguments)
        for parameter, value in list(bound.arguments.items()):
            if parameter == "self" or parameter not in self._kinds:
                continue
            kind = self._kinds[parameter]
            several = self._signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL
            values = value if several else (value,)
            found = tuple(self._taken(name, parameter, kind, each, owner) for each in values)
            bound.arguments[parameter] = found if several else found[0]
        return bound.args, bound.kwargs

    def _taken(self, name: str, parameter: str, kind: Any, value: object, owner: object) -> Any:
        if parameter in _ELEMENTS and _is_type(value):
            value = value.__name__ if isinstance(value, type) else str(value)
        if isinstance(value, Iterator):
            value = tuple(value)  # several kinds may look at it

        def to_index(scalar: Scalar) -> Any:
            program: Any = owner if isinstance(owner, Emitter) else getattr(owner, "program", None)
            return REFUSED if program is None else program.cast_scalar(scalar, "index")

        found = taken(kind, value, to_index)
        if found is not REFUSED:
            return found
        says = _NAMED.get(parameter, f"`{parameter}` is {described(kind)}")
        shown = _shown(value)
        hint = _HINTS.get(parameter)
        raise BuildError(f"{name}: {says}, not {shown}", hint and hint.format(value=shown))

    def _not_bound(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any], message: str
    ) -> BuildError:
        name = self._called(arguments)
        known = [each for each in self._signature.parameters if each != "self"]
        unknown = next((each for each in keywords if each not in known), None)
        if unknown is None:
            return BuildError(f"{name}: {message}", f"it is {name}{self._shown_signature()}")
        others = [each for each in _ELSEWHERE.get(unknown, ()) if each in known]
        others = others or get_close_matches(unknown, known, 1)
        hint = f"write {others[0]}=" if others else f"it is {name}{self._shown_signature()}"
        return BuildError(f"{name} has no parameter `{unknown}`", hint)

    def _called(self, arguments: tuple[Any, ...]) -> str:
        """Returns the name the user wrote: a kind's where it is a method of its own."""
        name = self._function.__name__
        kind = next(iter(arguments[1:2]), None)
        is_kind = name in ("compute_kind", "compute_scalar", "reduce")
        return kind if is_kind and isinstance(kind, str) else name

    def _shown_signature(self) -> str:
        shown = [str(each).partition(":")[0] for each in self._signature.parameters.values()]
        return f"({', '.join(each for each in shown if each != 'self')})"


def _is_type(value: object) -> bool:
    """Returns whether it is an element type of another library, or one of Python's types."""
    return isinstance(value, type) or type(value).__module__.split(".")[0] in ("torch", "numpy")


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:80]}..."
