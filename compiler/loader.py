"""Loading a built library and calling its programs: needs neither MLIR, LLVM nor torch."""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Hashable, Mapping, Sequence
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Self, SupportsIndex

from .errors import InputError
from .loader_abi import VERSION, ProgramInfo, describe
from .loader_arguments import OwnSignature, inputs_signature, name_called, with_options
from .loader_call import Call
from .loader_checks import file_path
from .loader_communicator import use_communicator
from .loader_files import LoadedLibrary, open_library, state_of
from .loader_python import function_of
from .loader_state import State, declare_state_functions, states_of
from .loader_values import ValueInfo
from .loader_weights import WeightInfo, use_tensors, weights_of

if TYPE_CHECKING:
    from .loader_artifact import Artifact


def load(
    path: str | os.PathLike[str],
    *,
    weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    communicator: Any = None,
) -> Artifact:
    """Loads a shared library that hirc built (`--emit=shared`). Raises InputError.

    Its programs are attributes: `load("libmlp.so").main(x)`. A file is loaded once; a file that was
    built again is another library. A library for the CPU device is unloaded when it, its programs
    and their outputs are gone. A library for GPUs stays loaded, as its kernels may still run.

    `weights` replaces the values that the library was built with: a safetensors file, or tensors by
    name, in the host's or the current device's memory, which are copied now. A library loaded with
    other weights is another library, too.

    `communicator` is that of `use_communicator`.

    A library made from a torch model is called like the model: `load("libnet.so")(images)`.
    """
    # Imported late: it is a kind of library itself.
    from .loader_artifact import Artifact

    found = Artifact(file_path(path, "path"), weights)
    if communicator is not None:
        found.use_communicator(communicator)
    return found


class Library:
    """A loaded library; each of its programs is an attribute.

    Those with another `copy` share nothing: each is loaded from a copy of the file.
    """

    def __init__(
        self,
        path: Path,
        weights: str | os.PathLike[str] | Mapping[str, Any] | None,
        *,
        loaded: LoadedLibrary | None = None,
        copy: Hashable = None,
    ) -> None:
        self.path = path
        # Another instance's, whose files may go with it.
        self._first: Library | None = None
        given = weights if isinstance(weights, Mapping) else None
        named = None
        if weights is not None and given is None:
            named = file_path(weights, "weights=", others=", or tensors by name").absolute()
        try:
            values = object() if given is not None else None if named is None else state_of(named)
            self.loaded = loaded or open_library(path, (values, copy) if copy else values)
        except OSError as error:
            raise InputError(f"cannot load {path}: {error}") from error
        if not hasattr(self.loaded, "hirc_programs"):
            raise InputError(
                f"{path} has no programs that can be called",
                hint="hirc prog.mlir --emit=shared -o libprog.so makes a library of a program",
            )
        self._states = states_of(self._infos())
        if self._states:
            declare_state_functions(self.loaded)
        self._begin_instance()
        self._weights = weights_of(self._infos())
        if named is None and loaded is None and self.loaded.is_copy:
            named = self._weights.file_beside(path)
        if self._weights.entries:
            self._use_weights(named, given)
        elif weights is not None:
            raise InputError(f"{path} has no weights, and weights= gives some")

    def _begin_instance(self) -> None:
        """Makes programs with their own state."""
        self._state = State(self.loaded, self._states) if self._states else None
        self.programs: Mapping[str, Program] = {
            info.name.decode(): Program(self.loaded, info, self._state) for info in self._infos()
        }
        # Found without __getattr__, unless hirc uses the name.
        for name, program in self.programs.items():
            if isinstance(vars(self).get(name, program), Program) and not hasattr(type(self), name):
                vars(self)[name] = program

    def _infos(self) -> list[ProgramInfo]:
        count = ctypes.c_int64()
        first = self.loaded.hirc_programs(ctypes.byref(count))
        infos = [ProgramInfo.from_address(first[place]) for place in range(count.value)]
        for info in infos:
            if info.version != VERSION:
                raise InputError(
                    f"{self.path} was built by another version of hirc",
                    hint="build it again, or load it with the version that built it",
                )
        return infos

    @property
    def weights(self) -> Mapping[str, WeightInfo]:
        """The weights of its programs, by name."""
        return self._weights.entries

    @property
    def state(self) -> Mapping[str, Any]:
        """The state that its programs keep from call to call, by name: tensors of its memory.

        They are torch tensors where torch is loaded, else of the kind of outputs.
        """
        return {} if self._state is None else self._state

    def reset(self, stream: Any = None) -> None:
        """Resets its state to the initial values, in the order of a stream. Raises InputError."""
        if self._state is not None:
            self._state.reset(stream)

    def manual_seed(self, seed: int, offset: int = 0, stream: Any = None) -> None:
        """Seeds the generator of a model's random numbers, as torch.cuda.manual_seed.

        `offset` counts the numbers of 32 bits that each thread has drawn, a multiple of 4. Writes
        both in the order of a stream, and waits for it. Raises InputError where a number has more
        than 64 bits, or the library draws no random numbers.
        """
        if not -(2**63) <= seed < 2**64 or not 0 <= offset < 2**64:
            raise InputError(f"a seed and an offset have 64 bits: {seed}, {offset}")
        if self._state is None:
            raise InputError("there are no random numbers to seed")
        self._state.seed(seed % 2**64, offset, stream)

    def new_instance(self) -> Self:
        """Returns another instance of the library, with the same weights and its own state."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._first = self
        made._begin_instance()
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        """Refuses what copy and pickle ask for: code in memory is the process's."""
        raise TypeError(
            f"{self!r} can be neither copied nor pickled: save() writes it to a file, which "
            "hirc.load() loads, and new_instance() makes one with its own state"
        )

    def load_weights(self) -> None:
        """Loads the weights into the current device's memory now, not at the first call.

        Raises InputError where the values are missing, or do not fit.
        """
        if self.weights:
            self.loaded.check(self.loaded.hirc_load_weights())

    def unload_weights(self) -> None:
        """Frees the weights on all devices; the next call loads them again."""
        if self.weights:
            self.loaded.hirc_unload_weights()

    def use_communicator(self, communicator: Any) -> None:
        """Makes its programs use the caller's communicator; to be called before the first call.

        `communicator` is a process group of torch, or a tuple: the address of an `ncclComm_t` (on
        the CPU device None), this process's rank, and the number of processes. Raises InputError
        where the programs do not communicate, or have begun to.
        """
        if not hasattr(self.loaded, "hirc_use_communicator"):
            raise InputError(f"{self.path} has no program that communicates")
        use_communicator(self.loaded, communicator)

    def _use_weights(self, path: Path | None, given: Mapping[str, Any] | None) -> None:
        loaded = self.loaded
        loaded.hirc_unload_weights.restype = None
        loaded.hirc_use_weights.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        status = 0
        if given is not None:
            status = use_tensors(loaded.hirc_use_weights, given, str(self.path))
        elif path is not None:
            status = loaded.hirc_use_weights_file(os.fsencode(path))
        loaded.check(status)

    def __getattr__(self, name: str) -> Program:
        found = self.__dict__.get("programs", {}).get(name)
        if found is None:
            names = ", ".join(sorted(self.__dict__.get("programs", {})))
            raise AttributeError(f"{self.__dict__.get('path')} has no program '{name}': {names}")
        return found

    def __getitem__(self, name: str) -> Program:
        """Returns the program of this name, which need not be an identifier. Raises KeyError."""
        return self.programs[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.programs]

    def __repr__(self) -> str:
        return f"<library {self.path}: {', '.join(sorted(self.programs))}>"


_SLOTS = ("__call__", "__dict__", "__weakref__")


class Program:
    """A program of a library. `program(*inputs, out=None, stream=None, **inputs)` runs it.

    `inputs` and `outputs` describe what it takes and gives.

    Inputs are torch tensors, NumPy arrays (on the CPU device), or anything else with `__dlpack__`;
    scalars are numbers, of Python or NumPy. `out` passes memory for outputs: one tensor, a sequence
    with None for outputs that the program is to allocate, or a dictionary by name. Outputs that the
    program allocates are of the inputs' kind: torch tensors where an input is one, else arrays of
    the inputs' library. Where no input is a tensor they are torch tensors where torch is loaded,
    else NumPy arrays on the CPU device, and on a GPU objects with `__dlpack__`.

    `stream` is a CUDA stream (an integer, or an object of torch or CuPy); None is torch's current
    stream, or the default stream. The call does not wait for a GPU. The memory of an output is
    freed in the order of this stream.

    Returns the output, or a tuple of several. Raises InputError where an input or a passed output
    is wrong; then nothing has run. Raises ExecutionError where the program fails, and frees what it
    allocated. On a GPU a later call may be the first to report that a kernel failed.
    """

    # `__call__` is in the instance: where the library makes one, a built-in function, which Python
    # calls without running any of hirc's code in Python.
    __slots__ = _SLOTS
    __signature__ = OwnSignature()
    __name__: str
    __qualname__: str

    if TYPE_CHECKING:

        def __call__(
            self,
            *inputs: Any,
            out: Sequence[Any] | Mapping[str, Any] | Any = None,
            stream: Any = None,
            **named: Any,
        ) -> Any: ...

    def __init__(
        self, loaded: LoadedLibrary, info: ProgramInfo, state: State | None = None
    ) -> None:
        self.loaded = loaded
        self.state = state
        inputs = describe(info.inputs, info.input_count)
        self._declare(info.name.decode(), inputs, describe(info.outputs, info.output_count))
        self.run = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
        )(info.run)
        names = tuple(sys.intern(value.name) for value in self.inputs)
        function = function_of(
            loaded, info, weakref.WeakMethod(self._run), names, state, self._described()
        )
        object.__setattr__(self, "__call__", function)

    def _declare(
        self, name: str, inputs: tuple[ValueInfo, ...], outputs: tuple[ValueInfo, ...]
    ) -> None:
        """Says what it is called, and takes and gives."""
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        name_called(self, name, self._described())

    def _run(self, *inputs: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        return Call(self, self._in_order(inputs, named), self._given(out), stream).run()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        """Refuses what copy and pickle ask for, as its library does."""
        raise TypeError(
            f"program {self.name} can be neither copied nor pickled: its library's save() writes a "
            "file, which hirc.load() loads"
        )

    def _in_order(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        if not named and len(inputs) == len(self.inputs):
            return list(inputs)
        if len(inputs) > len(self.inputs):
            raise InputError(
                f"{self.name} takes {_counted(len(self.inputs), 'input')}, not {len(inputs)}: "
                f"{self._signature()}"
            )
        values = list(inputs)
        for value in self.inputs[len(inputs) :]:
            if value.name not in named:
                raise InputError(
                    f"input '{value.name}' of {self.name} is missing: {self._signature()}"
                )
            values.append(named.pop(value.name))
        if named:
            name = next(iter(named))
            twice = any(value.name == name for value in self.inputs)
            raise InputError(
                f"input '{name}' of {self.name} is given twice"
                if twice
                else f"{self.name} has no input '{name}': {self._signature()}"
            )
        return values

    def _given(self, out: Any) -> list[Any]:
        names = [value.name for value in self.outputs]
        if out is None:
            return [None] * len(names)
        if isinstance(out, Mapping):
            unknown = next((name for name in out if name not in names), None)
            if unknown is not None:
                raise InputError(
                    f"{self.name} has no output '{unknown}': it has {', '.join(names)}"
                )
            return [out.get(name) for name in names]
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(given) != len(names):
            raise InputError(
                f"out= holds {_counted(len(given), 'tensor')}, and {self.name} has "
                f"{_counted(len(names), 'output')}"
            )
        return given

    @property
    def signature(self) -> Signature:
        """Its inputs, in order. `inspect.signature` has `out` and `stream`, too."""
        return inputs_signature([value.name for value in self.inputs])

    def call_signature(self) -> Signature:
        """Returns all that a call takes."""
        return with_options(self.signature)

    def _signature(self) -> str:
        inputs = ", ".join(f"{value.name}: {value.type}" for value in self.inputs)
        return f"{self.name}({inputs})"

    def _described(self) -> str:
        outputs = ", ".join(f"{value.name}: {value.type}" for value in self.outputs)
        return f"{self._signature()} -> ({outputs})"

    def __repr__(self) -> str:
        return f"<program {self._described()}>"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
