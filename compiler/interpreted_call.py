"""Programs and models that are not compiled, called like those that are.

For `hirc.jit(..., on_failure="interpret")`: the interpreter runs a program of Host IR, torch a
model. Calls take the same arguments, options and kinds of tensors, and give the same objects.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Never

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ..pipelines.hir.interface.signature import Value, read_values
from .errors import ExecutionError, HircError, InputError
from .interpreted_command import read_weights
from .interpreter import Interpreter
from .loader import Program
from .loader_arguments import OPTIONS, OwnSignature, name_called, name_function, with_options
from .loader_call import of_their_library
from .loader_checks import check_plain, passing, stream_number
from .loader_torch import dlpack_types
from .loader_values import ALLOCATED, INPUT, ValueInfo, scalar_bytes, scalar_value

Lock = AbstractContextManager[Any]


class InterpretedProgram(Program):
    """A program that the interpreter runs. It is called, and describes itself, as a Program.

    `lock` is held while MLIR is used. `weights` is the file with the program's weights.
    """

    __slots__ = ()

    def __init__(self, interpreter: Interpreter, lock: Lock, weights: Path | None = None) -> None:
        outline = interpreter.entry
        self.state = None
        self._interpreter = interpreter
        self._lock = lock
        # By the number of the input. State is what the calls leave there.
        self._weights = read_weights(outline.op, weights)
        inputs, outputs = read_values(outline.op)
        taken = [place for place in range(len(inputs)) if place not in self._weights]
        origins = [outline.input_of(place) for place in range(len(outputs))]
        self._declare(
            outline.name,
            tuple(_info(inputs[place], None) for place in taken),
            tuple(
                _info(value, taken.index(origin) if origin in taken else None)
                for value, origin in zip(outputs, origins, strict=True)
            ),
        )

        def call(*inputs: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
            return self._interpret(self._in_order(inputs, named), self._given(out), stream)

        name_function(call, self.name, self.call_signature(), self._described())
        object.__setattr__(self, "__call__", call)

    def _interpret(self, inputs: list[Any], given: list[Any], stream: Any) -> Any:
        kinds = _Kinds([*inputs, *given])
        values = [
            _input(value, each, self.name) for value, each in zip(self.inputs, inputs, strict=True)
        ]
        room = [
            None if each is None else _tensor(each, f"output '{value.name}' of {self.name}")
            for value, each in zip(self.outputs, given, strict=True)
        ]
        for place in sorted(self._weights):
            values.insert(place, self._weights[place])
        with self._lock, _on_stream(stream, values):
            run = self._interpreter.prepared(values, room)
            try:
                results = run()
            except InputError as error:
                raise ExecutionError(
                    error.message, error.position, error.op, error.stage, error.hint, error.notes
                ) from error
        found: list[Any] = []
        for value, result, own in zip(self.outputs, results, given, strict=True):
            if own is not None:
                found.append(own)
            elif value.is_scalar:
                found.append(scalar_value(value, scalar_bytes(value, result, self.name)))
            elif value.origin == INPUT:
                found.append(inputs[value.origin_input])
            else:
                found.append(kinds.of(result))
        return None if not found else found[0] if len(found) == 1 else tuple(found)


def _info(value: Value, origin: int | None) -> ValueInfo:
    return ValueInfo(
        name=value.name,
        type=value.text,
        element=str(value.element),
        sizes=tuple(None if size < 0 else size for size in value.sizes),
        dtype=value.dtype,
        element_bytes=value.element_bytes,
        is_scalar=not value.is_buffer,
        origin=ALLOCATED if origin is None else INPUT,
        origin_input=origin or 0,
    )


def _input(value: ValueInfo, given: Any, program: str) -> Any:
    """Returns an input as the interpreter takes it. Raises InputError."""
    if value.is_scalar and not hasattr(given, "__dlpack__"):
        return scalar_value(value, scalar_bytes(value, given, program))
    where = f"input '{value.name}' of {program}"
    if not hasattr(given, "__dlpack__"):
        raise InputError(
            f"{where}: {type(given).__name__} is no tensor, the program takes {value.type}"
        )
    return _tensor(given, where)


def _tensor(given: Any, where: str) -> torch.Tensor:
    """Returns a tensor of any library as one of torch on its memory. Raises InputError."""
    if not hasattr(given, "__dlpack__"):
        raise InputError(f"{where}: {type(given).__name__} is no tensor")
    with passing(where):
        check_plain(given, where)
        return torch.from_dlpack(given)


class _Kinds:
    """The libraries that the tensors of a call are of, from which it is to give tensors."""

    def __init__(self, given: list[Any]) -> None:
        self._given = [each for each in given if hasattr(each, "__dlpack__")]
        of_torch = any(isinstance(each, torch.Tensor) for each in self._given)
        self._is_torch = of_torch or not self._given

    def of(self, result: torch.Tensor) -> Any:
        """Returns a tensor as one of theirs."""
        if self._is_torch:
            return result
        module: Any = torch
        code = dlpack_types(module)[result.dtype]
        return of_their_library(result, self._given, code & 0xFF, on_cpu=not result.is_cuda)


def _on_stream(stream: Any, values: Sequence[Any]) -> AbstractContextManager[Any]:
    """Returns a context in which torch's current stream is that of a call. Raises InputError."""
    on_gpu = any(isinstance(value, torch.Tensor) and value.is_cuda for value in values)
    if stream is None:
        return nullcontext()
    number = stream_number(stream, on_cpu=not on_gpu)
    return torch.cuda.stream(torch.cuda.ExternalStream(number)) if on_gpu else nullcontext()


class InterpretedModel:
    """A torch model that torch runs, without gradients. It is called as a compiled model is.

    What a compiled one has besides a call, such as `save`, it lacks; `error` says why.
    """

    is_model = True
    __signature__ = OwnSignature()
    __name__: str
    __qualname__: str

    def __init__(self, model: Any, error: HircError, entry: str) -> None:
        self._error = error
        self._model = model.module() if isinstance(model, ExportedProgram) else model
        function = self._model.forward if isinstance(self._model, torch.nn.Module) else self._model
        self.signature = _plain(inspect.signature(function))
        self.dims: Mapping[str, tuple[int | None, int | None]] = {}
        parameters = self.signature.parameters
        is_open = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        self._options = [name for name in OPTIONS if name not in parameters and not is_open]
        name_called(self, entry, f"{entry}{self.signature}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the model. Raises InputError where an argument is wrong; then nothing has run."""
        name = self.__name__
        options = {each: kwargs.pop(each) for each in self._options if each in kwargs}
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"{name}: {error}", hint=f"it takes {self.signature}") from None
        given: list[Any] = []
        tensors: list[torch.Tensor] = []

        def taken(leaf: Any) -> Any:
            if not hasattr(leaf, "__dlpack__"):
                return leaf
            given.append(leaf)
            tensor = _tensor(leaf, f"an input of {name}")
            tensors.append(tensor)
            return tensor

        args, kwargs = pytree.tree_map(taken, (args, kwargs))
        out = options.get("out")
        kinds = _Kinds([*given, *(leaf for leaf in pytree.tree_leaves(out) if leaf is not None)])

        def own(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            for tensor, each in zip(tensors, given, strict=True):
                if tensor is leaf:
                    return each
            return kinds.of(leaf.detach())

        with _on_stream(options.get("stream"), tensors), torch.no_grad():
            result = self._model(*args, **kwargs)
            return _written(result, out, own, f"output 'out' of {name}")

    def call_signature(self) -> inspect.Signature:
        """Returns all that a call takes."""
        return with_options(self.signature, self._options)

    @property
    def call(self) -> Callable[..., Any]:
        """The function that calls it."""
        return self.__call__

    def __getattr__(self, name: str) -> Never:
        raise AttributeError(
            f"{name} is of compiled models, and this one was not compiled: {vars(self)['_error']}"
        )

    def __repr__(self) -> str:
        return f"<model {self.__name__}: {self.signature}, interpreted>"


def _plain(signature: inspect.Signature) -> inspect.Signature:
    """Returns a signature without annotations, as that of a compiled model."""
    parameters = signature.parameters.values()
    return inspect.Signature([each.replace(annotation=each.empty) for each in parameters])


def _written(result: Any, out: Any, own: Callable[[Any], Any], where: str) -> Any:
    """Returns a model's result with what `out` has in place of its tensors, written there.

    `own` makes the rest what the caller is given. Raises InputError.
    """
    if out is None:
        return pytree.tree_map(own, result)
    if isinstance(result, torch.Tensor):
        room = _tensor(out, where)
        if (room.dtype, room.shape) != (result.dtype, result.shape):
            raise InputError(
                f"{where} is {_shown(room)}, and the model gives {_shown(result)} for it"
            )
        room.copy_(result)
        return out
    parts, form = pytree.tree_flatten(result, is_leaf=lambda each: each is not result)
    given, given_form = pytree.tree_flatten(out, is_leaf=lambda each: each is not out)
    if form.is_leaf():
        raise InputError(
            f"{where} is of type {type(out).__name__}, where the model gives no tensor"
        )
    if form != given_form:
        raise InputError(f"{where} is of type {type(out).__name__}, not what the model gives")
    written = [_written(*each, own, where) for each in zip(parts, given, strict=True)]
    return pytree.tree_unflatten(written, form)


def _shown(tensor: torch.Tensor) -> str:
    return "x".join([*map(str, tensor.shape), str(tensor.dtype).removeprefix("torch.")])
