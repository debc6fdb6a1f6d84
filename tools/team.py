"""Runs a program as a team: one process for each device."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Sequence
from types import FrameType
from typing import IO

# How long the others may go on once one has failed: they hear of it, and end by themselves.
_GRACE_SECONDS = 20.0


def run_team(files: Sequence[int], words: Sequence[str], devices: int) -> int:
    """Runs an executable, the first of open files, in `devices` processes, which have all of these
    open. Returns the first failure's status.

    Each finds its rank in the environment (docs/communication.md). What it writes appears line by
    line, with its rank before it. Signals are passed on.
    """
    meeting = f"unix:hirc-{uuid.uuid4().hex}"
    processes = [_start(files, words, rank, devices, meeting) for rank in range(devices)]

    def pass_on(number: int, _: FrameType | None) -> None:
        for process in processes:
            process.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    writing = threading.Lock()
    readers = [
        threading.Thread(target=_copy, args=(rank, source, target, writing))
        for rank, process in enumerate(processes)
        for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
    ]
    for reader in readers:
        reader.start()
    status = _wait(processes)
    for reader in readers:
        reader.join()
    return status


def _start(
    files: Sequence[int], words: Sequence[str], rank: int, devices: int, meeting: str
) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "HIRC_RANK": str(rank),
        "HIRC_LOCAL_RANK": str(rank),
        "HIRC_WORLD_SIZE": str(devices),
        "HIRC_LOCAL_WORLD_SIZE": str(devices),
        "HIRC_RENDEZVOUS": meeting,
    }
    return subprocess.Popen(
        list(words),
        executable=f"/proc/self/fd/{files[0]}",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        pass_fds=tuple(files),
    )


def _copy(rank: int, source: IO[str] | None, target: IO[str], writing: threading.Lock) -> None:
    assert source is not None
    for line in source:
        with writing:
            target.write(f"[{rank}] {line}")
            target.flush()


def _wait(processes: Sequence[subprocess.Popen[str]]) -> int:
    """Waits for all; ends those that do not hear that one has failed."""
    failed = threading.Event()
    statuses: list[int] = []

    def wait(process: subprocess.Popen[str]) -> None:
        status = process.wait()
        if status:
            statuses.append(status if status > 0 else 128 - status)
            failed.set()

    waiters = [threading.Thread(target=wait, args=(process,)) for process in processes]
    for waiter in waiters:
        waiter.start()
    while any(waiter.is_alive() for waiter in waiters):
        if failed.wait(0.05):
            for waiter in waiters:
                waiter.join(_GRACE_SECONDS)
            for process in processes:
                if process.poll() is None:
                    process.kill()
        for waiter in waiters:
            waiter.join(0.05)
    return statuses[0] if statuses else 0
