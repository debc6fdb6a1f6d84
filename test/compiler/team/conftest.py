"""Programs that several processes run, each with a rank."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.command_server import EXITS

_SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it wrote."""

    status: int
    output: str
    errors: str


RunTeam = Callable[..., list[Ended]]


@pytest.fixture
def run_team() -> RunTeam:
    """Runs a command line for each rank at once; `variables` are more of each one's environment,
    `folder` is their working directory.
    """

    def run(
        commands: Sequence[Sequence[str | Path]],
        variables: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> list[Ended]:
        meeting = f"unix:hirc-test-{uuid.uuid4().hex}"
        processes: list[subprocess.Popen[str]] = []
        for rank, command in enumerate(commands):
            environment = {
                **os.environ,
                "HIRC_RANK": str(rank),
                "HIRC_WORLD_SIZE": str(len(commands)),
                "HIRC_RENDEZVOUS": meeting,
                EXITS: "1",
                **(variables or {}),
            }
            processes.append(
                subprocess.Popen(
                    [str(word) for word in command],
                    env=environment,
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        ended: list[Ended] = []
        for process in processes:
            output, errors = process.communicate(timeout=_SECONDS)
            ended.append(Ended(process.returncode, output, errors))
        return ended

    return run
