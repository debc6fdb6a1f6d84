"""What the builder's parameters take, as their annotations say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from .scalar import Scalar
from .sizes import Size

# Makes an index of an integer scalar, in the program that is built.
ToIndex = Callable[[Scalar], Any]

# What stands for an argument that a parameter does not take.
REFUSED = object()

_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a string",
    Size: "a size",
    slice: "bounds",
    NoneType: "None",
}
_INTEGERS = ("i64", "i32", "i16", "i8")


def taken(kind: Any, value: object, to_index: ToIndex) -> Any:
    """`value` as a parameter of `kind` takes it, or REFUSED.

    A whole number of another library becomes an int, and an integer scalar where a size may stand
    an index.
    """
    if kind in (Any, object):
        return value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments, value, to_index)
    if origin is Literal:
        return value if isinstance(value, str) and value in arguments else REFUSED
    if origin is Sequence:
        return _each(arguments[0], value, to_index)
    if origin is Mapping:
        return _entries(arguments, value, to_index)
    if kind in (int, float):
        return _number(kind, value)
    if kind is str:
        return _string(value)
    return value if isinstance(value, kind) else REFUSED


def described(kind: Any) -> str:
    """`kind` in words: "a size or a whole number"."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        kinds = [each for each in arguments if each is not NoneType]
        if float in kinds and int in kinds:
            kinds.remove(int)
        words = list(dict.fromkeys(described(each) for each in kinds))
        return " or ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])
    if origin is Literal:
        return " or ".join(repr(each) for each in arguments)
    if origin is Sequence:
        return f"a tuple, each entry {described(arguments[0])}"
    if origin is Mapping:
        return f"a dict from {described(arguments[0])} to {described(arguments[1])}"
    name = getattr(kind, "__name__", str(kind))
    return _WORDS.get(kind, f"an {name.lower()}" if name[0] in "AEIOU" else f"a {name.lower()}")


def _one_of(kinds: Sequence[Any], value: object, to_index: ToIndex) -> Any:
    for kind in kinds:
        found = taken(kind, value, to_index)
        if found is not REFUSED:
            return found
    if Size in kinds and Scalar not in kinds and isinstance(value, Scalar):
        return to_index(value) if value.type in _INTEGERS else REFUSED
    return REFUSED


def _each(kind: Any, value: object, to_index: ToIndex) -> Any:
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        return REFUSED
    try:
        items: list[Any] = list(value)
    except TypeError:  # an array without dims
        return REFUSED
    entries = [taken(kind, item, to_index) for item in items]
    return REFUSED if any(entry is REFUSED for entry in entries) else tuple(entries)


def _entries(kinds: Sequence[Any], value: object, to_index: ToIndex) -> Any:
    if not isinstance(value, Mapping):
        return REFUSED
    keys = [taken(kinds[0], key, to_index) for key in value]
    entries = [taken(kinds[1], entry, to_index) for entry in value.values()]
    refused = any(each is REFUSED for each in [*keys, *entries])
    return REFUSED if refused else dict(zip(keys, entries, strict=True))


def _number(kind: type, value: object) -> Any:
    """A bool is a number for elements, and no count."""
    if isinstance(value, bool):
        return value if kind is float else REFUSED
    if isinstance(value, Integral):
        return int(value)
    if kind is float and isinstance(value, Real):
        return float(value)
    return REFUSED


def _string(value: object) -> Any:
    """MLIR's strings are UTF-8."""
    if not isinstance(value, str):
        return REFUSED
    try:
        value.encode()
    except UnicodeEncodeError:
        return REFUSED
    return value
