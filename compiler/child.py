"""Runs native code in a child of this process: what it cannot take may end the process.

LLVM's code generators end it for a program that they refuse.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Callable
from typing import NoReturn, Self

from . import activity
from .errors import InternalError, UnsupportedError
from .watcher import signal_name

_REFUSED = "LLVM ERROR: "


def in_child(generate: Callable[[], bytes], *, what: str, stage: str, hint: str) -> bytes:
    """Returns what `generate` returns, run in a forked child. Raises as `Child.generated` does."""
    with Child(generate) as child:
        return child.generated(what=what, stage=stage, hint=hint)


def forked(work: Callable[[], bytes]) -> tuple[int, bytes, str]:
    """Returns how `work` ended in a forked child, as `Child.finish` does."""
    with Child(work) as child:
        return child.finish()


class Child:
    """Work in a forked child of this process, which goes on meanwhile.

    In the child other threads are not there, and what locks they held stays locked.
    """

    def __init__(self, work: Callable[[], bytes]) -> None:
        self._child = 0
        self._result = os.memfd_create("hirc-result")
        self._messages = os.memfd_create("hirc-messages")
        try:
            self._child = os.fork()
        except OSError:
            self.close()
            raise
        if self._child == 0:
            _run(work, self._result, self._messages)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it if it still runs; what it had done is lost."""
        child, self._child = self._child, 0
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(self._result)
        os.close(self._messages)

    def finish(self) -> tuple[int, bytes, str]:
        """Waits for its end, once. Returns its exit status, less than 0 for a signal; what `work`
        returned; and what native code said, which is nobody's else.
        """
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        said = activity.read_text(self._messages).strip()
        return os.waitstatus_to_exitcode(status), activity.read_bytes(self._result), said

    def generated(self, *, what: str, stage: str, hint: str) -> bytes:
        """Returns what `work` returned.

        Raises UnsupportedError with what LLVM said if it refused, InternalError if it crashed.
        """
        activity.enter(stage, "LLVM's code generator")
        code, result, said = self.finish()
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
