"""`dynamic_shapes`: which sizes of the inputs stay open, however the inputs are passed."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import torch._export.non_strict_utils
import torch.export._trace
from torch import nn
from torch.export import AdditionalInputs, ShapesCollection
from torch.export.dynamic_shapes import (
    _tree_map_with_path,  # pyright: ignore[reportPrivateUsage]
)
from torch.utils import _pytree as pytree

from ...compiler.errors import InputError

# Where torch.export asks which argument belongs to which parameter.
_COMBINERS = (torch.export._trace, torch._export.non_strict_utils)
_COMBINE = "_combine_args"


@dataclass(frozen=True)
class DynamicShapes:
    """What `dynamic_shapes` says of each argument, None where it says nothing.

    `by_name` has it by the names of parameters, and of the arguments of `**kwargs` by theirs; of
    `*args` it is a tuple. `positional` has it of the arguments that are passed by position.
    """

    by_name: Mapping[str, Any]
    positional: tuple[Any, ...]

    def leaves(self, in_spec: pytree.TreeSpec) -> list[Any]:
        """Returns what is said of each leaf of the arguments, in the order of the spec's."""
        positional, named = in_spec.children()
        leaves: list[Any] = []
        for child, shape in zip(positional.children(), self.positional, strict=True):
            leaves += _leaves(child, shape)
        for name, child in zip(named.context, named.children(), strict=True):
            leaves += _leaves(child, self.by_name[name])
        return leaves


def dynamic_shapes_of(
    module: nn.Module,
    signature: inspect.Signature,
    given: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> DynamicShapes | None:
    """Returns what `dynamic_shapes` says of the arguments; None where it is None.

    It is what torch.export takes. An argument of `**kwargs` may stand in the dict of that
    parameter, or by its own name. Raises InputError where it is about what is no argument.
    """
    if given is None:
        return None
    bound = signature.bind(*args, **kwargs).arguments
    if isinstance(given, (ShapesCollection, AdditionalInputs)):
        given = given.dynamic_shapes(module, args, kwargs)
    if isinstance(given, (tuple, list)):
        if len(given) > len(bound):
            raise _error(f"has {len(given)} entries for {len(bound)} inputs", bound)
        given = dict(zip(bound, given, strict=False))
    if not isinstance(given, Mapping):
        raise _error(f"is a {type(given).__name__}, no dict, tuple or list", bound)
    named = _by_name(signature, given, bound)
    values = _flat(signature, bound)
    for name, shape in named.items():
        if name not in values and not (name in signature.parameters and shape is None):
            raise _error(f"names '{name}', which is no input", values)
    by_name = {name: _filled(value, named.get(name)) for name, value in values.items()}
    return DynamicShapes(by_name, tuple(_of_positional(signature, by_name, len(args))))


@contextmanager
def keywords_by_name() -> Generator[None]:
    """Lets torch.export take `dynamic_shapes` of the arguments of `**kwargs` by their own names.

    By the name of that parameter torch takes them for two inputs each, and fails.
    """

    def combined(called: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        signature = inspect.signature(called.forward if isinstance(called, nn.Module) else called)
        return _flat(signature, signature.bind(*args, **(kwargs or {})).arguments)

    with ExitStack() as stack:
        for module in _COMBINERS:
            # Other versions of torch may have other names.
            if hasattr(module, _COMBINE):
                stack.enter_context(mock.patch.object(module, _COMBINE, combined))
        yield


def _flat(signature: inspect.Signature, bound: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments by parameters' names, and those of `**kwargs` by their own."""
    rest = _name_of(signature, inspect.Parameter.VAR_KEYWORD)
    found = {name: value for name, value in bound.items() if name != rest}
    return found if rest is None else {**found, **bound.get(rest, {})}


def _by_name(
    signature: inspect.Signature, given: Mapping[str, Any], bound: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns what is said, without the level of the parameter that takes the other keywords."""
    rest = _name_of(signature, inspect.Parameter.VAR_KEYWORD)
    nested = given.get(rest) if rest is not None else None
    keywords: Mapping[str, Any] = bound.get(rest, {}) if rest is not None else {}
    # A keyword may be called as the parameter is: axes are no names.
    if not isinstance(nested, Mapping) or not all(isinstance(name, str) for name in nested):
        return dict(given)
    if rest in keywords and rest not in nested:
        return dict(given)
    return {**{name: shape for name, shape in given.items() if name != rest}, **nested}


def _name_of(signature: inspect.Signature, kind: Any) -> str | None:
    """Returns the name of the one parameter of a kind."""
    return next((each.name for each in signature.parameters.values() if each.kind is kind), None)


def _filled(value: Any, shape: Any) -> Any:
    """Returns what is said of an argument in torch.export's form: with None of each part that is
    left out, and of a registered type, such as a cache, a list for its parts in their order.
    """
    if shape is None:
        return _tree_map_with_path(lambda *_: None, value)
    kind: Any = type(value)
    if kind in (list, tuple) and isinstance(shape, (list, tuple)) and len(shape) == len(value):
        return kind(map(_filled, value, shape))
    registered = pytree.SUPPORTED_NODES.get(kind)
    if registered is None or not isinstance(shape, Mapping):
        return shape
    parts, names = registered.flatten_fn(value)
    is_named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    # What is named otherwise torch.export refuses.
    if not is_named or not set(shape) <= set(names):
        return shape
    filled = [_filled(part, shape.get(name)) for name, part in zip(names, parts, strict=True)]
    return dict(zip(names, filled, strict=True)) if kind is dict else filled


def _of_positional(
    signature: inspect.Signature, by_name: Mapping[str, Any], count: int
) -> Iterator[Any]:
    """Yields what is said of each argument that is passed by position."""
    first = [
        each.name
        for each in signature.parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ][:count]
    yield from (by_name[name] for name in first)
    left = count - len(first)
    shapes = by_name[str(_name_of(signature, inspect.Parameter.VAR_POSITIONAL))] if left else ()
    # What is no tuple of so many torch.export refuses.
    is_each = isinstance(shapes, (tuple, list)) and len(shapes) == left
    yield from shapes if is_each else [None] * left


def _leaves(spec: pytree.TreeSpec, shape: Any) -> list[Any]:
    if spec.is_leaf():
        return [shape]
    children = spec.children()
    if isinstance(shape, Mapping) and isinstance(spec.context, list):
        parts: list[Any] = [shape.get(key) for key in spec.context]
    elif isinstance(shape, (tuple, list)) and len(shape) == len(children):
        parts = list(shape)
    else:
        parts = [None] * len(children)
    return [
        leaf for child, part in zip(children, parts, strict=True) for leaf in _leaves(child, part)
    ]


def _error(what: str, inputs: Mapping[str, Any]) -> InputError:
    return InputError(
        f"dynamic_shapes {what}",
        stage="import",
        hint=f"the inputs are {', '.join(inputs)}" if inputs else "there are no inputs",
    )
