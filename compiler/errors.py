"""What can go wrong, by whose fault. Libraries raise these; only a tool's `main` renders them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Position:
    """A place in a source file; line and column count from 1, 0 is the file as a whole."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class Note:
    """A further message, with its own place where it has one."""

    message: str
    position: Position | None = None


@dataclass
class HircError(Exception):
    """An error with what a person needs: where, which op and stage, and the way out."""

    message: str
    position: Position | None = None
    op: str | None = None
    stage: str | None = None
    hint: str | None = None
    notes: Sequence[Note] = field(default_factory=tuple[Note, ...])

    def __str__(self) -> str:
        return self.message


class InputError(HircError):
    """The program or the command line is wrong."""


class UnsupportedError(HircError):
    """The program is right, and hirc or the chip cannot do it."""


class ToolchainError(HircError):
    """A tool or library is missing, too old, or failed."""


class ExecutionError(HircError):
    """A program failed while it ran: a CUDA call, a check of its own, or for want of memory.

    The message begins with the operation's place in the source. What the call had allocated is
    freed; the program can be called again, where the device still works.
    """


class InternalError(HircError):
    """A bug in hirc. Carries a reproducer's path in its hint."""
