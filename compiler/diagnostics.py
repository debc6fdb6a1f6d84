"""Turns MLIR's messages into hirc's errors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dialects.mlir import ir
from .crash import reading_error
from .errors import HircError, InputError, InternalError, Note, Position, UnsupportedError
from .gate import GateError
from .rendering import shortened
from .session import Diagnostic, position_of
from .translate import TranslationError

_LEGALIZE = re.compile(r"failed to legalize (?:unresolved materialization|operation '([^']+)')")
_OP = re.compile(r"^'([a-z_0-9]+(?:\.[A-Za-z_0-9]+)+)' op ")
# Strings and comments, which what is looked for is outside of.
_NO_CODE = r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|'
_UNQUOTED = re.compile(_NO_CODE + r"(?<![!#@%\w.$])((?:hir|offload)\.\w+)")
_ARRAY = re.compile(r"(?<![.\w])array<\s*(?!(?:i1|i8|i16|i32|i64|f32|f64)\b)([A-Za-z]\w*)")
_UNREADABLE_ARRAY = re.compile(_NO_CODE + _ARRAY.pattern)


def stage_error(diagnostics: Sequence[Diagnostic], stage: str, pass_name: str) -> HircError:
    """Returns the error for a pass that failed, in the user's terms."""
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
        shortened(first.message),
        position=first.position,
        op=match[1] if match else None,
        stage=stage,
        notes=[note for note in notes if not note.message.startswith("see current operation")],
    )


def translation_error(
    error: TranslationError | GateError, stage: str, module: ir.Operation
) -> HircError:
    """Returns the error for LLVM-dialect code of a module that cannot become LLVM IR the consumer
    reads.
    """
    if isinstance(error, TranslationError):
        return stage_error(error.diagnostics, stage, "translation to LLVM IR")
    where = f" (in function '{error.function}')" if error.function else ""
    return UnsupportedError(
        f"{error.construct} needs LLVM {error.since}, and LLVM {error.consumer} makes the code"
        f"{where}",
        position=_position_of_symbol(module, error.function),
        stage=stage,
        hint=error.hint,
        notes=[Note(error.line.strip())],
    )


def _position_of_symbol(module: ir.Operation, name: str | None) -> Position | None:
    """Where a module's symbol of a name is written."""
    for op in module.regions[0].blocks[0]:
        symbol = op.operation.attributes.get("sym_name", None)
        if isinstance(symbol, ir.StringAttr) and symbol.value == name:
            return position_of(op.location)
    return position_of(module.location)


def parse_error(diagnostics: Sequence[Diagnostic], source: str, text: str = "") -> HircError:
    """Returns the error for input that is not valid MLIR; `text` is the text, of
    bytecode nothing.
    """
    if not diagnostics:
        custom = custom_form(text, source)
        return custom or reading_error(text.encode(), None, Position(source, 1, 1))
    error = stage_error(diagnostics, "parse", "parse")
    if "unregistered dialect" in error.message:
        # MLIR's own advice is an option of another program.
        error.message = "operation of a dialect that hirc does not know"
    if error.position is None:
        error.position = Position(source, 1, 1)
    return error


def unreadable_array(text: str, source: str) -> UnsupportedError | None:
    """Returns the error for an array attribute whose elements MLIR's bindings cannot read, or None.

    They end the process at one.
    """
    if not _ARRAY.search(text):
        return None
    for match in _UNREADABLE_ARRAY.finditer(text):
        if match[1] is not None:
            return UnsupportedError(
                f"an attribute is an array of {match[1]}; the elements of arrays are i1, i8, i16, "
                "i32, i64, f32 or f64",
                position=_position_in(text, match.start(), source),
                stage="parse",
                hint="write it as a list: [1 : i128]",
            )
    return None


def _position_in(text: str, place: int, source: str) -> Position:
    lines = text[:place].split("\n")
    return Position(source, len(lines), len(lines[-1]) + 1)


def custom_form(text: str, source: str) -> InputError | None:
    """Returns the error for the first operation of hirc's dialects that is not in generic form, or
    None.

    MLIR's parser fails at one and says nothing.
    """
    for match in _UNQUOTED.finditer(text):
        if match[1] is not None:
            return InputError(
                f"{match[1]} is written in MLIR's generic form",
                position=_position_in(text, match.start(), source),
                op=match[1],
                stage="parse",
                hint=f'write "{match[1]}"(...) {{...}} : (...) -> (...), as hirc-opt prints it',
            )
    return None
