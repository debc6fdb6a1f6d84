"""A library made of a torch model: it is called as the model was."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import InputError
from .loader import Library, Program
from .loader_calling import Calling


class Artifact(Library):
    """A library with one program that was a torch module or function.

    `signature` is the model's, `dims` are the limits of its open sizes by name. The program itself,
    which takes tensors alone, is an attribute as of any library.
    """

    def __init__(self, library: Library, types: Mapping[str, type] | None = None) -> None:
        # It is the library, which is loaded by now.
        vars(self).update(vars(library))
        self._calling = Calling(calling_of(self, self.program), self.program.name, types)
        self.signature = self._calling.signature
        self.dims = self._calling.dims

    @property
    def program(self) -> Program:
        """The program, which takes tensors alone."""
        return next(iter(self.programs.values()))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it as the model was called, and gives what that gives, in the same containers.

        Tensors are torch's, numpy's or anything with `__dlpack__`; a GPU is not waited for. Numbers
        and what else is no tensor must be as when it was compiled. Raises InputError where
        something is wrong; then nothing has run.
        """
        found = self._calling.tensors(args, kwargs)
        tensors = [found[place] for place in range(len(found))]
        results = self.program(*tensors)
        outputs = results if isinstance(results, tuple) else (results,)
        return self._calling.result(outputs, lambda place, axis: int(tensors[place].shape[axis]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the library to a file, for `hirc.load` or a program in C. Raises InputError.

        Weights that are not embedded are written beside it, by the name that the library asks for.
        """
        target = Path(path)
        beside = self._weights.file_beside(self.path)
        try:
            if beside is not None and beside.exists():
                _copy(beside, target.absolute().parent / beside.name)
            _copy(self.path, target)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from error

    def __repr__(self) -> str:
        return f"<model {self.path}: {self.signature}>"


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


def calling_of(library: Library, program: Program) -> dict[str, Any]:
    """The description of how a model is called."""
    text = getattr(library.loaded, _symbol(program))
    return json.loads(ctypes.string_at(ctypes.cast(text, ctypes.c_void_p).value or 0))


def is_artifact(library: Library) -> bool:
    """Whether a library is of one program, and that of a model."""
    programs = list(library.programs.values())
    return len(programs) == 1 and hasattr(library.loaded, _symbol(programs[0]))


def _symbol(program: Program) -> str:
    return f"hirc_program_{program.name}_calling"
