"""Reading a program: MLIR as text or bytecode, from a file or standard input."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from ..dialects.mlir import ir, load_named_dialects
from . import activity
from .child import forked
from .crash import reading_error
from .diagnostics import parse_error, unreadable_array
from .errors import InputError, Note, Position
from .odd_names import find_odd_text, odd_name, refuse_odd_names
from .safetensors import TensorFile
from .session import Diagnostic, Session
from .watcher import signal_name

_BYTECODE = b"ML\xefR"
# The processor time that MLIR may read for, far more than any program takes.
_READING_SECONDS = 10
_BYTES_A_SECOND = 50_000
STDIN_NAME = "<stdin>"
# `file.py:name`, the name a dotted one.
_IN_PYTHON = re.compile(r"(.+\.py):([\w.]+)", re.DOTALL)
# What MLIR calls a module that came from no file.
UNNAMED = "-"


@dataclass(frozen=True)
class Source:
    """One translation unit: its name in messages, its bytes, and a digest that names it.

    Where it `is_made`, the bytes were made of what the name says, and are not in a file. `weights`
    are values that it brings along.
    """

    name: str
    data: bytes
    is_made: bool = False
    weights: TensorFile | None = None

    @property
    def unit(self) -> str:
        """Twelve hex digits that differ between translation units."""
        name = os.fsencode(Path(self.name).name)
        return hashlib.sha256(name + b"\0" + self.data).hexdigest()[:12]

    @property
    def stem(self) -> str:
        return "stdin" if self.name == STDIN_NAME else Path(self.name).stem

    @property
    def text(self) -> str | None:
        """The source's text, for excerpts; None for bytecode."""
        return None if is_bytecode(self.data) else self.data.decode(errors="replace")


def is_bytecode(data: bytes) -> bool:
    """Whether this is MLIR's bytecode, by how it begins."""
    return data.startswith(_BYTECODE)


def damaged_bytecode(name: str) -> InputError:
    """The error for bytecode that MLIR's reader refuses without a word."""
    return InputError(
        "MLIR's reader cannot read this: the bytecode is damaged",
        position=Position(name, 0, 0),
        stage="parse",
    )


def is_model(name: str) -> bool:
    """Whether an input is a torch model: `model.pt2`, or `file.py:name`."""
    return name.endswith(".pt2") or _IN_PYTHON.fullmatch(name) is not None


def file_of(name: str) -> str:
    """The file that an input is in."""
    match = _IN_PYTHON.fullmatch(name)
    return name if match is None else match[1]


def read_source(path: str, entry: str = "main") -> Source:
    """Reads a file, or standard input for `-`. Raises InputError.

    Of a torch model it makes a function called `entry`.
    """
    if is_model(path):
        # Imported late: torch takes seconds to load.
        from ..frontends.torch.read_model import read_model

        return read_model(path, entry).source(path)
    if path.endswith(".py"):
        raise InputError(
            f"{path} is a Python file: which of its models?",
            hint=f"{path}:Model compiles what it calls Model",
        )
    if path == "-":
        try:
            data = sys.stdin.buffer.read()
        except OSError as error:
            raise InputError(f"cannot read standard input: {error.strerror}") from error
        activity.read_from(STDIN_NAME, data)
        return Source(STDIN_NAME, data)
    activity.read_from(path)
    try:
        return Source(path, Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def check_readable(path: Path) -> None:
    """Raises InputError for a file another program will read, where that cannot be."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def reading(data: bytes) -> AbstractContextManager[None]:
    """The step in which MLIR reads `data`: bytecode that is damaged may have no end."""
    seconds = _reading_seconds(data)
    return activity.limited("parse", "MLIR's reader", seconds, input="the program")


def _reading_seconds(data: bytes) -> int:
    return _READING_SECONDS + len(data) // _BYTES_A_SECOND


def can_be_read_again(name: str) -> bool:
    """Whether MLIR can read a file itself, for its name to be in every location.

    A pipe is empty by then, and a name that is not UTF-8 is none to MLIR.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return name != STDIN_NAME and Path(name).is_file()


def in_file(diagnostic: Diagnostic, file: str) -> Diagnostic:
    """MLIR names what it parses from memory as standard input; it came from `file`."""

    def named(position: Position | None) -> Position | None:
        if position is not None and position.file in (UNNAMED, STDIN_NAME):
            return replace(position, file=file)
        return position

    notes = tuple(Note(note.message, named(note.position)) for note in diagnostic.notes)
    return replace(diagnostic, position=named(diagnostic.position), notes=notes)


def refuse_unreadable(source: Source, session: Session) -> None:
    """Raises InputError for a program that ends the process which reads it: a child tries that.

    It parses in its copy of the session. For a process that is the caller's: a command has one of
    its own, and another tells of its end.
    """
    status, _, _ = forked(lambda: _read_by(source, session))
    if status < 0:
        how = signal_name(-status)
        raise reading_error(source.data, how, Position(source.name, 0, 0))


def _read_by(source: Source, session: Session) -> bytes:
    seconds = _reading_seconds(source.data)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    parse(source, session)
    return b""


def parse(source: Source, session: Session) -> ir.Module:
    """The module a source holds. Raises InputError with MLIR's own message and position."""
    if source.text is not None:
        try:
            source.data.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{source.name} is neither MLIR text nor bytecode: {error}") from None
        unreadable = unreadable_array(source.text, source.name)
        if unreadable is not None:
            raise unreadable
    try:
        with reading(source.data):
            load_named_dialects(source.data, session.context)
            if not source.is_made and can_be_read_again(source.name):
                module = ir.Module.parseFile(source.name, session.context)
            else:
                data = source.data if source.text is None else source.data.decode()
                module = ir.Module.parse(data, session.context)
    except (ir.MLIRError, RuntimeError, ValueError) as error:
        if source.text is None and not session.diagnostics:
            # Its texts may be none, and so may be those of a message.
            raise damaged_bytecode(source.name) from error
        if not isinstance(error, ir.MLIRError):
            odd = find_odd_text(source.name, source.text or "")
            if odd is not None:
                raise odd_name(odd) from error
            raise
        found = [in_file(each, source.name) for each in session.take_diagnostics()]
        raise parse_error(found, source.name, source.text or "") from error
    refuse_odd_names(module, source.name, source.text)
    return module
