"""Processes that prepare side by side, of which one at a time has the device.

Such a process writes a line, `ready`, waits for one, and then writes what it found, as one line.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

_READY = "ready"


def wait_for_turn() -> None:
    """Says that this process is ready, and waits until it has the device."""
    print(_READY, flush=True)
    sys.stdin.readline()


@dataclass(frozen=True)
class Turns:
    """Runs processes, each with a limit in seconds for its preparation, and for its turn."""

    timeout: float
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Returns how a process ended, and the line that it wrote last.

        Raises subprocess.TimeoutExpired.
        """
        with (
            tempfile.TemporaryFile(mode="w+") as errors,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            ) as process,
        ):
            try:
                self._wait_until_ready(process)
                with self._turn:
                    output, _ = process.communicate("\n", timeout=self.timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            errors.seek(0)
            lines = output.strip().splitlines() or [""]
            return subprocess.CompletedProcess(
                command, process.returncode, lines[-1], errors.read()
            )

    def _wait_until_ready(self, process: subprocess.Popen[str]) -> None:
        """Returns when the process is ready, or has ended."""
        assert process.stdout is not None
        expired = threading.Event()

        def end() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(self.timeout, end)
        timer.start()
        # It writes nothing more before its turn, so nothing of that is read here.
        for line in process.stdout:
            if line.strip() == _READY:
                break
        timer.cancel()
        if expired.is_set():
            raise subprocess.TimeoutExpired(process.args, self.timeout)
