"""Errors as text for a person. Needs neither MLIR nor LLVM."""

from __future__ import annotations

from pathlib import Path

from .errors import HircError, Position

_LONGEST_MESSAGE = 600
# Control characters except tabs and newlines: a terminal would interpret them.
_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"
}


def render(error: HircError, sources: dict[str, str] | None = None) -> str:
    """clang's form: `file:line:col: error: message`, the line and a caret, notes, the hint."""
    lines = [f"{_prefix(error.position)}error: {error.message}"]
    lines += _excerpt(error.position, sources or {})
    context: list[str] = []
    if error.op and f"'{error.op}'" not in error.message:
        context.append(f"op '{error.op}'")
    if error.stage:
        context.append(f"stage '{error.stage}'")
    if context:
        lines.append(f"  in {', '.join(context)}")
    for note in error.notes:
        lines.append(f"{_prefix(note.position)}note: {shortened(note.message)}")
        if note.position != error.position:
            lines += _excerpt(note.position, sources or {})
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return printable("\n".join(lines))


def printable(text: str) -> str:
    """Returns a text with control characters escaped: names in programs may contain them."""
    return text.translate(_CONTROLS)


def _prefix(position: Position | None) -> str:
    return f"{position}: " if position is not None else "hirc: "


def _excerpt(position: Position | None, sources: dict[str, str]) -> list[str]:
    if position is None:
        return []
    text = sources.get(position.file)
    if text is None:
        # A program's locations may name anything, such as a device or an invalid file name.
        file = Path(position.file)
        try:
            text = file.read_text(errors="replace") if file.is_file() else ""
        except OSError:
            return []
    lines = text.splitlines()
    if not 0 < position.line <= len(lines):
        return []
    line = lines[position.line - 1]
    if not line.isprintable() and "\t" not in line:
        return []
    indent = "".join("\t" if char == "\t" else " " for char in line[: position.column - 1])
    return [f"    {line}", f"    {indent}^"]


def shortened(message: str) -> str:
    """Returns a message, cut where it would fill a screen."""
    message = message.strip()
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ..."
