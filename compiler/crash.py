"""The error for a command whose work was ended by native code, or from outside."""

from __future__ import annotations

import signal

from .activity import Log
from .errors import HircError, InputError, InternalError, Note, Position, ToolchainError
from .watcher import Ended, signal_name

_BYTECODE = b"ML\xefR"
# What LLVM prints before it ends the process.
_LAST_WORDS = ("LLVM ERROR:", "Assertion ", "terminate called", "what():")
# Deeper brackets than this are what a parser that calls itself for each of them dies of.
_DEEP = 1000


def crash_error(ended: Ended) -> HircError:
    """The error for a child that was not orderly: what it did, where, and how it ended."""
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
        reason = _unreadable(log)
        if reason is not None:
            return InputError(
                f"MLIR's reader cannot read this: {reason} ({how})",
                position=position,
                stage="parse",
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


def _unreadable(log: Log) -> str | None:
    """What is wrong with a program that MLIR's reader crashed on; None for our bug."""
    data = log.standard_input
    if data is None and log.files:
        try:
            with open(log.files[-1], "rb") as file:
                data = file.read()
        except OSError:
            return None
    if data is None:
        return None
    if data.startswith(_BYTECODE):
        return "the bytecode is damaged, or of a version that it does not know"
    depth = _depth(data)
    return f"it is nested {depth} deep" if depth > _DEEP else None


def _depth(data: bytes) -> int:
    """How many brackets are open at once, at most."""
    depth = deepest = 0
    for byte in data:
        if byte in b"{(<[":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"})>]":
            depth -= 1
    return deepest
