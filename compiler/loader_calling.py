"""Calls a library's program like the model that it was made from, with containers and constants.

The description of a call is a string of JSON in the library:

    {"version": 1,
     "parameters": [{"name": "x", "kind": "POSITIONAL_OR_KEYWORD", "default": NODE}, ...],
     "inputs": {"x": NODE},
     "outputs": NODE,
     "dims": {"batch": {"limits": [2, 64], "place": [0, 1]}}}   size 1 of input 0

A NODE is one of

    {"tensor": 0}                         the program's input or output of this number
    {"number": 0}                         a whole number, the program's input of this number
    {"value": 2}                          null, a boolean, a number or a string
    {"size": [0, 1]}                      a whole number: size 1 of input 0; axis -1: input 0 itself
    {"list": [NODE]}, {"tuple": [NODE]}
    {"dict": [["key", NODE]]}, {"OrderedDict": [["key", NODE]]}
    {"namedtuple": "module:Name", "fields": [["field", NODE]]}
    {"dataclass": "module:Name", "fields": [["field", NODE]]}
    {"registered": "module:Name", "context": "...", "children": [NODE]}   of torch's pytrees

A key is null, a boolean, a number, a string, or a list of keys, which stands for a tuple.
Only the last kind needs torch.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from math import copysign
from typing import Any

from .errors import InputError
from .loader_arguments import OPTIONS, with_options
from .loader_values import plain_number

VERSION = 1
# Stands in place of an axis where the size is the input itself, a whole number.
NUMBER = -1


class _Unknown:
    """The default of a parameter whose own is no data."""

    def __repr__(self) -> str:
        return "..."


_UNKNOWN = _Unknown()


def is_unknown(default: Any) -> bool:
    """Returns whether a default stands for one that the description cannot hold."""
    return default is _UNKNOWN


Node = Mapping[str, Any]


def _with_keys(node: Node) -> Node:
    """Returns a node whose dicts have tuples among their keys where JSON has lists."""
    found = dict(node)
    for kind in ("list", "tuple", "children"):
        if kind in node:
            found[kind] = [_with_keys(each) for each in node[kind]]
    for kind in ("dict", "OrderedDict", "fields"):
        if kind in node:
            found[kind] = [(as_key(key), _with_keys(each)) for key, each in node[kind]]
    return found


def as_key(key: Any) -> Any:
    """Returns a key of a dict, a tuple where JSON has a list."""
    return tuple(map(as_key, key)) if isinstance(key, (list, tuple)) else key


class Calling:
    """What a program is called with and gives, from its description in JSON.

    `types` are classes by `module:Name` that need not be imported.
    """

    def __init__(
        self,
        description: Mapping[str, Any],
        program: str,
        types: Mapping[str, type] | None = None,
    ) -> None:
        if description["version"] != VERSION:
            raise InputError(
                f"{program} was built by another version of hirc",
                hint="build it again, or load it with the version that built it",
            )
        self.program = program
        self.inputs: Mapping[str, Node] = {
            name: _with_keys(each) for name, each in description["inputs"].items()
        }
        self.outputs: Node = _with_keys(description["outputs"])
        self._dims: Mapping[str, Any] = description["dims"]
        self._types = dict(types or {})
        parameters = [self._parameter(each) for each in description["parameters"]]
        self.signature = inspect.Signature(parameters)

    @property
    def dims(self) -> Mapping[str, tuple[int | None, int | None]]:
        """The least and the greatest that each open size may be, by name; None is no limit."""
        return {name: tuple(each["limits"]) for name, each in self._dims.items()}

    def limits(self) -> Iterator[tuple[int, int | None, tuple[int, int]]]:
        """Yields the least and the greatest value of each size with limits, and its place: the
        numbers of an input and of its dim.
        """
        for each in self._dims.values():
            least, most = each["limits"]
            if least or most is not None:
                yield least or 0, most, tuple(each["place"])

    def _check_sizes(self, tensors: Mapping[int, Any]) -> None:
        for name, described in self._dims.items():
            least, most = described["limits"]
            number, axis = described["place"]
            what, size = "size", None
            if axis == NUMBER:
                what, size = "number", tensors[number]
            elif axis < len(tensors[number].shape):
                # The program itself reports another number of dims.
                size, least = tensors[number].shape[axis], least or 0
            is_low = size is not None and least is not None and size < least
            if not is_low and (size is None or most is None or size <= most):
                continue
            wanted = f"at least {least}" if most is None else f"{least} to {most}"
            wanted = f"at most {most}" if least is None else wanted
            raise InputError(
                f"the {what} '{name}' of {self.program} is {size}, and it was compiled for {wanted}"
            )

    def _parameter(self, description: Mapping[str, Any]) -> inspect.Parameter:
        default = inspect.Parameter.empty
        if "default" in description:
            node = description["default"]
            default = _UNKNOWN if "unknown" in node else self._built(node)
        kind = getattr(inspect.Parameter, description["kind"])
        return inspect.Parameter(description["name"], kind, default=default)

    def tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int, Any]:
        """Returns the program's inputs, by number, of a call. Raises InputError
        where one is wrong.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(
                f"{self.program}: {error}", hint=f"it takes {self.shown_signature()}"
            ) from None
        bound.apply_defaults()
        found: dict[int, Any] = {}
        for name, given in bound.arguments.items():
            node = self.inputs.get(name)
            path = f"input '{name}"
            if node is None and given is not _UNKNOWN:
                raise self._wrong(
                    path, "was left to its default when it was compiled, and cannot be given"
                )
            if node is not None and given is _UNKNOWN:
                raise self._wrong(path, f"is missing: it is {_shown(node)}")
            if node is not None:
                self._take(node, given, path, found)
        self._check_sizes(found)
        return found

    def takes(self, name: str) -> bool:
        """Returns whether the model itself may be called with a keyword of that name."""
        parameters = self.signature.parameters
        return name in parameters or any(
            each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()
        )

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a call that are not the model's own parameters."""
        return tuple(name for name in OPTIONS if not self.takes(name))

    def call_signature(self) -> inspect.Signature:
        """Returns all that a call takes."""
        return with_options(self.signature, self.options)

    def outputs_in(self, out: Any) -> dict[int, Any]:
        """Returns the program's outputs, by number, that are handed in: in what the model gives.

        None stands for what is not handed in, a part or all of it. Raises InputError where
        something is wrong.
        """
        found: dict[int, Any] = {}
        self._take_outputs(self.outputs, out, "output 'out", found)
        return found

    def _take_outputs(self, node: Node, given: Any, path: str, found: dict[int, Any]) -> None:
        if given is None:
            return
        if "tensor" in node:
            number = node["tensor"]
            before = found.get(number, given)
            self._take_tensor(node, given, path, found)
            if before is not given:
                raise self._wrong(path, "is another tensor than where the same output stands first")
        elif "value" in node or "size" in node:
            raise self._wrong(path, f"is {_kind_of(given)}, where the model gives no tensor")
        else:
            for key, child, value in self._children(node, given, path):
                self._take_outputs(child, value, f"{path}{key}", found)

    def _take(self, node: Node, given: Any, path: str, found: dict[int, Any]) -> None:
        """Finds the tensors of a value that is built as the node says."""
        if "tensor" in node:
            self._take_tensor(node, given, path, found)
        elif "number" in node:
            number = plain_number(given)
            if type(number) is not int:
                raise self._wrong(
                    path, f"is {_kind_of(given)}, where the program takes a whole number"
                )
            found[node["number"]] = number
        elif "value" in node:
            wanted = node["value"]
            if not is_same(given, wanted):
                raise self._wrong(
                    path,
                    f"is {given!r}, and it was {wanted!r} when it was compiled, which is part of "
                    "the program",
                    hint="compile it once for each such value",
                )
        else:
            for key, child, value in self._children(node, given, path):
                self._take(child, value, f"{path}{key}", found)

    def _take_tensor(self, node: Node, given: Any, path: str, found: dict[int, Any]) -> None:
        if not hasattr(given, "__dlpack__"):
            raise self._wrong(path, f"is {_kind_of(given)}, where the program takes a tensor")
        found[node["tensor"]] = given

    def _children(self, node: Node, given: Any, path: str) -> Iterator[tuple[str, Node, Any]]:
        """Yields the parts of a container, each with what it adds to the path."""
        if "list" in node or "tuple" in node:
            kind = list if "list" in node else tuple
            children = node["list"] if "list" in node else node["tuple"]
            if not isinstance(given, kind) or (kind is tuple and hasattr(given, "_fields")):
                raise self._wrong(path, f"is {_kind_of(given)}, not {_shown(node)}")
            if len(given) != len(children):
                raise self._wrong(path, f"has {len(given)} elements, not {len(children)}")
            for place, (child, value) in enumerate(zip(children, given, strict=True)):
                yield f"[{place}]", child, value
        elif "dict" in node or "OrderedDict" in node:
            yield from self._of_dict(node, given, path)
        elif "fields" in node:
            kind = self.type_of(node)
            if not isinstance(given, kind):
                raise self._wrong(path, f"is {_kind_of(given)}, not {_shown(node)}")
            for name, child in node["fields"]:
                yield f".{name}", child, getattr(given, name)
        else:
            values = self._registered(node, given, path)
            for place, (child, value) in enumerate(zip(node["children"], values, strict=True)):
                yield f"[{place}]", child, value

    def _of_dict(self, node: Node, given: Any, path: str) -> Iterator[tuple[str, Node, Any]]:
        kind, entries = (
            (dict, node["dict"]) if "dict" in node else (OrderedDict, node["OrderedDict"])
        )
        if not isinstance(given, kind):
            raise self._wrong(path, f"is {_kind_of(given)}, not {_shown(node)}")
        values: Mapping[Any, Any] = given
        keys = [key for key, _ in entries]
        for key in keys:
            if key not in values:
                raise self._wrong(path, f"has no {key!r}")
        for key in values:
            if key not in keys:
                raise self._wrong(path, f"has {key!r}, which was not there when it was compiled")
        for key, child in entries:
            yield f"[{key!r}]", child, values[key]

    def _registered(self, node: Node, given: Any, path: str) -> Sequence[Any]:
        registered = registered_type(self.type_of(node))
        if type(given) is not registered.kind:
            raise self._wrong(path, f"is {_kind_of(given)}, not {_shown(node)}")
        values, context = registered.flatten(given)
        if registered.dump(context) != node["context"] or len(values) != len(node["children"]):
            raise self._wrong(path, "is built in another way than when it was compiled")
        return values

    def result(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Returns the model's result, made of the program's outputs and its inputs' sizes."""

        def size_of(place: int, axis: int) -> int:
            return int(inputs[place] if axis == NUMBER else inputs[place].shape[axis])

        return self._built(self.outputs, results, size_of)

    def _built(
        self,
        node: Node,
        results: Sequence[Any] = (),
        size_of: Callable[[int, int], int] | None = None,
    ) -> Any:
        def build(node: Node) -> Any:
            if "tensor" in node:
                return results[node["tensor"]]
            if "value" in node:
                return node["value"]
            if "size" in node:
                assert size_of is not None
                return size_of(*node["size"])
            if "list" in node:
                return [build(each) for each in node["list"]]
            if "tuple" in node:
                return tuple(build(each) for each in node["tuple"])
            if "dict" in node:
                return {key: build(each) for key, each in node["dict"]}
            if "OrderedDict" in node:
                return OrderedDict((key, build(each)) for key, each in node["OrderedDict"])
            kind = self.type_of(node)
            if "fields" in node:
                return kind(**{name: build(each) for name, each in node["fields"]})
            children = [build(each) for each in node["children"]]
            return registered_type(kind).build(children, node["context"])

        return build(node)

    def type_of(self, node: Node) -> type:
        """Returns the class of a node that names one. Raises InputError where it cannot be
        imported.
        """
        name = next(node[key] for key in ("dataclass", "namedtuple", "registered") if key in node)
        if name not in self._types:
            self._types[name] = _imported(name)
        return self._types[name]

    def _wrong(self, path: str, what: str, *, hint: str | None = None) -> InputError:
        # A path begins with what it is of, and a quote.
        return InputError(f"{path}' of {self.program} {what}", hint=hint)

    def shown_signature(self) -> str:
        """Returns the parameters with what each is, for people."""
        parts: list[str] = []
        for parameter in self.signature.parameters.values():
            node = self.inputs.get(parameter.name)
            shown = "" if node is None else f": {_shown(node)}"
            parts.append(f"{parameter.name}{shown}")
        return f"({', '.join(parts)})"


@dataclasses.dataclass(frozen=True)
class RegisteredType:
    """A type of torch's pytrees: how its values are taken apart and built."""

    kind: type
    flatten: Callable[[Any], tuple[Sequence[Any], Any]]
    dump: Callable[[Any], str]
    load: Callable[[str], Any]
    build: Callable[[Sequence[Any], str], Any]


def registered_type(kind: type) -> RegisteredType:
    """Returns what torch knows of a type. Raises InputError where it is not registered."""
    from torch.utils import _pytree as pytree

    node = pytree.SUPPORTED_NODES.get(kind)
    if node is None:
        raise InputError(
            f"the program takes or gives values of type {kind.__qualname__}, which torch's pytrees "
            "do not know",
            hint="register it as where the program was compiled, before it is called",
        )
    serialized = pytree.SUPPORTED_SERIALIZED_TYPES.get(kind)
    to_plain = getattr(serialized, "to_dumpable_context", None) or _same
    from_plain = getattr(serialized, "from_dumpable_context", None) or _same

    def flatten(value: Any) -> tuple[Sequence[Any], Any]:
        values, context = node.flatten_fn(value)
        return list(values), context

    def load(context: str) -> Any:
        return from_plain(json.loads(context))

    def build(children: Sequence[Any], context: str) -> Any:
        return node.unflatten_fn(list(children), load(context))

    def dump(context: Any) -> str:
        return json.dumps(to_plain(context))

    return RegisteredType(kind, flatten, dump, load, build)


def _same(context: Any) -> Any:
    return context


def _imported(name: str) -> type:
    """Returns the class that `module:Name` is. Raises InputError where there is none."""
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"the program takes or gives values of the type {path} of module {module}, which "
            f"cannot be imported: {error}"
        ) from error
    return found


def is_same(given: Any, wanted: Any) -> bool:
    """Returns whether a constant is the one that was traced; True is not 1, -0.0 is not 0.0, and
    nan is nan.
    """
    given = plain_number(given)
    if type(given) is not type(wanted):
        return False
    if isinstance(given, float) and given == wanted == 0:
        return copysign(1, given) == copysign(1, wanted)
    return bool(given == wanted) or (given != given and wanted != wanted)


def _kind_of(given: Any) -> str:
    return "None" if given is None else f"of type {type(given).__name__}"


def _shown(node: Node) -> str:
    """Returns a node in a message: a word or two."""
    if "tensor" in node:
        return "a tensor"
    if "number" in node:
        return "a whole number"
    if "value" in node:
        return repr(node["value"])
    if "list" in node or "tuple" in node:
        kind = "list" if "list" in node else "tuple"
        return f"a {kind} of {len(node[kind])}"
    if "dict" in node or "OrderedDict" in node:
        kind = "dict" if "dict" in node else "OrderedDict"
        return f"a {kind} of {', '.join(repr(key) for key, _ in node[kind])}"
    return f"a {str(next(iter(node.values()))).rpartition(':')[2].rpartition('.')[2]}"
