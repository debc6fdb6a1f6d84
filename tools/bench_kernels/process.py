"""A child process that answers in lines of JSON, and may break."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SAID_LENGTH = 300
_ENDING_SECONDS = 10


class ChildError(Exception):
    """The child ended or did not answer in time."""


class LateError(ChildError):
    """It did not answer in time."""


class Child:
    """A running child. Its standard error goes to the file `log`."""

    def __init__(self, words: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                text=True,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Sends a request and returns its one answer."""
        self.send(request)
        return self.receive(seconds)

    def send(self, request: dict[str, Any]) -> None:
        """Sends a request. Raises ChildError where the child has ended."""
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(request) + "\n")
            pipe.flush()
        except BrokenPipeError as error:
            raise ChildError(self._end()) from error

    def receive(self, seconds: float) -> dict[str, Any]:
        """Returns the next event. Raises ChildError where there is none in this time."""
        event = self.poll(seconds)
        if event is None:
            raise LateError(f"no answer in {seconds:g} s")
        return event

    def poll(self, seconds: float) -> dict[str, Any] | None:
        """Returns the next event, or None in this time. Raises ChildError where the child has
        ended.
        """
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            raise ChildError(self._end())
        return json.loads(line)

    def close(self) -> None:
        """Ends the child."""
        self._process.kill()
        try:
            self._process.wait(timeout=_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            # A driver may hold it until its kernel ends.
            return
        self._reader.join(timeout=_ENDING_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                # Of a request that the child no longer read.
                continue

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        for line in pipe:
            self._lines.put(line)
        self._lines.put(None)

    def _end(self) -> str:
        """Returns how it ended, with the last thing it said."""
        status = self._process.wait(timeout=_ENDING_SECONDS)
        how = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return f"{how}: {lines[-1][-_SAID_LENGTH:]}" if lines else how
