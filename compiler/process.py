"""The one place external programs run: argument lists, logged, timed, never a shell."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import ToolchainError

_TIMEOUT_SECONDS = 600


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
        words = [str(word) for word in command]
        if self.verbose or self.dry_run:
            self.log(" " + shlex.join(words))
        if self.dry_run:
            return Finished(0, "", "")
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                cwd=directory,
                env=None if temporary is None else {**os.environ, "TMPDIR": str(temporary)},
            )
        except OSError as error:
            raise ToolchainError(
                f"cannot run {words[0]}: {error.strerror}", hint="see `hirc --doctor`"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ToolchainError(
                f"{Path(words[0]).name} did not finish in {timeout:.0f} seconds",
                hint="run the command printed by -### by hand",
            ) from error
        return Finished(done.returncode, done.stdout, done.stderr)
