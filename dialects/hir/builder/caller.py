"""Where in the user's Python code something was called."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

from ...records import dataclass

_BUILDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Place:
    """A position in a Python file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def calling_place() -> Place:
    """The position of the innermost call that is not in the builder's own files."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - the way to a caller's line
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    code = frame.f_code
    # Positions come one an instruction, and an instruction is two bytes.
    positions = next(islice(code.co_positions(), frame.f_lasti // 2, None), None)
    line, column = (positions[0], positions[2]) if positions else (None, None)
    return Place(code.co_filename, line or frame.f_lineno, (column or 0) + 1)


def _is_ours(file: str) -> bool:
    # `with` statements come through contextlib, dataclasses through code of no file.
    return file.startswith((_BUILDER, "<string>")) or file.endswith("contextlib.py")
