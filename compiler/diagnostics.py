"""Turns MLIR's messages into ours, and ours into text for a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .errors import HircError, InputError, InternalError, Note, Position, UnsupportedError
from .gate import GateError
from .session import Diagnostic
from .translate import TranslationError

_LEGALIZE = re.compile(r"failed to legalize (?:unresolved materialization|operation '([^']+)')")
_OP = re.compile(r"^'([a-z_0-9]+(?:\.[A-Za-z_0-9]+)+)' op ")
# Strings and comments, and the words outside of them that are names of our operations.
_UNQUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|(?<![!#@%\w.$])((?:hir|offload)\.\w+)')
_LONGEST_MESSAGE = 600


def stage_error(diagnostics: Sequence[Diagnostic], stage: str, pass_name: str) -> HircError:
    """The error for a pass that failed, in the user's terms."""
    errors = [item for item in diagnostics if item.severity == "error"]
    if not errors:
        return InternalError(
            f"pass '{pass_name}' failed and said nothing", stage=stage, hint="report this"
        )
    first = errors[0]
    notes = [*first.notes, *(Note(item.message, item.position) for item in errors[1:])]
    match = _LEGALIZE.search(first.message)
    if match is not None:
        op = match[1]
        what = f"'{op}'" if op else "a value of this type"
        reasons = [note for note in notes if not note.message.startswith("see ")]
        return UnsupportedError(
            f"{what} cannot be lowered here",
            position=first.position,
            op=op,
            stage=stage,
            hint=f"pass '{pass_name}' has no rule for it with these types; "
            "--print-ir-after=changed shows the program up to there",
            notes=reasons,
        )
    match = _OP.match(first.message)
    return InputError(
        _shortened(first.message),
        position=first.position,
        op=match[1] if match else None,
        stage=stage,
        notes=[note for note in notes if not note.message.startswith("see current operation")],
    )


def translation_error(error: TranslationError | GateError, stage: str) -> HircError:
    """The error for LLVM-dialect code that cannot become LLVM IR the consumer reads."""
    if isinstance(error, TranslationError):
        return stage_error(error.diagnostics, stage, "translation to LLVM IR")
    where = f" (in function '{error.function}')" if error.function else ""
    return UnsupportedError(
        f"{error.construct} needs LLVM {error.since}, and LLVM {error.consumer} makes the code"
        f"{where}",
        stage=stage,
        hint=error.hint,
        notes=[Note(error.line.strip())],
    )


def parse_error(diagnostics: Sequence[Diagnostic], source: str, text: str = "") -> HircError:
    """The error for input that is not valid MLIR; `text` is the text, of bytecode nothing."""
    custom = None if diagnostics else custom_form(text, source)
    if custom is not None:
        return custom
    error = stage_error(diagnostics, "parse", "parse")
    if "unregistered dialect" in error.message:
        # MLIR's own advice is an option of another program.
        error.message = "operation of a dialect that hirc does not know"
    if error.position is None:
        error.position = Position(source, 1, 1)
    return error


def custom_form(text: str, source: str) -> InputError | None:
    """The error for the first operation of our dialects that is not in generic form, or None.

    MLIR's parser fails at one and says nothing.
    """
    for match in _UNQUOTED.finditer(text):
        if match[1] is not None:
            lines = text[: match.start()].split("\n")
            return InputError(
                f"{match[1]} is written in MLIR's generic form",
                position=Position(source, len(lines), len(lines[-1]) + 1),
                op=match[1],
                stage="parse",
                hint=f'write "{match[1]}"(...) {{...}} : (...) -> (...), as hirc-opt prints it',
            )
    return None


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
        lines.append(f"{_prefix(note.position)}note: {_shortened(note.message)}")
        if note.position != error.position:
            lines += _excerpt(note.position, sources or {})
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines)


def _prefix(position: Position | None) -> str:
    return f"{position}: " if position is not None else "hirc: "


def _excerpt(position: Position | None, sources: dict[str, str]) -> list[str]:
    if position is None:
        return []
    text = sources.get(position.file)
    if text is None:
        try:
            text = Path(position.file).read_text(errors="replace")
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


def _shortened(message: str) -> str:
    message = message.strip()
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ..."
