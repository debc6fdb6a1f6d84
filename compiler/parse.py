"""Parsing a program: the module that a source holds."""

from __future__ import annotations

import resource
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from ..dialects.mlir import ir, load_named_dialects
from . import activity
from .child import forked
from .crash import reading_error
from .diagnostics import parse_error, unreadable_array
from .errors import InputError, Note, Position
from .odd_names import decoded, refuse_odd_names, refuse_odd_text
from .session import Diagnostic, Session
from .source import STDIN_NAME, UNNAMED, Source
from .unreadable_line import BAD_ALLOCATION, out_of_memory
from .unverified import refuse_unverified
from .watcher import signal_name

# The processor time that MLIR may read for, far more than any program takes.
_READING_SECONDS = 10
_BYTES_A_SECOND = 50_000


def damaged_bytecode(name: str) -> InputError:
    """Returns the error for bytecode that MLIR's reader refuses without a word."""
    return InputError(
        "MLIR's reader cannot read this: the bytecode is damaged",
        position=Position(name, 0, 0),
        stage="parse",
    )


def reading(data: bytes) -> AbstractContextManager[None]:
    """Returns the step in which MLIR reads `data`: bytecode that is damaged may have no end."""
    seconds = _reading_seconds(data)
    return activity.limited("parse", "MLIR's reader", seconds, input="the program")


def _reading_seconds(data: bytes) -> int:
    return _READING_SECONDS + len(data) // _BYTES_A_SECOND


def can_be_read_again(name: str) -> bool:
    """Returns whether MLIR can read a file itself, for its name to be in every location.

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
        decoded(source.name, source.data)
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
    except MemoryError as error:
        if BAD_ALLOCATION not in str(error):
            raise
        raise out_of_memory(source.name, source.data) from error
    except (ir.MLIRError, RuntimeError, ValueError) as error:
        if source.text is None and not session.diagnostics:
            # Its texts may be none, and so may be those of a message.
            raise damaged_bytecode(source.name) from error
        if not isinstance(error, ir.MLIRError):
            refuse_odd_text(source.name, source.text or "", error)
            raise
        found = [in_file(each, source.name) for each in session.take_diagnostics()]
        failed = parse_error(found, source.name, source.text or "")
        if source.text is None and failed.position and failed.position.file != source.name:
            # MLIR may name a string in the bytecode, or the source that the bytecode was made from.
            here = Note("it stands in this bytecode", Position(source.name, 0, 0))
            failed.notes = (*failed.notes, here)
        raise failed from error
    # Bytecode that was made is the importer's.
    if source.text is not None or not source.is_made:
        refuse_odd_names(module.operation, source.name, source.text)
        refuse_unverified(module.operation, source.text)
    return module
