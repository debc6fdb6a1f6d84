"""How a model is called, as data: what compiler/loader_calling reads.

Made of torch's tree specs; the leaves are the program's inputs and outputs, and constants.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch.utils import _pytree as pytree

from ...compiler.errors import UnsupportedError
from ...compiler.loader_calling import VERSION, Node, registered_type

_CONSTANTS = (bool, int, float, str)


def bind(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[inspect.Signature, tuple[Any, ...], dict[str, Any]]:
    """Returns a function's signature, and the arguments with keywords in the signature's order.

    Positional arguments stay positional, keywords stay keywords, and defaults are not passed: a
    wrapper of the model's function may look at any of them. Raises TypeError where the function
    does not take these arguments.
    """
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    named = [name for name in (*bound.arguments, *kwargs) if name in kwargs]
    return signature, args, {name: kwargs[name] for name in named}


def _is_data(default: Any) -> bool:
    return default is None or (
        type(default) in (*_CONSTANTS, tuple, list, dict)
        and all(leaf is None or type(leaf) in _CONSTANTS for leaf in pytree.tree_leaves(default))
    )


@dataclasses.dataclass
class Description:
    """The description of a program's call, and the classes that it names."""

    data: dict[str, Any]
    types: dict[str, type]


def describe(
    in_spec: pytree.TreeSpec,
    inputs: Iterable[Node],
    out_spec: pytree.TreeSpec,
    outputs: Iterable[Node],
    signature: inspect.Signature | None,
    names: Sequence[str] | None,
    dims: Mapping[str, Sequence[int | None]],
    places: Mapping[str, Sequence[int]],
) -> Description:
    """Describes the call of an exported program.

    `inputs` and `outputs` are the leaves of its specs. `signature` is that of what was exported;
    without it `names` are those of the arguments, as torch keeps them. `dims` are the limits of the
    open sizes by name, `places` the input and the axis where each is.
    """
    nodes = _Nodes()
    leaves = iter(inputs)
    positional, named = in_spec.children()
    args = [nodes.of(each, leaves) for each in positional.children()]
    kwargs = {
        name: nodes.of(each, leaves)
        for name, each in zip(named.context, named.children(), strict=True)
    }
    if signature is None:
        signature = _plain_signature(len(args), list(kwargs), names)
    parameters = [nodes.parameter(each) for each in signature.parameters.values()]
    given: dict[str, Node] = {}
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            given[parameter.name] = {"tuple": args}
            args = []
        elif parameter.kind is parameter.VAR_KEYWORD:
            given[parameter.name] = {"dict": [list(each) for each in kwargs.items()]}
            kwargs = {}
        elif args and parameter.kind is not parameter.KEYWORD_ONLY:
            given[parameter.name] = args.pop(0)
        elif parameter.name in kwargs:
            given[parameter.name] = kwargs.pop(parameter.name)
        elif _is_data(parameter.default):
            given[parameter.name] = nodes.default(parameter)
    data = {
        "version": VERSION,
        "parameters": parameters,
        "inputs": given,
        "outputs": nodes.of(out_spec, iter(outputs)),
        "dims": {
            name: {"limits": list(limits), "place": list(places[name])}
            for name, limits in dims.items()
        },
    }
    return Description(data, nodes.types)


def _plain_signature(
    count: int, keywords: Sequence[str], names: Sequence[str] | None
) -> inspect.Signature:
    """Returns the signature of a program that is called with so many arguments, and
    with keywords.
    """
    known = list(names or ())[:count]
    if len(known) < count or len({*known, *keywords}) < count + len(keywords):
        known = [f"input{place}" for place in range(count)]
    kinds = inspect.Parameter
    return inspect.Signature(
        [
            *(kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in known),
            *(kinds(name, kinds.KEYWORD_ONLY) for name in keywords),
        ]
    )


class _Nodes:
    """Makes nodes, and gathers the classes that they name."""

    def __init__(self) -> None:
        self.types: dict[str, type] = {}

    def parameter(self, parameter: inspect.Parameter) -> dict[str, Any]:
        described: dict[str, Any] = {"name": parameter.name, "kind": parameter.kind.name}
        if _is_data(parameter.default):
            described["default"] = self.default(parameter)
        elif parameter.default is not parameter.empty:
            described["default"] = {"unknown": True}
        return described

    def default(self, parameter: inspect.Parameter) -> Node:
        """Returns the node that describes a parameter's default."""
        leaves, spec = pytree.tree_flatten(parameter.default)
        return self.of(spec, map(constant, leaves))

    def of(self, spec: pytree.TreeSpec, leaves: Iterator[Node]) -> Node:
        """Returns the node of a spec; it takes its leaves from the iterator."""
        if spec.is_leaf():
            return next(leaves)
        children = [self.of(each, leaves) for each in spec.children()]
        kind: Any = spec.type
        if kind in (list, tuple):
            return {kind.__name__: children}
        if kind in (dict, OrderedDict):
            keys = [_key(key) for key in spec.context]
            return {kind.__name__: [list(each) for each in zip(keys, children, strict=True)]}
        if kind is namedtuple or pytree.is_namedtuple_class(kind):
            kind = spec.context if kind is namedtuple else kind
            fields = zip(kind._fields, children, strict=True)
            return {"namedtuple": self._named(kind), "fields": [list(each) for each in fields]}
        is_dataclass: bool = dataclasses.is_dataclass(spec.type)
        if is_dataclass and _is_plain(spec.context):
            names, missing = spec.context
            fields = [[name, child] for name, child in zip(names, children, strict=True)]
            fields += [[name, {"value": None}] for name in missing]
            return {"dataclass": self._named(kind), "fields": fields}
        try:
            context = registered_type(kind).dump(spec.context)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise UnsupportedError(
                f"a value of type {kind.__qualname__} among the inputs or outputs cannot be "
                f"described: {error}",
                stage="import",
                hint="register the type with a to_dumpable_context, or pass its tensors",
            ) from error
        return {"registered": self._named(kind), "context": context, "children": children}

    def _named(self, kind: type) -> str:
        name = f"{kind.__module__}:{kind.__qualname__}"
        self.types[name] = kind
        return name


def _is_plain(context: Any) -> bool:
    """Returns whether a dataclass's context is what torch's own registration makes: two lists of
    names.
    """
    return (
        isinstance(context, (list, tuple))
        and len(context) == 2
        and all(isinstance(names, list) for names in context)
    )


def _key(key: Any) -> Any:
    if type(key) is tuple:
        return tuple(map(_key, key))
    if key is not None and type(key) not in _CONSTANTS:
        raise UnsupportedError(
            f"the key {key!r} of a dict among the inputs or outputs is no number or string, nor a "
            "tuple of these",
            stage="import",
        )
    return key


def constant(value: Any) -> Node:
    """Returns the node of a value that is part of the program. Raises UnsupportedError."""
    if value is not None and type(value) not in _CONSTANTS:
        raise UnsupportedError(
            f"a value of type {type(value).__name__} among the inputs or outputs cannot be "
            "described",
            stage="import",
            hint="tensors, numbers, truths, strings and None can be",
        )
    return {"value": value}


def leaf_paths(node: Node) -> dict[int, str]:
    """For each tensor in a node a name, of the keys and numbers on the way to it."""
    found: dict[int, str] = {}

    def visit(node: Node, path: tuple[str, ...]) -> None:
        if "tensor" in node:
            found.setdefault(node["tensor"], "_".join(path))
        for kind in ("list", "tuple", "children"):
            for place, child in enumerate(node.get(kind, ())):
                visit(child, (*path, str(place)))
        for kind in ("dict", "OrderedDict", "fields"):
            for key, child in node.get(kind, ()):
                visit(child, (*path, *map(str, key if isinstance(key, tuple) else (key,))))

    visit(node, ())
    return found
