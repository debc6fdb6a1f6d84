"""A device that processes share, of which one at a time has it."""

from __future__ import annotations

import fcntl
import signal
from pathlib import Path
from typing import IO


class Turn:
    """A process's turn on the device: a lock of a file, which ends at the latest with the process.

    The kernel ends the process (SIGALRM) when it has the device for more than `limit` seconds, or
    prepares for that long. Waiting does not count.
    """

    def __init__(self, file: Path, limit: float) -> None:
        self._file, self._limit = file, limit
        self._held: IO[bytes] | None = None
        signal.setitimer(signal.ITIMER_REAL, limit)

    def take(self) -> None:
        """Waits for the device, unless this process has it."""
        if self._held is not None:
            return
        self._held = self._file.open("wb")
        signal.setitimer(signal.ITIMER_REAL, 0)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        signal.setitimer(signal.ITIMER_REAL, self._limit)

    def leave(self) -> None:
        """Leaves the device to others, if this process has it."""
        if self._held is not None:
            # Not only closed: a process that was forked may have it too.
            fcntl.flock(self._held, fcntl.LOCK_UN)
            self._held.close()
            self._held = None
            signal.setitimer(signal.ITIMER_REAL, self._limit)
