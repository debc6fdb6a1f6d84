"""The standard streams of a command, whatever it was started with."""

from __future__ import annotations

import io
import os
import sys


class _Unfailing(io.FileIO):
    """A stream whose errors have nowhere to be told."""

    def write(self, data: object, /) -> int:
        try:
            return super().write(data)  # pyright: ignore[reportArgumentType]
        except OSError:
            return len(memoryview(data))  # pyright: ignore[reportArgumentType]


def prepare_streams() -> None:
    """Lets the three standard streams be there, whatever this process was given.

    A closed one stays one that cannot be used, but none of hirc's files gets its number.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The other direction than it is used in, so that its use is still an error.
            os.open(os.devnull, os.O_WRONLY if number == 0 else os.O_RDONLY)
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Unfailing(2, "w", closefd=False)),
        encoding=getattr(sys.stderr, "encoding", None),
        errors="backslashreplace",
        line_buffering=True,
    )
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - for the whole run
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for the whole run
