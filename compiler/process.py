"""The one place external programs run: argument lists, logged, timed, never a shell."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

from ..dialects.records import dataclass
from . import activity, trace
from .errors import ToolchainError

_TIMEOUT_SECONDS = 600
# What a pipe holds, at least, before it is read: Linux gives it 65,536 bytes.
_PIPE_BYTES = 1 << 15
# Has a program of LLVM read arguments from standard input.
ARGUMENTS = "@/dev/stdin"


@dataclass(frozen=True)
class Finished:
    """A program that ran: its exit status and what it printed."""

    status: int
    output: str
    errors: str


def _print_error(text: str) -> None:
    print(text, file=sys.stderr)


@dataclass(frozen=True)
class Runner:
    """Runs programs. `verbose` prints each command; `dry_run` (-###) prints and does not run."""

    verbose: bool = False
    dry_run: bool = False
    log: Callable[[str], None] = _print_error

    def run(
        self,
        command: Sequence[str | Path],
        *,
        timeout: float = _TIMEOUT_SECONDS,
        directory: Path | None = None,
        temporary: Path | None = None,
    ) -> Finished:
        """Runs a command to its end, whatever its status, in `directory` if one is given.

        Its temporary files go to `temporary`: programs that fail may leave theirs behind.
        Raises ToolchainError when it cannot be started or does not end in `timeout` seconds.
        """
        words = self._announced(command)
        if self.dry_run:
            return Finished(0, "", "")
        return start(words, directory=directory, temporary=temporary).finish(timeout)

    @contextmanager
    def waiting(self, command: Sequence[str | Path]) -> Generator[Running]:
        """Runs a command that waits for its input, while this process goes on. It is ended with
        the block. Not for a dry run.

        Raises ToolchainError as `run` does.
        """
        running = start(self._announced(command), has_input=True)
        try:
            yield running
        finally:
            running.close()

    def run_all(self, commands: Sequence[Sequence[str | Path]]) -> list[Finished]:
        """Runs commands that do not depend on one another, as many at once as there are processors.

        Raises ToolchainError as `run` does.
        """
        running: list[Running] = []
        finished: list[Finished] = []
        try:
            for command in commands:
                words = self._announced(command)
                if self.dry_run:
                    finished.append(Finished(0, "", ""))
                    continue
                if len(running) - len(finished) >= len(os.sched_getaffinity(0)):
                    finished.append(running[len(finished)].finish())
                running.append(start(words))
            finished += [each.finish() for each in running[len(finished) :]]
        finally:
            for each in running:
                each.close()
        return finished

    def _announced(self, command: Sequence[str | Path]) -> list[str]:
        words = [str(word) for word in command]
        if self.verbose or self.dry_run:
            self.log(" " + shlex.join(words))
        return words


class Running:
    """A program that runs while this one goes on."""

    def __init__(
        self, process: subprocess.Popen[str], words: Sequence[str], *, is_group: bool = False
    ) -> None:
        self._process = process
        self._words = words
        self._is_group = is_group
        self._began = perf_counter()

    def finish(self, timeout: float = _TIMEOUT_SECONDS) -> Finished:
        """Waits for its end. Raises ToolchainError, and ends it, after `timeout` seconds."""
        try:
            output, errors = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise ToolchainError(
                f"{Path(self._words[0]).name} did not finish in {timeout:.0f} seconds",
                hint="run the command printed by -### by hand",
            ) from error
        finally:
            self.close()
        # A row of its own: it may run beside this process's work, and others beside it.
        name, text = Path(self._words[0]).name, shlex.join(self._words)
        trace.add(name, "process", self._began, thread=self._process.pid, text=text)
        return Finished(self._process.wait(), output, errors)

    def feed(self, text: str) -> None:
        """Gives a program that waits for it its input, and goes on."""
        pipe, self._process.stdin = self._process.stdin, None
        assert pipe is not None
        self._began = perf_counter()

        def write() -> None:
            # One that has ended already is told of when it is waited for.
            with suppress(BrokenPipeError), pipe:
                pipe.write(text)

        # A pipe takes some at once, more as it is read.
        if len(text) <= _PIPE_BYTES:
            write()
        else:
            threading.Thread(target=write, daemon=True).start()

    def give(self, words: Sequence[str]) -> None:
        """Hands a program that waits for them its arguments, as a response file has them."""
        self._words = [self._words[0], *words]
        self.feed(" ".join(map(_quoted, words)))

    def close(self) -> None:
        """Ends it if it still runs; what it printed is lost."""
        if self._process.returncode is None:
            if self._is_group:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
            self._process.communicate()
        if self._is_group:
            activity.group_ended(self._process.pid)


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def start_early(words: Sequence[str], temporary: Path) -> Running:
    """Starts a program of LLVM before its arguments are known, which it is then to be given: for
    them stands ARGUMENTS in its command.

    Loading LLVM takes it longer than the rest of a small program's work. It `is_group`. Raises
    ToolchainError when it cannot be started.
    """
    return start(words, temporary=temporary, is_group=True, has_input=True)


def start(
    words: Sequence[str],
    *,
    directory: Path | None = None,
    temporary: Path | None = None,
    is_group: bool = False,
    has_input: bool = False,
) -> Running:
    """Starts a program. Raises ToolchainError when it cannot be started.

    One that `is_group` ends with all that it starts; also where this process ends without a word,
    if another watches it.
    """
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=directory,
            env=None if temporary is None else {**os.environ, "TMPDIR": str(temporary)},
            process_group=0 if is_group else None,
        )
    except OSError as error:
        raise ToolchainError(
            f"cannot run {words[0]}: {error.strerror}", hint="see `hirc --doctor`"
        ) from error
    if is_group:
        activity.group(process.pid)
    return Running(process, words, is_group=is_group)
