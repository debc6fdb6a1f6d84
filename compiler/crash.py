"""The error for a command whose work was ended by native code, or from outside."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .activity import Log
from .errors import HircError, InputError, InternalError, Note, Position, ToolchainError
from .unreadable_line import unreadable_line
from .watcher import Ended, signal_name

_BYTECODE = b"ML\xefR"
# What LLVM prints before it ends the process.
_LAST_WORDS = ("LLVM ERROR:", "Assertion ", "terminate called", "what():")
# Deeper brackets than this are what a parser that calls itself for each of them dies of.
_DEEP = 1000


def crash_error(ended: Ended) -> HircError:
    """Returns the error for a child that was not orderly: what it did, where, and how it ended."""
    activity, log = ended.log.activity, ended.log
    position = Position(log.files[-1], 0, 0) if log.files else None
    notes = [Note(line) for line in ended.last_words.splitlines() if _is_told(line)]
    if ended.signal == signal.SIGKILL:
        return ToolchainError(
            "hirc was killed (SIGKILL): most often the system had no memory left",
            position=position,
            stage=activity.stage,
        )
    if ended.signal == signal.SIGPROF:
        how = f"it took more than {activity.seconds} s of processor time"
    elif ended.signal is not None:
        how = signal_name(ended.signal)
    else:
        how = f"native code ended the process with status {ended.status}"
    what = activity.step or "the compiler"
    if activity.stage == "parse":
        return reading_error(_program(log), how, position, notes)
    if activity.input is not None:
        return InputError(
            f"{what} crashed on {activity.input}: {how}",
            position=activity.place or position,
            stage=activity.stage,
            hint="not all that is given here is checked by MLIR or LLVM: look for numbers, sizes "
            "and operands that make no sense, and for what this is not made for",
            notes=notes,
        )
    return InternalError(
        f"{what} crashed: {how}",
        position=position,
        stage=activity.stage,
        hint="the report has what is known; --print-ir-after=all shows the program up to there",
        notes=notes,
    )


def _is_told(line: str) -> bool:
    return any(words in line for words in _LAST_WORDS)


def reading_error(
    data: bytes | None, how: str | None, position: Position | None, notes: Sequence[Note] = ()
) -> InputError:
    """Returns the error for a program that MLIR's reader crashed on, or came to no end with.

    `how` says that; None where it failed and said nothing.
    """
    what, hint, ended = "this", None, f" ({how})" if how else ""
    reason = f"it crashes{ended}" if how else "it fails and says nothing"
    depth = _depth(data or b"")
    if data is not None and data.startswith(_BYTECODE):
        reason = f"the bytecode is damaged, or of a version that it does not know{ended}"
    elif depth > _DEEP:
        reason = f"it is nested {depth} deep{ended}"
    else:
        hint = (
            "an operation, attribute or type is not written as MLIR's documentation has it, in a "
            "way that its reader does not check for"
        )
        line = unreadable_line(data) if data is not None else None
        if line is not None and position is not None:
            what, position = "this line", replace(position, line=line, column=1)
    return InputError(
        f"MLIR's reader cannot read {what}: {reason}",
        position=position,
        stage="parse",
        hint=hint,
        notes=notes,
    )


def _program(log: Log) -> bytes | None:
    """Returns what was read; None where it cannot be read again."""
    if log.standard_input is not None or not log.files:
        return log.standard_input
    try:
        return Path(log.files[-1]).read_bytes()
    except OSError:
        return None


def _depth(data: bytes) -> int:
    """Returns how many brackets are open at once, at most."""
    depth = deepest = 0
    for byte in data:
        if byte in b"{(<[":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"})>]":
            depth -= 1
    return deepest
