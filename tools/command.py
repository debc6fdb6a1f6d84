"""What hirc, hirc-opt and hirc-run share: a process that is watched, and errors as text."""

from __future__ import annotations

import errno
import gc
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from ..compiler import activity
from ..compiler.activity import Log
from ..compiler.crash import crash_error
from ..compiler.errors import HircError, InputError, InternalError, ToolchainError, UnsupportedError
from ..compiler.output import give_up_standard_output
from ..compiler.rendering import render
from ..compiler.reproducer import write_reproducer
from ..compiler.watcher import Ended, asked_to_end, watch
from ..dialects.records import dataclass
from .streams import prepare_streams

# Errors without a file's name.
_OF_STREAMS = (errno.EBADF, errno.ENOSPC)
# What MLIR makes of what a function raises that it calls.
_RECURSED = re.compile(r"Exception raised in callback: .*\bRecursionError: ", re.DOTALL)
FAILED = 1
# An internal error: EX_SOFTWARE of sysexits.h.
BUG = 70
# What a shell says of a program that the signal ended: who read standard output has seen enough.
CLOSED = 128 + signal.SIGPIPE


@dataclass(frozen=True)
class Command:
    """A run of a tool: its name, its arguments, and the texts that its messages quote."""

    tool: str
    words: Sequence[str]
    sources: dict[str, str] = field(default_factory=dict[str, str])

    def guard(self, work: Callable[[], int]) -> int:
        """Returns what `work` returns, or the status of the error that it raises, which is
        printed.
        """
        activity.begin()
        try:
            return work()
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        except BrokenPipeError as error:
            if error.filename is not None:
                return self._failed(error)
            give_up_standard_output()
            return CLOSED
        except Exception as error:  # noqa: BLE001 - a bug, whatever it is: report it in full
            return self._failed(error)
        except BaseException as error:
            if (status := asked_to_end()) is not None:
                return status
            ended = _ended_by_model(error)
            if ended is not None:
                return self._failed(ended)
            if not isinstance(error, SystemExit):
                raise
            # argparse's, after --help.
            return error.code if isinstance(error.code, int) else int(error.code is not None)

    def _failed(self, error: Exception) -> int:
        """Prints the error that ended the work. Returns the status."""
        if (status := asked_to_end()) is not None:
            return status
        found = _as_hirc_error(error)
        self._say(render(found, self.sources))
        if not isinstance(found, InternalError):
            return FAILED
        programs = {name: text.encode(errors="replace") for name, text in self.sources.items()}
        self._say(write_reproducer(self.tool, self.words, programs, traceback.format_exc()))
        return BUG

    def watched(self, work: Callable[[], int]) -> tuple[int, Log]:
        """Runs `work` in a child. Returns the exit status, and what the child noted.

        Says what native code did to it, where that ended it.
        """
        prepare_streams()
        ended = watch(lambda: _uncollected(work))
        return self._status(ended), ended.log

    def _status(self, ended: Ended) -> int:
        if ended.log.status is not None:
            return ended.log.status
        if ended.asked is not None:
            return 128 + ended.asked
        if ended.is_orderly:
            return ended.status
        error = crash_error(ended)
        self._say(render(error, self.sources))
        if not isinstance(error, InternalError):
            return FAILED
        programs = _programs(ended.log)
        details = f"{error.message}\nstage: {error.stage}\n\n{ended.last_words}"
        self._say(write_reproducer(self.tool, self.words, programs, details))
        return BUG

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr)


def _ended_by_model(error: BaseException) -> InputError | None:
    """Returns the error for a model whose own code ends the process, as sys.exit does."""
    # Loaded where a model was read.
    errors = sys.modules.get(
        f"{__name__.removesuffix('.tools.command')}.frontends.torch.user_errors"
    )
    position = None if errors is None else errors.user_position(error)
    if position is None:
        return None
    return InputError(f"the model ends hirc: {error!r}", position=position, stage="import")


def _uncollected(work: Callable[[], int]) -> int:
    # Collecting cycles would cost a tenth of a small compilation.
    gc.disable()
    try:
        return flushed(work)
    finally:
        sys.stderr.flush()


def flushed(work: Callable[[], int]) -> int:
    """Returns what `work` returns, or the status of what it printed not being written."""
    status = work()
    try:
        sys.stdout.flush()
    except OSError as error:
        give_up_standard_output()
        if isinstance(error, BrokenPipeError):
            return status or CLOSED
        # One that has failed has said so, of this very stream perhaps.
        if status == 0:
            print(render(_environment_error(error)), file=sys.stderr)
        return status or FAILED
    return status


def _as_hirc_error(error: Exception) -> HircError:
    """Returns the error itself, or the one that says where hirc was when Python raised it."""
    now = activity.current()
    if isinstance(error, HircError):
        return error
    if isinstance(error, OSError):
        return _environment_error(error)
    if isinstance(error, MemoryError):
        return ToolchainError("out of memory", stage=now.stage)
    if isinstance(error, RecursionError) or _RECURSED.match(str(error)):
        return UnsupportedError(
            "the program is nested deeper than hirc can follow", stage=now.stage
        )
    where = f" in {now.step}" if now.step else ""
    said = str(error) or type(error).__name__
    return InternalError(f"internal error{where}: {said}", stage=now.stage)


def _environment_error(error: OSError) -> HircError:
    """Returns the error for what the system refused: a full disk, a closed stream,
    no permission.
    """
    name = error.filename if isinstance(error.filename, (str, bytes, Path)) else None
    what = f"{os.fsdecode(name)}: " if name is not None else ""
    if name is None and error.errno in _OF_STREAMS:
        what = "cannot write to standard output: "
    return InputError(f"{what}{error.strerror or error}", stage=activity.current().stage)


def _programs(log: Log) -> Mapping[str, bytes]:
    """Returns what the child compiled, read again."""
    programs: dict[str, bytes] = {}
    for name in log.files:
        try:
            programs[name] = Path(name).read_bytes()
        except OSError:
            continue
    if log.standard_input is not None:
        programs["<stdin>"] = log.standard_input
    return programs
