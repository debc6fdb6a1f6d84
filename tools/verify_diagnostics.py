"""`--verify-diagnostics`: compares what a run reported with what the input says it should report.

The annotations are MLIR's, in comments of the input:

  // expected-error @below {{'gpu.wait' op is wrong}}
  // expected-note-re @+2 {{declared in {{file|line}} 3}}

The place is the annotation's own line, `@+N` or `@-N` lines away, the nearest line below or above
that holds no annotation, or `@unknown` for a diagnostic without a position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..compiler.errors import InputError, Position
from ..compiler.session import Diagnostic

_ANNOTATION = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)? *"
    r"(?P<place>@(?:[+-]\d+|above|below|unknown))? *\{\{(?P<message>.*)\}\}\s*$"
)
_OPERATION_NOTE = "see current operation: "
_LOOKS_LIKE_ONE = re.compile(r"//.*\bexpected-(?:error|warning|note|remark)\b")


@dataclass(frozen=True)
class Message:
    """One message a run reported; line 0 is one without a position."""

    severity: str
    line: int
    text: str


@dataclass(frozen=True)
class Expectation:
    """One annotation: what must be reported, for which line, and where that is demanded."""

    severity: str
    line: int
    text: str
    is_regex: bool
    written_at: int

    def matches(self, message: Message) -> bool:
        if (self.severity, self.line) != (message.severity, message.line):
            return False
        if not self.is_regex:
            return self.text in message.text
        return re.search(_regex(self.text), message.text) is not None


def expectations(text: str, file: str) -> list[Expectation]:
    """Returns the annotations of an input. Raises InputError for one that is malformed."""
    lines = text.splitlines()
    found: list[Expectation] = []
    for number, line in enumerate(lines, start=1):
        if _LOOKS_LIKE_ONE.search(line) is None:
            continue
        match = _ANNOTATION.search(line)
        if match is None:
            raise InputError(
                "malformed expected-diagnostic annotation",
                position=Position(file, number, line.index("expected-") + 1),
                hint="for example: // expected-error @below {{part of the message}}",
            )
        found.append(
            Expectation(
                match["severity"],
                _target_line(match["place"], number, lines),
                match["message"],
                match["regex"] is not None,
                number,
            )
        )
    return found


def messages_of(diagnostics: Sequence[Diagnostic], file: str) -> list[Message]:
    """Diagnostics and their notes as flat messages; a position in another file counts as none.

    MLIR's notes that repeat the operation are left out: nobody writes them down.
    """
    flat: list[Message] = []
    for item in diagnostics:
        flat.append(Message(item.severity, _line_in(item.position, file), item.message))
        for note in item.notes:
            if note.message.startswith(_OPERATION_NOTE):
                continue
            flat.append(Message("note", _line_in(note.position, file), note.message))
    return flat


def problems(
    expected: Sequence[Expectation], reported: Sequence[Message], file: str
) -> list[InputError]:
    """Returns what is expected and missing, and what was reported unexpectedly; empty when all is
    well.
    """
    waiting = list(expected)
    found: list[InputError] = []
    for message in reported:
        match = next((item for item in waiting if item.matches(message)), None)
        if match is not None:
            waiting.remove(match)
        else:
            place = Position(file, message.line, 1) if message.line else None
            found.append(InputError(f"unexpected {message.severity}: {message.text}", place))
    for item in waiting:
        found.append(
            InputError(
                f"expected {item.severity} was not reported: {item.text}",
                Position(file, item.written_at, 1),
            )
        )
    return found


def _line_in(position: Position | None, file: str) -> int:
    return position.line if position is not None and position.file == file else 0


def _target_line(place: str | None, number: int, lines: Sequence[str]) -> int:
    if place is None:
        return number
    if place == "@unknown":
        return 0
    if place in ("@above", "@below"):
        step = 1 if place == "@below" else -1
        target = number + step
        while 1 <= target <= len(lines) and _LOOKS_LIKE_ONE.search(lines[target - 1]):
            target += step
        return target
    return number + int(place[1:])


def _regex(text: str) -> str:
    return "".join(_regex_parts(text))


def _regex_parts(text: str) -> Iterator[str]:
    """Literal text, with each `{{...}}` inside it a regular expression."""
    for index, part in enumerate(re.split(r"\{\{(.*?)\}\}", text)):
        yield f"(?:{part})" if index % 2 else re.escape(part)
