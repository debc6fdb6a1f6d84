"""How programs are called, as `inspect.signature` and `help` tell it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import Parameter, Signature, cleandoc
from keyword import iskeyword
from types import FunctionType
from typing import Any, Protocol

from .loader_torch import leave_to_python

# What each call takes besides the inputs.
OPTIONS = ("out", "stream")

_BY_POSITION = Parameter.POSITIONAL_ONLY
_BY_EITHER = Parameter.POSITIONAL_OR_KEYWORD

ANY_CALL = Signature(
    [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("kwargs", Parameter.VAR_KEYWORD)]
)


class _Callable(Protocol):
    def call_signature(self) -> Signature: ...


class OwnSignature:
    """The attribute `__signature__` of objects that are called in a way of their own.

    Their class has none: it is called as its `__init__` says.
    """

    def __get__(self, called: _Callable | None, kind: type) -> Signature:
        if called is None:
            raise AttributeError("__signature__")
        return called.call_signature()


def inputs_signature(names: Sequence[str]) -> Signature:
    """Returns the signature of a program with inputs of these names.

    An input whose name cannot be a keyword is given by its position under another name, and so are
    those before it.
    """
    odd = [place for place, name in enumerate(names) if not _is_keyword_name(name)]
    by_position = odd[-1] + 1 if odd else 0
    used = {*names, *OPTIONS}
    parameters: list[Parameter] = []
    for place, name in enumerate(names):
        if place in odd:
            name = f"input{place}"
            while name in used:
                name += "_"
        parameters.append(Parameter(name, _BY_POSITION if place < by_position else _BY_EITHER))
    return Signature(parameters)


def _is_keyword_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name) and name not in OPTIONS


def with_options(signature: Signature, options: Iterable[str] = OPTIONS) -> Signature:
    """Returns a signature that has options too, which are None unless they are given."""
    parameters = list(signature.parameters.values())
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in options]
    is_open = bool(parameters) and parameters[-1].kind is Parameter.VAR_KEYWORD
    place = len(parameters) - is_open
    return signature.replace(parameters=[*parameters[:place], *more, *parameters[place:]])


def text_of_builtin(name: str, signature: Signature, says: str) -> str:
    """Returns the text of a built-in function of which Python reads its signature and `__doc__`."""
    shown = str(signature)
    if not shown.isascii():  # Python reads no others
        shown = f"(*inputs, {', '.join(f'{each}=None' for each in OPTIONS)}, **named)"
    first = "($self" if shown == "()" else "($self, "
    return f"{name}{first}{shown[1:]}\n--\n\n{says}"


def name_called(called: Any, name: str, says: str) -> None:
    """Gives an object that is called the name and the docstring that a function would have."""
    about = cleandoc(type(called).__doc__ or "")
    vars(called).update(__name__=name, __qualname__=name, __doc__=f"{says}\n\n{about}".rstrip())


def name_function(
    function: FunctionType, name: str, signature: Signature, says: str
) -> FunctionType:
    """Returns a function of Python, as one that calls a program."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = says
    vars(function)["__signature__"] = signature
    leave_to_python(function)
    return function
