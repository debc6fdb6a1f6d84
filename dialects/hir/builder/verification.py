"""Verifying what was built, with MLIR's messages as errors at the user's line."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ...mlir import ir
from .caller import Place
from .errors import BuildError


def verify(op: ir.Operation, place: Place | None = None) -> None:
    """Raises BuildError with the first message where `op`, or an operation in it, is not valid.

    `place` is where the error is, by default the place of the operation that is not valid.
    """
    with _messages(op.context) as messages:
        try:
            valid = op.verify()
        except ir.MLIRError:
            valid = False
    if valid:
        return
    (message, location), *others = messages or [("the operation is not valid", op.location)]
    raise BuildError(
        message,
        place=place or _place(location),
        notes=[f"{_place(where) or 'note'}: {text}" for text, where in others],
    )


def parse(text: str, context: ir.Context) -> ir.Module:
    """Returns the module of that text. BuildError: it is not valid."""
    with _messages(context) as messages:
        try:
            return ir.Module.parse(text, context)
        except ir.MLIRError:
            pass
    notes = [f"line {_line(where)} of the text: {message}" for message, where in messages]
    raise BuildError("the text is no MLIR", notes=notes)


@contextmanager
def _messages(context: ir.Context) -> Generator[list[tuple[str, ir.Location]], None, None]:
    """The diagnostics that come up within the `with`, notes too."""
    messages: list[tuple[str, ir.Location]] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        messages.append((str(diagnostic.message), diagnostic.location))
        messages.extend((str(note.message), note.location) for note in diagnostic.notes)
        return True

    handler = context.attach_diagnostic_handler(collect)
    try:
        yield messages
    finally:
        handler.detach()  # pyright: ignore[reportAttributeAccessIssue] - declared as an object


def _line(location: ir.Location) -> int:
    return location.start_line if isinstance(location, ir.FileLineColLoc) else 0


def _place(location: ir.Location) -> Place | None:
    if isinstance(location, ir.NameLoc):
        return _place(location.child_loc)
    if isinstance(location, ir.FileLineColLoc):
        return Place(location.filename, location.start_line, location.start_col)
    return None
