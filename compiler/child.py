"""Runs native code in a child of this process: what it cannot take may end the process.

LLVM's code generators end it for a program that they refuse.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Callable
from typing import NoReturn

from . import activity
from .errors import InternalError, UnsupportedError
from .watcher import signal_name

_REFUSED = "LLVM ERROR: "


def in_child(generate: Callable[[], bytes], *, what: str, stage: str, hint: str) -> bytes:
    """Returns what `generate` returns, run in a forked child.

    Raises UnsupportedError with what LLVM said if it refused, InternalError if it crashed.
    """
    activity.enter(stage, "LLVM's code generator")
    code, result, said = forked(generate)
    if code == 0:
        return result
    lines = [line for line in said.splitlines() if "rror" in line] or said.splitlines()
    if code < 0 and _REFUSED not in said:
        how = ", ".join([signal_name(-code), *lines[:1]])
        raise InternalError(
            f"LLVM crashed while it generated {what}: {how}",
            stage=stage,
            hint=hint,
        )
    why = lines[0].removeprefix(_REFUSED) if lines else "no message"
    raise UnsupportedError(f"LLVM cannot generate {what}: {why}", stage=stage, hint=hint)


def forked(work: Callable[[], bytes]) -> tuple[int, bytes, str]:
    """Runs `work` in a child. Returns its exit status, less than 0 for a signal; what it returned;
    and what native code said, which is nobody's else.
    """
    result, messages = os.memfd_create("hirc-result"), os.memfd_create("hirc-messages")
    child = 0
    try:
        child = os.fork()
        if child == 0:
            _run(work, result, messages)
        _, status = os.waitpid(child, 0)
        child = 0
        said = activity.read_text(messages).strip()
        return os.waitstatus_to_exitcode(status), activity.read_bytes(result), said
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(result)
        os.close(messages)


def _run(work: Callable[[], bytes], result: int, messages: int) -> NoReturn:
    status = 1
    # LLVM may abort here, and told of by the parent.
    faulthandler.disable()
    try:
        # Inside native code Python's handlers would not get to run.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(messages, 2)
        data = work()
        while data:
            data = data[os.write(result, data) :]
        status = 0
    finally:
        os._exit(status)
