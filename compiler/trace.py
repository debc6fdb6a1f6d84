"""What a compilation does and when, as a trace that Chrome and Perfetto show: HIRC_TRACE=FILE.

The file is in the array form of the Trace Event Format, one event a line, to which any process may
append at any time: its readers want no end of the array. Times are of CLOCK_MONOTONIC, which all
processes have in common.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter

from .errors import InputError

# Shorter ones are not worth a line; most are of passes that found nothing to do.
_LEAST_SECONDS = 20e-6
_named: set[int] = set()


@contextmanager
def span(name: str, kind: str) -> Generator[None]:
    """Records what is done within, by its name and kind (of stages, passes, processes)."""
    began = perf_counter()
    try:
        yield
    finally:
        add(name, kind, began)


def add(name: str, kind: str, began: float, *, thread: int | None = None, text: str = "") -> None:
    """Records what began at a `perf_counter()` and ends now, if anybody wants to know.

    It is shown in the row of this thread, or of the `thread` of that number.
    """
    file = _file()
    seconds = perf_counter() - began
    if file is None or seconds < _LEAST_SECONDS:
        return
    process = os.getpid()
    events: list[dict[str, object]] = []
    if process not in _named:
        _named.add(process)
        program = {"name": Path(sys.argv[0] or "python").name}
        events.append({"name": "process_name", "ph": "M", "pid": process, "args": program})
    where = {"pid": process, "tid": threading.get_native_id() if thread is None else thread}
    times = {"ts": round(began * 1e6, 3), "dur": round(seconds * 1e6, 3)}
    event: dict[str, object] = {"name": name, "cat": kind, "ph": "X", **where, **times}
    events.append({**event, "args": {"command": text}} if text else event)
    # One call each, so that lines of several processes do not mix.
    _write(file, "".join(f"{json.dumps(each)},\n" for each in events))


def check() -> None:
    """Raises InputError where a trace is wanted and its file cannot be written."""
    _file()


@cache
def _file() -> int | None:
    # Imported late: what finds tools runs processes, which are traced.
    from .toolchain import trace_file

    path = trace_file()
    if path is None:
        return None
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
    try:
        try:
            file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return os.open(path, flags)
    except OSError as error:
        raise _refused(error) from error
    _write(file, "[\n")
    return file


def _write(file: int, text: str) -> None:
    try:
        os.write(file, text.encode())
    except OSError as error:
        raise _refused(error) from error


def _refused(error: OSError) -> InputError:
    from .toolchain import trace_file

    return InputError(f"cannot write HIRC_TRACE's file {trace_file()}: {error.strerror}")
