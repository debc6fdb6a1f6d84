"""Runs LLVM's code generators in a child of this process: what they refuse ends the process."""

from __future__ import annotations

import faulthandler
import os
import tempfile
from collections.abc import Callable

from .errors import UnsupportedError


def in_child(generate: Callable[[], bytes], *, what: str, stage: str, hint: str) -> bytes:
    """What `generate` returns, run in a forked child.

    Raises UnsupportedError with what the child printed if it does not end well.
    """
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as messages:
        child = os.fork()
        if child == 0:
            _run(generate, result.fileno(), messages.fileno())
        _, status = os.waitpid(child, 0)
        result.seek(0)
        messages.seek(0)
        data, said = result.read(), messages.read().decode(errors="replace").strip()
    if os.waitstatus_to_exitcode(status) != 0:
        lines = [line for line in said.splitlines() if "rror" in line] or said.splitlines()
        why = lines[0].removeprefix("LLVM ERROR: ") if lines else "no message"
        raise UnsupportedError(f"LLVM cannot generate {what}: {why}", stage=stage, hint=hint)
    return data


def _run(generate: Callable[[], bytes], result: int, messages: int) -> None:
    status = 1
    # An abort of LLVM's is expected here, and told of by the parent.
    faulthandler.disable()
    try:
        os.dup2(messages, 2)
        data = generate()
        while data:
            data = data[os.write(result, data) :]
        status = 0
    finally:
        os._exit(status)
