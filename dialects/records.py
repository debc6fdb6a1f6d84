"""`dataclass`, of which a method is written when it is first called.

Python's own compiles six functions for each frozen class, when that is defined. A compilation
defines hundreds, makes objects of some and compares few.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        kind: type | None = None, /, *, frozen: bool = False, eq: bool = True, order: bool = False
    ) -> Any:
        """Does what dataclasses.dataclass does with these options."""
        if order:
            return dataclasses.dataclass(kind, frozen=frozen, eq=eq, order=order)
        if kind is None:
            return lambda kind: _defined(kind, frozen, eq)
        return _defined(kind, frozen, eq)


def _defined(kind: Any, frozen: bool, eq: bool) -> Any:
    own = set(kind.__dict__)
    if kind.__doc__ is None:
        # Or the signature would be read, for want of a text.
        kind.__doc__ = kind.__name__
    has_hash = "__hash__" in own and not (kind.__dict__["__hash__"] is None and "__eq__" in own)
    dataclasses.dataclass(init=False, repr=False, eq=False)(kind)
    for name, write in _WRITERS.items():
        if name not in own and (eq or name not in ("__eq__", "__hash__")):
            setattr(kind, name, _written_later(kind, name, write))
    if eq and not has_hash:
        if frozen:
            kind.__hash__ = _written_later(kind, "__hash__", _hash)
        else:
            kind.__hash__ = None
    if frozen:
        kind.__setattr__ = _refuse_to_set
        kind.__delattr__ = _refuse_to_delete
    return kind


def _refuse_to_set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _written_later(kind: type, name: str, write: _Writer) -> Callable[..., Any]:
    """Returns a method that puts the written one into its place, and calls it."""

    def first(self: object, *arguments: Any, **named: Any) -> Any:
        method = _written(kind, name, write)
        setattr(kind, name, method)
        return method(self, *arguments, **named)

    return first


def _written(kind: type, name: str, write: _Writer) -> Callable[..., Any]:
    fields = dataclasses.fields(kind)
    known: dict[str, Any] = {"_made": MISSING, "_kind": kind}
    exec("\n ".join(write(fields, known)), known)
    method = known[name]
    method.__qualname__ = f"{kind.__qualname__}.{name}"
    method.__module__ = kind.__module__
    return method


_Fields = tuple[Field[Any], ...]
_Writer = Callable[[_Fields, dict[str, Any]], Iterator[str]]


def _init(fields: _Fields, known: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of a function that puts the fields past `__setattr__`, which may refuse."""
    parameters = ["self"]
    for field in fields:
        if field.default is not MISSING:
            known[f"_{field.name}"] = field.default
        elif field.default_factory is not MISSING:
            known[f"_{field.name}"] = field.default_factory
        if field.init:
            default = _default(field)
            parameters.append(field.name if default is None else f"{field.name}={default}")
    yield f"def __init__({', '.join(parameters)}):"
    yield "_own = self.__dict__"
    for field in fields:
        value = field.name
        if field.default_factory is not MISSING:
            made = f"_{field.name}()"
            value = f"{made} if {value} is _made else {value}" if field.init else made
        elif not field.init:
            continue
        yield f"_own[{field.name!r}] = {value}"
    if hasattr(known["_kind"], "__post_init__"):
        yield "self.__post_init__()"


def _default(field: Field[Any]) -> str | None:
    if field.default_factory is not MISSING:
        return "_made"
    return None if field.default is MISSING else f"_{field.name}"


def _repr(fields: _Fields, known: dict[str, Any]) -> Iterator[str]:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in fields if field.repr)
    yield "def __repr__(self):"
    yield f"return self.__class__.__qualname__ + f'({shown})'"


def _values(owner: str, fields: _Fields) -> str:
    return "(" + "".join(f"{owner}.{field.name}," for field in fields if field.compare) + ")"


def _eq(fields: _Fields, known: dict[str, Any]) -> Iterator[str]:
    yield "def __eq__(self, other):"
    yield "if other.__class__ is not self.__class__: return NotImplemented"
    yield f"return {_values('self', fields)} == {_values('other', fields)}"


def _hash(fields: _Fields, known: dict[str, Any]) -> Iterator[str]:
    yield "def __hash__(self):"
    yield f"return hash({_values('self', fields)})"


_WRITERS: dict[str, _Writer] = {"__init__": _init, "__repr__": _repr, "__eq__": _eq}
