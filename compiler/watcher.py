"""A command's work in a child process, so that whatever ends it is told of by the parent.

Native code (MLIR, LLVM) can end a process by a signal or by itself, and keeps Python's signal
handlers from running. The parent is forked off before any of it is loaded: it costs a millisecond,
and knows nothing but what `activity` writes.
"""

from __future__ import annotations

import faulthandler
import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from ..dialects.records import dataclass
from . import activity

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What a child that unwinds has, before it is killed: inside native code it cannot.
_PATIENCE_SECONDS = 0.5
# When what ends a child is raised again, where it could not be raised.
_AGAIN_SECONDS = 0.001
_end: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a child ended: the signal that ended it, or its exit status.

    `asked` is the signal that the parent was asked to end with; `last_words` are what native code
    printed and where Python was.
    """

    status: int
    signal: int | None
    asked: int | None
    log: activity.Log
    last_words: str

    @property
    def is_orderly(self) -> bool:
        """Whether it ended as its work meant it to, or because it was asked to."""
        meant = self.log.status is not None or (self.log.ends_itself and self.signal is None)
        return meant or self.asked is not None


def watch(work: Callable[[], int]) -> Ended:
    """Runs `work`, which returns an exit status, in a child, and waits for its end.

    SIGINT, SIGTERM and SIGHUP end the child within a second. What it left behind is removed.
    """
    # A parent that ignores its children's ends would never see this one's.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ending = {each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN}
    awaited = {*ending, signal.SIGCHLD}
    records, last_words = os.memfd_create("hirc-activity"), os.memfd_create("hirc-last-words")
    alive, held = os.pipe()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    child = os.fork()
    if child == 0:
        os.close(held)
        _end_with(alive)
        activity.keep(records, last_words)
        # Where it was enabled before, another's handler may have taken the place of its own since.
        faulthandler.disable()
        faulthandler.enable(last_words)
        for each in ending:
            signal.signal(each, _unwind)
        sys.unraisablehook = _unwind_later
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        _run(work)
    try:
        status, asked = _wait(child, awaited)
        log = activity.read_log(records)
        said = activity.read_text(last_words)
    finally:
        for each in (records, last_words, alive, held):
            os.close(each)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    _remove(log)
    code = os.waitstatus_to_exitcode(status)
    return Ended(max(code, 0), -code if code < 0 else None, asked, log, said)


def _end_with(alive: int) -> None:
    """Lets the kernel kill this process when the other end of the pipe `alive` closes."""
    fcntl.fcntl(alive, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alive, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(alive, fcntl.F_SETFL, fcntl.fcntl(alive, fcntl.F_GETFL) | os.O_ASYNC)


def _unwind(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the process the way Python does, so that no temporary file stays."""
    # One request is enough: a second must not disturb what the first one set off.
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    global _end
    _end = 128 + number
    if _begins_library(frame):
        # C++ that calls Python there ends the process with a message for any exception. Nothing is
        # lost: what watches removes temporary files.
        os._exit(_end)
    raise SystemExit(_end)


def _begins_library(frame: FrameType | None) -> bool:
    """Returns whether a library that is a module of Python is being initialised."""
    while frame is not None:
        if frame.f_code.co_qualname.startswith("ExtensionFileLoader."):
            return True
        frame = frame.f_back
    return False


def _unwind_later(ignored: UnraisableHookArgs) -> None:
    """Ends the process soon where that was asked for while Python finalised an object or called a
    callback, as imports do: it goes on after an exception that is raised there.
    """
    if _end is None or not isinstance(ignored.exc_value, SystemExit):
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGALRM, _unwind_again)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)


def _unwind_again(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(_end)


def asked_to_end() -> int | None:
    """Returns the exit status for the signal that ended this process; None where none came.

    Where SystemExit is raised within a callback of MLIR, as in a walk of operations, MLIR raises
    another exception in its place.
    """
    return _end


def _run(work: Callable[[], int]) -> NoReturn:
    status = 1
    try:
        status = work()
        activity.end_with(status)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        activity.end_with(status)
    finally:
        # Taking the interpreter, MLIR's context and LLVM apart would cost a tenth of a small
        # compilation, and give back nothing the exit does not.
        os._exit(status)


def _wait(child: int, awaited: set[signal.Signals]) -> tuple[int, int | None]:
    """Waits for the child; its wait status, and the first signal that asked it to end."""
    asked: int | None = None
    deadline = 0.0
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status, asked
        if asked is None:
            got = signal.sigwaitinfo(awaited)
        else:
            got = signal.sigtimedwait(awaited, max(0.0, deadline - monotonic()))
        if got is None:
            _kill(child)
            _, status = os.waitpid(child, 0)
            return status, asked
        if got.si_signo != signal.SIGCHLD and asked is None:
            asked, deadline = got.si_signo, monotonic() + _PATIENCE_SECONDS
            os.kill(child, asked)


def _kill(child: int) -> None:
    """Kills a process and those that it started."""
    try:
        theirs = Path(f"/proc/{child}/task/{child}/children").read_text().split()
    except OSError:
        theirs = []
    for each in [child, *map(int, theirs)]:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _remove(log: activity.Log) -> None:
    """Removes what a child left that could not do so itself, after ending what writes there."""
    for leader in log.groups:
        try:
            os.killpg(leader, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for name in log.temporaries:
        path = Path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.exists() or path.is_symlink():
            path.unlink(missing_ok=True)


def signal_name(number: int) -> str:
    """`SIGSEGV (Segmentation fault)` of its number."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({signal.strsignal(number)})"
