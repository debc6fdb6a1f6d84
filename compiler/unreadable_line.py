"""Where in a program's text MLIR's reader fails without a word, found by reading beginnings."""

from __future__ import annotations

import re
import resource
from time import process_time
from typing import TYPE_CHECKING

from .child import forked
from .errors import InputError, Position

if TYPE_CHECKING:
    from .session import Session

# Limits in processor time, for one attempt and for all: the load of the machine does not matter.
_SECONDS_EACH, _SECONDS = 5, 20
# No program goes on like this, and the reader says so, unless it failed before.
_NO_MLIR = b"\n= = ="
_SILENT = b"silent"
# An operation that every block may have and that its verifier refuses, and how verifiers begin.
_WRONG = b'"builtin.module"() : () -> ()\n'
_OF_VERIFIERS = re.compile(rb"'[\w.]+' op ")
_IS_CODE = re.compile(rb"\s*[^\s/]")
# What C++ says that asks for more memory than there can be.
BAD_ALLOCATION = "std::bad_alloc"


def unreadable_line(data: bytes) -> int | None:
    """Returns the number of the line at which MLIR's reader crashes, or fails and says nothing.

    It is the line of its error where it crashes after one, and of the operation whose verifier
    crashes. None where that is not to be found.
    """
    _, found, _ = forked(lambda: str(_search(data)).encode())
    return int(found or b"0") or None


def out_of_memory(file: str, data: bytes) -> InputError:
    """Returns the error for a program that MLIR's reader finds no memory for."""
    line = unreadable_line(data)
    place = "this" if line is None else "this line"
    return InputError(
        f"MLIR's reader cannot read {place}: it asks for more memory than there is",
        position=Position(file, line or 0, 1 if line else 0),
        stage="parse",
        hint="an attribute or type in it is not written as MLIR's documentation has it, or is "
        "larger than any memory",
    )


def _search(data: bytes) -> int:
    """Returns the length in lines of the shortest beginning that nothing is said of;
    0 without one.
    """
    # Imported here, in a process of its own: the caller may be without MLIR.
    from .session import Session

    session = Session()
    session.context.allow_unregistered_dialects = True
    lines = data.splitlines(keepends=True)
    ends = _processor_time() + _SECONDS

    def fails(count: int) -> bool:
        text = b"".join(lines[:count]) + _NO_MLIR
        status, said, _ = forked(lambda: _read(text, session))
        return status < 0 or said == _SILENT

    if not fails(len(lines)):
        _, told, _ = forked(lambda: _told_line(data, session))
        return int(told or b"0") or _unverifiable_line(lines, session, ends)
    told, untold = 0, len(lines)
    while untold - told > 1 and _processor_time() < ends:
        middle = (told + untold) // 2
        told, untold = (told, middle) if fails(middle) else (middle, untold)
    return untold if untold - told == 1 else 0


def _unverifiable_line(lines: list[bytes], session: Session, ends: float) -> int:
    """Returns the line of the operation whose verifier crashes; 0 where that is not found.

    Operations of a function are verified in the order of the text, up to the first that is wrong,
    and those of others besides. So a wrong one is put between the lines: behind what crashes it
    does not keep it from doing so, and before it does.
    """

    def crashes(count: int) -> bool | None:
        """None where an operation goes on over the line's end."""
        text = b"".join([*lines[:count], _WRONG, *lines[count:]])
        status, said, _ = forked(lambda: _first_error(text, session))
        return True if status < 0 else False if _OF_VERIFIERS.match(said) else None

    before: int | None = None
    for count in range(len(lines) + 1):
        if _processor_time() > ends:
            break
        is_behind = crashes(count)
        if is_behind and before is not None:
            between = lines[before:count]
            text = b"".join(between)
            if text.count(b"{") == text.count(b"}"):
                code = (place for place, line in enumerate(between) if _IS_CODE.match(line))
                return before + next(code, 0) + 1
        if is_behind is not None:
            before = None if is_behind else count
    return 0


def _first_error(text: bytes, session: Session) -> bytes:
    """Returns what the reader or a verifier says first."""
    _read(text, session)
    errors = [each.message for each in session.diagnostics if each.severity == "error"]
    return errors[0].encode() if errors else b""


def _processor_time() -> float:
    """Returns the seconds of processor time that this process and its children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + used.ru_utime + used.ru_stime


def _told_line(data: bytes, session: Session) -> bytes:
    """Returns the line of the first error that the reader tells of."""
    _read(data, session)
    places = [each.position for each in session.diagnostics if each.severity == "error"]
    return str(next((each.line for each in places if each is not None), 0)).encode()


def _read(text: bytes, session: Session) -> bytes:
    from ..dialects.mlir import ir, load_named_dialects

    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS_EACH, _SECONDS_EACH))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    load_named_dialects(text, session.context)
    try:
        ir.Module.parse(text, session.context)
    except ir.MLIRError:
        return b"" if session.diagnostics else _SILENT
    except MemoryError:
        return _SILENT
    return b""
