"""What this process is doing, and what it would leave behind, for whoever tells of its end.

In a command (`watcher.py`) it is also written to memory that the process watching it reads, in
case this one ends inside native code.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from ..dialects.records import dataclass
from .errors import Position


@dataclass(frozen=True)
class Activity:
    """A stage of the compiler and what it runs there: a pass, or words such as `LLVM's verifier`.

    `seconds` is the processor time it may take, 0 for any. `input` is what MLIR or LLVM runs there
    as the user wrote it (`the program`, `the schedule`), at `place`: it is at fault for a crash.
    """

    stage: str | None = None
    step: str | None = None
    seconds: int = 0
    input: str | None = None
    place: Position | None = None


@dataclass
class Log:
    """What a process wrote of itself.

    `files` were read, `standard_input` if that was; `temporaries` still exist, and groups of
    processes run whose leaders are `groups`. `words` are the
    command line of the program to become, `status` is what it meant to end with, if it got there;
    where it `ends_itself`, C code does that.
    """

    activity: Activity = Activity()
    files: list[str] = field(default_factory=list[str])
    standard_input: bytes | None = None
    temporaries: set[str] = field(default_factory=set[str])
    groups: set[int] = field(default_factory=set[int])
    words: tuple[str, ...] | None = None
    status: int | None = None
    ends_itself: bool = False


_current = Activity()
# Files in memory, where somebody watches: of records, and of what native code says last. The first
# begins with the current activity, written over the one before.
_ACTIVITY_BYTES = 4096
_records: int | None = None
_last_words: int | None = None


def keep(records: int, last_words: int) -> None:
    """Writes activities to the file `records` from now on."""
    global _records, _last_words
    _records, _last_words = records, last_words
    os.lseek(records, _ACTIVITY_BYTES, os.SEEK_SET)


def is_watched() -> bool:
    """Returns whether another process tells of this one's end."""
    return _records is not None


def current() -> Activity:
    """Returns what is being done."""
    return _current


def enter(
    stage: str,
    step: str | None = None,
    *,
    seconds: int = 0,
    input: str | None = None,
    place: Position | None = None,
) -> None:
    """Notes that a stage, or a step of it, begins."""
    global _current
    _current = Activity(stage, step, seconds, input, place)
    if _records is not None:
        at = (place.file, place.line, place.column) if place is not None else ("", 0, 0)
        text = "".join(f"{each}\0" for each in (seconds, stage, step or "", input or "", *at[::-1]))
        os.pwrite(_records, text.encode(errors="replace")[:_ACTIVITY_BYTES], 0)


@contextmanager
def limited(stage: str, step: str, seconds: int, *, input: str) -> Generator[None]:
    """Enters a step that ends the process where it takes more processor time than that.

    A process that nobody watches, which is the caller's own, is let run.
    """
    enter(stage, step, seconds=seconds, input=input)
    if not is_watched():
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def begin() -> None:
    """Forgets what was done before: a command begins."""
    global _current
    _current = Activity()


def enter_step(step: str, *, input: str | None = None) -> None:
    """Notes what the current stage does next."""
    enter(_current.stage or "", step, input=input)


def read_from(file: str, standard_input: bytes | None = None) -> None:
    """Notes a program that was read, with its bytes where it came from standard input."""
    _write("file", file)
    if standard_input is not None:
        _write("stdin", standard_input)


def become(words: Sequence[str]) -> None:
    """Notes the command line of the program that takes the command's place."""
    _write("words", "\0".join(words))


def end_itself() -> None:
    """Notes that C code may end the process from now on, with a status of its own."""
    _write("ends-itself", "")


def end_with(status: int) -> None:
    """Notes that all is done but ending the process."""
    _write("status", str(status))


def tell_of_crashes() -> None:
    """Lets Python say where it was when native code crashes, unless somebody asked that already.

    For a process that is the caller's: the frames name the stage and the pass.
    """
    if not is_watched() and not faulthandler.is_enabled():
        faulthandler.enable(2)


@contextmanager
def temporary(path: Path) -> Generator[None]:
    """Notes a file or folder that this process removes, for the time of the block."""
    _write("temporary", str(path))
    try:
        yield
    finally:
        _write("removed", str(path))


def group(leader: int) -> None:
    """Notes processes that run beside this one."""
    _write("group", str(leader))


def group_ended(leader: int) -> None:
    """Notes that these processes have ended."""
    _write("group-ended", str(leader))


def last_words() -> int:
    """Returns a file in memory, for what native code prints when it ends the
    process; the caller's.
    """
    if _last_words is None:
        return os.memfd_create("hirc-messages")
    return os.dup(_last_words)


def _write(kind: str, data: str | bytes) -> None:
    if _records is None:
        return
    raw = data.encode(errors="surrogateescape") if isinstance(data, str) else data
    record = f"{kind} {len(raw)}\n".encode() + raw
    while record:
        record = record[os.write(_records, record) :]


def read_log(records: int) -> Log:
    """Returns what the process that writes to `records` has written so far."""
    data = read_bytes(records)
    log = Log(_read_activity(data[:_ACTIVITY_BYTES].decode(errors="replace")))
    for kind, raw in _read_records(data[_ACTIVITY_BYTES:]):
        text = raw.decode(errors="surrogateescape")
        if kind == "file":
            log.files.append(text)
        elif kind == "stdin":
            log.standard_input = raw
        elif kind == "temporary":
            log.temporaries.add(text)
        elif kind == "removed":
            log.temporaries.discard(text)
        elif kind == "group":
            log.groups.add(int(text))
        elif kind == "group-ended":
            log.groups.discard(int(text))
        elif kind == "words":
            log.words = tuple(text.split("\0"))
        elif kind == "ends-itself":
            log.ends_itself = True
        elif kind == "status":
            log.status = int(text)
    return log


def _read_activity(text: str) -> Activity:
    seconds, stage, step, input, column, line, file, *_ = [*text.split("\0"), *[""] * 7]
    place = Position(file, int(line), int(column)) if file else None
    return Activity(stage or None, step or None, int(seconds or 0), input or None, place)


def _read_records(data: bytes) -> Iterator[tuple[str, bytes]]:
    place = 0
    while (end := data.find(b"\n", place)) >= 0:
        kind, size = data[place:end].decode().split()
        place = end + 1 + int(size)
        yield kind, data[end + 1 : place]


def read_text(file: int) -> str:
    """Returns all that a file in memory holds, as text."""
    return read_bytes(file).decode(errors="replace")


def read_bytes(file: int) -> bytes:
    """Returns all that a file in memory holds."""
    return os.pread(file, os.fstat(file).st_size, 0)
