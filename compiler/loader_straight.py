"""Writes the call of a model as straight-line Python code.

`Calling` walks its description node by node, and reports what is wrong. This module writes the same
description out once, as a function for calls that match it:

    def call(p0=_missing, /, *rest, **named):      # of the model's parameters `images` and `mask`
        while True:
            ...
            v0 = a1
            if type(v0) is not list or len(v0) != 2: break
            c0, c1, = v0
            t1 = c0
            ...
            r0, r1, = program(t0, t1, t2)
            return {"loss": r0, "sums": (r1,)}
        return other(..., named)

A call that does not match breaks out of the loop, to the call by `Calling`: so both accept the same
calls.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .loader_arguments import name_function
from .loader_calling import Calling, Node, is_same, is_unknown, registered_type

if TYPE_CHECKING:
    from .loader import Program

_missing = object()
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_OTHERS = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def model_function(calling: Calling, program: Program) -> Callable[..., Any]:
    """Returns the function that calls a program as its model was called."""
    model = _Model(calling, program)
    try:
        function = _Writer(model).function()
    except _OtherwiseError:

        def function(*args: Any, **kwargs: Any) -> Any:
            return model.call(args, kwargs)

    says = f"{program.name}{calling.shown_signature()}"
    return name_function(function, program.name, calling.call_signature(), says)


class _OtherwiseError(Exception):
    """A description that this module does not write out."""


class _Model:
    """A program that `Calling` calls like its model."""

    def __init__(self, calling: Calling, program: Program) -> None:
        self.calling = calling
        self.program = program

    def options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Removes the options of the call from its keywords, and returns them."""
        return {name: kwargs.pop(name) for name in self.calling.options if name in kwargs}

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls the program. Raises InputError for a wrong argument; then nothing has run."""
        tensors, options = self.taken(args, kwargs)
        results = self.program(*tensors, **options)
        outputs = results if isinstance(results, tuple) else (results,)
        return self.calling.result(outputs, tensors)

    def taken(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Returns the program's inputs and options. Raises InputError for a wrong argument."""
        options = self.options(kwargs)
        if options.get("out") is not None:
            given = self.calling.outputs_in(options["out"])
            handed = [given.get(place) for place in range(len(self.program.outputs))]
            options["out"] = handed[0] if len(handed) == 1 else handed
        found = self.calling.tensors(args, kwargs)
        return [found[place] for place in range(len(found))], options


class _Writer:
    """Writes the function that calls a model's program."""

    def __init__(self, model: _Model) -> None:
        self.model = model
        self.calling = model.calling
        self.lines: list[str] = []
        self.indent = 2
        # The function's global names. A class is added when it is first seen.
        self.globals: dict[str, Any] = {"_missing": _missing, "InputError": InputError}
        self.classes: dict[str, Callable[[], Any]] = {}
        self.taken: set[int] = set()
        self.counts = 0

    def function(self) -> Callable[..., Any]:
        """Returns the function. Raises _OtherwiseError where it cannot be written."""
        program = self.model.program
        if any(value.is_scalar for value in program.inputs):
            raise _OtherwiseError
        parameters = [
            each for each in self.calling.signature.parameters.values() if each.kind not in _OTHERS
        ]
        positional = [f"p{i}" for i, each in enumerate(parameters) if each.kind in _POSITIONAL]
        self._take_others()
        self._take_names(parameters)
        self.line("try:")
        with _Indented(self):
            self.line("if not ready: break")
            for place, parameter in enumerate(parameters):
                self._take_parameter(parameter, f"a{place}")
            self._take_sizes()
            if self.taken != set(range(len(program.inputs))):
                raise _OtherwiseError
            handed = self._take_outputs()
        self.line("except (AttributeError, IndexError, KeyError, TypeError, ValueError): break")
        self._call(handed, positional)
        given = "".join(f"{name}, " for name in positional)
        heads = [f"{name}=_missing" for name in positional] + ["/"] * bool(positional)
        text = [
            f"def call({', '.join([*heads, '*rest', '**named'])}):",
            "    while True:",
            *self.lines,
            f"    return other([{given}], rest, named)",
        ]
        return self._compiled("\n".join(text), program)

    def _compiled(self, text: str, program: Program) -> Callable[..., Any]:
        model, space = self.model, self.globals

        def given(first: list[Any], rest: tuple[Any, ...]) -> tuple[Any, ...]:
            return (*(each for each in first if each is not _missing), *rest)

        def other(first: list[Any], rest: tuple[Any, ...], named: dict[str, Any]) -> Any:
            result = model.call(given(first, rest), named)
            if not space["ready"]:
                space.update((name, find()) for name, find in self.classes.items())
                space["ready"] = True
            return result

        def explain(first: list[Any], named: dict[str, Any]) -> None:
            model.taken(given(first, ()), named)

        space.update(other=other, explain=explain, ready=not self.classes)
        space["program"] = program.__call__
        exec(compile(text, f"<call of {program.name}>", "exec"), space)
        return space["call"]

    def line(self, text: str) -> None:
        """Adds a line."""
        self.lines.append("    " * self.indent + text)

    def _name(self, prefix: str) -> str:
        self.counts += 1
        return f"{prefix}{self.counts}"

    def _constant(self, value: Any) -> str:
        name = self._name("k")
        self.globals[name] = value
        return name

    def _class(self, find: Callable[[], Any]) -> str:
        name = self._name("K")
        self.classes[name] = find
        return name

    def _take_others(self) -> None:
        """Writes the exit for values of `*args`. Raises _OtherwiseError if the model had some."""
        for each in self.calling.signature.parameters.values():
            node = self.calling.inputs.get(each.name)
            if each.kind in _OTHERS and node is not None and any(node.values()):
                raise _OtherwiseError
        self.line("if rest: break")

    def _take_names(self, parameters: list[Parameter]) -> None:
        for place, parameter in enumerate(parameters):
            first = f"p{place}" if parameter.kind in _POSITIONAL else "_missing"
            self.line(f"a{place} = {first}")
        self.line("out = stream = None")
        self.line("if named:")
        with _Indented(self):
            self.line("left = len(named)")
            for place, parameter in enumerate(parameters):
                if parameter.kind in _NAMED:
                    name = repr(parameter.name)
                    self.line(
                        f"if a{place} is _missing and {name} in named: "
                        f"a{place} = named[{name}]; left -= 1"
                    )
            for name in self.calling.options:
                self.line(f"if {name!r} in named: {name} = named[{name!r}]; left -= 1")
            self.line("if left: break")

    def _take_parameter(self, parameter: Parameter, value: str) -> None:
        node = self.calling.inputs.get(parameter.name)
        default = parameter.default
        if node is None:
            # The example left it to a default that the description cannot hold; so must each call.
            self.line(f"if {value} is not _missing: break" if is_unknown(default) else "break")
        elif "value" in node and default is not Parameter.empty and is_same(default, node["value"]):
            self.line(f"if {value} is not _missing and ({self._differs(node, value)}): break")
        else:
            self.line(f"if {value} is _missing: break")
            self._take(node, value)

    def _differs(self, node: Node, value: str) -> str:
        wanted = node["value"]
        if wanted != wanted:
            raise _OtherwiseError
        if wanted is None or isinstance(wanted, bool):
            return f"{value} is not {wanted}"
        if isinstance(wanted, float) and not wanted:
            # 0.0 and -0.0 are equal, and not the same.
            return f"type({value}) is not float or repr({value}) != {str(wanted)!r}"
        name = self._constant(wanted)
        return f"type({value}) is not {type(wanted).__name__} or {value} != {name}"

    def _take(self, node: Node, value: str) -> None:
        """Writes the code that finds the tensors of an input."""
        if "tensor" in node:
            self.taken.add(node["tensor"])
            self.line(f"t{node['tensor']} = {value}")
        elif "value" in node:
            name = self._name("v")
            self.line(f"{name} = {value}")
            self.line(f"if {self._differs(node, name)}: break")
        else:
            for child, part in self._parts(node, value):
                self._take(child, part)

    def _parts(self, node: Node, value: str) -> Iterator[tuple[Node, str]]:
        """Writes the check of a container, and yields its parts with the code that reads each."""
        name = self._name("v")
        self.line(f"{name} = {value}")
        if "list" in node or "tuple" in node:
            kind = "list" if "list" in node else "tuple"
            self.line(f"if type({name}) is not {kind} or len({name}) != {len(node[kind])}: break")
            yield from zip(node[kind], self._unpacked(name, len(node[kind])), strict=True)
        elif "dict" in node or "OrderedDict" in node:
            kind = "dict" if "dict" in node else "OrderedDict"
            self.globals["OrderedDict"] = OrderedDict
            self.line(f"if type({name}) is not {kind} or len({name}) != {len(node[kind])}: break")
            for key, child in node[kind]:
                yield child, f"{name}[{self._constant(key)}]"
        elif "fields" in node:
            self.line(f"if type({name}) is not {self._class_of(node)}: break")
            for field, child in node["fields"]:
                yield child, f"{name}.{field}"
        else:
            yield from self._registered(node, name)

    def _class_of(self, node: Node) -> str:
        return self._class(lambda: self.calling.type_of(node))

    def _registered(self, node: Node, name: str) -> Iterator[tuple[Node, str]]:
        def registered() -> Any:
            return registered_type(self.calling.type_of(node))

        flatten = self._class(lambda: registered().flatten)
        wanted = self._class(lambda: registered().load(node["context"]))
        parts, context = self._name("v"), self._name("v")
        self.line(f"if type({name}) is not {self._class_of(node)}: break")
        self.line(f"{parts}, {context} = {flatten}({name})")
        self.line(f"if type({context}) is not type({wanted}) or {context} != {wanted}: break")
        self.line(f"if len({parts}) != {len(node['children'])}: break")
        yield from zip(node["children"], self._unpacked(parts, len(node["children"])), strict=True)

    def _unpacked(self, name: str, count: int) -> list[str]:
        names = [self._name("v") for _ in range(count)]
        if names:
            self.line(f"{', '.join(names)}, = {name}")
        return names

    def _take_sizes(self) -> None:
        for least, most, (number, axis) in self.calling.limits():
            size = self._name("v")
            self.line(f"{size} = t{number}.shape[{axis}]")
            upper = "" if most is None else f" <= {most}"
            self.line(f"if not {least} <= {size}{upper}: break")

    def _take_outputs(self) -> bool:
        """Writes the code that finds the outputs in `out=`; returns whether there can be any."""
        if self.calling.takes("out"):
            return False
        self.line("if out is not None:")
        with _Indented(self):
            found: set[int] = set()
            try:
                self._take_output(self.calling.outputs, "out", found)
            except _OtherwiseError:
                self.line("break")
                return False
            for number in set(range(len(self.model.program.outputs))) - found:
                self.line(f"o{number} = None")
        return True

    def _take_output(self, node: Node, value: str, found: set[int]) -> None:
        if "tensor" in node:
            if node["tensor"] in found:
                raise _OtherwiseError
            found.add(node["tensor"])
            self.line(f"o{node['tensor']} = {value}")
        elif "value" in node or "size" in node:
            self.line(f"if {value} is not None: break")
        else:
            for child, part in self._parts(node, value):
                self._take_output(child, part, found)

    def _call(self, handed: bool, positional: list[str]) -> None:
        program = self.model.program
        tensors = "".join(f"t{number}, " for number in range(len(program.inputs)))
        outputs = "".join(f"o{number}, " for number in range(len(program.outputs)))
        results = "".join(f"r{number}, " for number in range(len(program.outputs)))
        if len(program.outputs) == 1:
            outputs, results = "o0", "r0"
        else:
            outputs, results = f"({outputs})", f"({results})" if results else "_"
        self.line("try:")
        with _Indented(self):
            self.line("if out is None and stream is None:")
            self.line(f"    {results} = program({tensors})")
            self.line("elif out is None:")
            self.line(f"    {results} = program({tensors}stream=stream)")
            if handed:
                self.line("else:")
                self.line(f"    {results} = program({tensors}out={outputs}, stream=stream)")
        self.line("except InputError:")
        self.line(f"    explain([{', '.join(positional)}], named)")
        self.line("    raise")
        self.line(f"return {self._built(self.calling.outputs)}")

    def _built(self, node: Node) -> str:
        if "tensor" in node:
            return f"r{node['tensor']}"
        if "value" in node:
            return self._constant(node["value"])
        if "size" in node:
            number, axis = node["size"]
            return f"int(t{number}.shape[{axis}])"
        if "list" in node or "tuple" in node:
            kind = "list" if "list" in node else "tuple"
            parts = "".join(f"{self._built(each)}, " for each in node[kind])
            return f"[{parts}]" if kind == "list" else f"({parts})"
        if "dict" in node:
            pairs = ((self._constant(key), self._built(each)) for key, each in node["dict"])
            return f"{{{', '.join(f'{key}: {part}' for key, part in pairs)}}}"
        if "OrderedDict" in node:
            self.globals["OrderedDict"] = OrderedDict
            pairs = ((self._constant(key), self._built(each)) for key, each in node["OrderedDict"])
            return f"OrderedDict(({''.join(f'({key}, {part}), ' for key, part in pairs)}))"
        if "fields" in node:
            parts = ", ".join(f"{name}={self._built(each)}" for name, each in node["fields"])
            return f"{self._class_of(node)}({parts})"
        build = self._class(lambda: registered_type(self.calling.type_of(node)).build)
        parts = ", ".join(self._built(each) for each in node["children"])
        return f"{build}([{parts}], {self._constant(node['context'])})"


class _Indented:
    """A context in which lines are indented by one more level."""

    def __init__(self, writer: _Writer) -> None:
        self.writer = writer

    def __enter__(self) -> None:
        self.writer.indent += 1

    def __exit__(self, *_: object) -> None:
        self.writer.indent -= 1
