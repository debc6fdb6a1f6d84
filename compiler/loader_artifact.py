"""What `hirc.compile` and `hirc.load` give: programs to call, and files to make of them."""

from __future__ import annotations

import ctypes
import filecmp
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Protocol, Self

from .errors import InputError
from .loader import Library, Program
from .loader_arguments import ANY_CALL, OwnSignature, name_called
from .loader_calling import Calling
from .loader_checks import file_path
from .loader_files import LoadedLibrary
from .loader_straight import model_function


class Maker(Protocol):
    """Makes files of a program that was compiled. Each raises HircError."""

    def library(self, path: Path, header: Path | None, pkg_config: Path | None) -> None:
        """Makes a shared library, and what describes it."""
        ...

    def executable(self, path: Path) -> None:
        """Makes an executable."""
        ...

    def ptx(self) -> str:
        """Returns the device code as PTX."""
        ...


_SLOTS = ("__call__",)


class Artifact(Library):
    """Programs in this process: those of a library, or of `hirc.compile`.

    Each program is an attribute. Calling the artifact calls its only program, or its entry. An
    artifact made from a torch model is called like the model, and returns the same containers:
    `signature` is the model's, `dims` has the limits of its open sizes by name.

    A call takes tensors of torch or NumPy, or anything else with `__dlpack__`, and does not wait
    for the GPU. The numbers, strings and None that a model was compiled with must be the same,
    except for whole numbers that are open. `out=` passes memory for outputs, for a model in the
    containers that it returns, with None for outputs that the call is to allocate; `stream=` is the
    stream to run on. Where the model has a parameter of one of these names, the argument is the
    model's. Raises InputError where an argument is wrong; then nothing has run.
    """

    # The function that a call runs is in the instance: without a model it is the program's own.
    __slots__ = _SLOTS
    __signature__ = OwnSignature()
    __name__: str
    __qualname__: str

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __init__(
        self,
        path: Path,
        weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        *,
        loaded: LoadedLibrary | None = None,
        maker: Maker | None = None,
        types: Mapping[str, type] | None = None,
        entry: str = "main",
        copy: Hashable = None,
    ) -> None:
        super().__init__(path, weights, loaded=loaded, copy=copy)
        self._maker = maker
        self._entry = entry
        self._calling: Calling | None = None
        described = _calling_of(self)
        if described is not None:
            self._calling = Calling(described, self.program.name, types)
        self._bind()

    def new_instance(self) -> Self:
        """Returns another artifact of the same library, with the same weights and its own state."""
        made = super().new_instance()
        made._bind()
        return made

    def _bind(self) -> None:
        """Sets the function that a call runs, which refers to no artifact: no cycle keeps one."""
        program = self._program()
        if self._calling is not None:
            function = model_function(self._calling, self.program)
        elif program is not None:
            function = program.__call__
        else:
            function = partial(_no_entry, self.path, self._entry, list(self.programs))
        name = self.path.stem if program is None else program.name
        name_called(self, name, (program and function.__doc__) or repr(self))
        object.__setattr__(self, "__call__", function)

    @property
    def is_model(self) -> bool:
        """Whether it was made of a torch model."""
        return self._calling is not None

    @property
    def signature(self) -> Signature:
        """How it is called, if it is a model; else by the inputs' names."""
        if self._calling is not None:
            return self._calling.signature
        return self.program.signature

    def call_signature(self) -> Signature:
        """Returns all that a call takes: `out` and `stream` too, unless they are the model's."""
        if self._calling is not None:
            return self._calling.call_signature()
        program = self._program()
        return ANY_CALL if program is None else program.call_signature()

    @property
    def dims(self) -> Mapping[str, tuple[int | None, int | None]]:
        """The least and the greatest that each open size of a model may be, by name."""
        return self._calling.dims if self._calling is not None else {}

    @property
    def program(self) -> Program:
        """The program that is called, which takes tensors alone. Raises InputError."""
        found = self._program()
        return found if found is not None else _no_entry(self.path, self._entry, self.programs)

    def _program(self) -> Program | None:
        found = self.programs.get(self._entry)
        if found is None and len(self.programs) == 1:
            found = next(iter(self.programs.values()))
        return found

    @property
    def call(self) -> Callable[..., Any]:
        """The function that calls the artifact."""
        return self.__call__ if self.is_model else self.program

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        header: str | os.PathLike[str] | None = None,
        pkg_config: str | os.PathLike[str] | None = None,
    ) -> None:
        """Writes a shared library, for `hirc.load` or a program in C. Raises HircError.

        Weights that are not embedded are written beside it: `one.safetensors` beside `one.so`.
        Those of a library that was loaded keep the name that it asks for.
        `header` and `pkg_config` are files for its C header and for pkg-config.
        """
        target = file_path(path, "path")
        if self._maker is not None:
            files = (None if each is None else Path(each) for each in (header, pkg_config))
            self._maker.library(target, *files)
            return
        if header is not None or pkg_config is not None:
            self._needs_maker("a header")
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a directory")
        beside = self._weights.file_beside(self.path)
        try:
            if beside is not None and beside.exists():
                there = target.absolute().parent / beside.name
                # What replaces a library replaces its weights.
                if not target.exists() and there.exists() and not filecmp.cmp(beside, there, False):
                    raise InputError(
                        f"cannot write {path}: it asks for its weights by the name {there.name}, "
                        "and there are those of another library",
                        hint="save it in a folder of its own; hirc.compile names them after it",
                    )
                _copy(beside, there)
            _copy(self.path, target)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from error

    def executable(self, path: str | os.PathLike[str]) -> None:
        """Writes an executable that runs the program as a command. Raises HircError."""
        self._needs_maker("an executable").executable(file_path(path, "path"))

    @property
    def ptx(self) -> str:
        """Its device code for a GPU, as PTX. Raises HircError."""
        return self._needs_maker("PTX").ptx()

    def _needs_maker(self, what: str) -> Maker:
        if self._maker is None:
            raise InputError(
                f"{self.path} was loaded, and {what} is made of a program",
                hint="hirc.compile takes the program",
            )
        return self._maker

    def __repr__(self) -> str:
        if self._calling is None:
            return super().__repr__()
        return f"<model {self.path}: {self.signature}>"


def _no_entry(path: Path, entry: str, programs: Iterable[str], *_: Any, **__: Any) -> Never:
    raise InputError(
        f"{path} has several programs, and none is called {entry}",
        hint=f"each is an attribute: {', '.join(sorted(programs))}",
    )


def _copy(source: Path, target: Path) -> None:
    """Copies a file; what is mapped from the target's place stays as it is."""
    if target.exists() and os.path.samefile(source, target):
        return
    handle, name = tempfile.mkstemp(prefix=".hirc-", dir=target.absolute().parent)
    os.close(handle)
    try:
        shutil.copyfile(source, name)
        shutil.copymode(source, name)
        os.replace(name, target)
    except OSError:
        os.unlink(name)
        raise


def _calling_of(library: Library) -> dict[str, Any] | None:
    """Returns how a model is called, where the library is of one program, and that of a model."""
    programs = list(library.programs)
    symbol = f"hirc_program_{programs[0]}_calling" if len(programs) == 1 else ""
    if not symbol or not hasattr(library.loaded, symbol):
        return None
    text = getattr(library.loaded, symbol)
    return json.loads(ctypes.string_at(ctypes.cast(text, ctypes.c_void_p).value or 0))
