"""One compilation's MLIR context, and every diagnostic it emits."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import field

from ..dialects import hir, offload
from ..dialects.mlir import context as new_context
from ..dialects.mlir import ir
from ..dialects.records import dataclass
from ..pipelines.locations import file_position
from .errors import Note, Position


@dataclass(frozen=True)
class Diagnostic:
    """One message of MLIR or of a pass of hirc."""

    severity: str
    message: str
    position: Position | None
    notes: tuple[Note, ...] = ()


@dataclass
class Session:
    """A context with hirc's dialects, and the diagnostics collected so far."""

    context: ir.Context = field(default_factory=new_context)
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def __post_init__(self) -> None:
        hir.load(self.context)
        offload.load(self.context)
        # The handler knows the list alone: one that knew the session would keep it, and its
        # context, for ever.
        self._handler = self.context.attach_diagnostic_handler(_collector(self.diagnostics))

    def take_diagnostics(self) -> list[Diagnostic]:
        """The diagnostics since the last call."""
        taken = self.diagnostics[:]
        self.diagnostics.clear()
        return taken


class SharedSession:
    """A session for one program after another of a process: making one takes longer than reading a
    small program.

    A context keeps what programs say for ever, so after some programs there is another.
    """

    _programs = 32
    _bytes = 1 << 20

    def __init__(self) -> None:
        self._session: Session | None = None
        self._used = self._read = 0

    @contextmanager
    def lend(self, read: int) -> Generator[Session]:
        """Lends the session to one program, of which `read` bytes are read. A program that fails
        takes it along.
        """
        session, self._session = self._session, None
        if session is None or self._used == self._programs or self._read + read > self._bytes:
            session, self._used, self._read = Session(), 0, 0
        self._used += 1
        self._read += read
        yield session
        session.diagnostics.clear()
        self._session = session


def _collector(found: list[Diagnostic]) -> Callable[[ir.Diagnostic], bool]:
    """Returns a diagnostic handler that appends to `found`."""

    def collect(diagnostic: ir.Diagnostic) -> bool:
        notes = tuple(Note(_text(note), position_of(note.location)) for note in diagnostic.notes)
        found.append(
            Diagnostic(
                diagnostic.severity.name.lower(),
                _text(diagnostic),
                position_of(diagnostic.location),
                notes,
            )
        )
        return True

    return collect


def _text(diagnostic: ir.Diagnostic) -> str:
    """Returns a diagnostic's message; damaged bytecode makes some that are no UTF-8."""
    try:
        return str(diagnostic.message)
    except RuntimeError:
        return "(a message that is no text)"


def position_of(location: ir.Location) -> Position | None:
    """The source position an MLIR location stands for, or None."""
    position = file_position(location)
    return Position(*position) if position is not None else None
