"""Processes that wait for one another on the CPU device: they say who waits for whom, at once."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from hirc import program as build
from hirc.tools.hirc import main as hirc

from .conftest import RunTeam

# Far from the time limit of 600 seconds.
_SECONDS = 30


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two devices that are a team in two orders. Each first receives, though nobody sends."""
    with build("main") as p:
        x = p.input("x", ("n",), "f32")
        receives, crosses, times = (
            p.scalar(name, "index") for name in ("receives", "crosses", "times")
        )
        one, other = p.communicator([0, 1]), p.communicator([1, 0])
        rank = p.rank(one)
        y = p.allocate((x.shape[0],), "f32", zero_init=True)

        def add(*teams: object) -> None:
            for team in teams:
                p.communicate("allreduce", x, y, team, reduction="sum").wait()  # type: ignore[arg-type]

        with p.loop(0, receives):
            p.communicate("send-recv", x, y, one, peers=(-1, rank * -1 + 1)).wait()
        with p.branch(rank * crosses == 1) as branch:
            with branch.then:
                add(other, one)
            with branch.otherwise:
                add(one, other)
        with p.loop(0, times):
            add(one)
        p.output("y", y)
    folder = tmp_path_factory.mktemp("deadlocks")
    (folder / "prog.mlir").write_text(str(p))
    assert hirc([str(folder / "prog.mlir"), "--offload-arch=cpu", "-o", str(folder / "prog")]) == 0
    return folder / "prog"


def _error(run_team: RunTeam, program: Path, *inputs: tuple[int, int, int]) -> str:
    """What the processes say: all that they cannot go on, and one at least why."""
    words = [[program, "--input=4xf32=1", *(f"--input={n}" for n in each)] for each in inputs]
    begun = time.monotonic()
    ended = run_team(words)
    assert time.monotonic() - begun < _SECONDS
    for each in ended:
        assert each.status == 1, ended
        assert "the processes cannot go on together" in each.errors
    return "".join(each.errors for each in ended)


def test_two_that_receive_from_each_other(run_team: RunTeam, program: Path) -> None:
    text = _error(run_team, program, (1, 0, 0), (1, 0, 0))
    assert "the processes wait for one another: " in text
    assert re.search("rank 0 waits in a message at .*prog.mlir:[0-9:]* for rank 1", text)
    assert re.search("rank 1 waits in a message at .*prog.mlir:[0-9:]* for rank 0", text)


def test_teams_in_another_order(run_team: RunTeam, program: Path) -> None:
    """Each waits in another team, which only the two together show."""
    text = _error(run_team, program, (0, 1, 0), (0, 1, 0))
    assert "the processes wait for one another: " in text
    assert re.search("rank 0 waits in allreduce at .*prog.mlir:[0-9:]* for rank 1", text)
    assert re.search("rank 1 waits in allreduce at .*prog.mlir:[0-9:]* for rank 0", text)


def test_one_that_has_ended(run_team: RunTeam, program: Path) -> None:
    text = _error(run_team, program, (0, 0, 3), (0, 0, 2))
    assert "rank 0 still waits in allreduce at " in text
    assert "for place 1 of its team, which has come to its program's end" in text


def test_the_same_order_on_both(run_team: RunTeam, program: Path) -> None:
    words = [program, "--input=4xf32=1", "--input=0", "--input=0", "--input=50"]
    assert [each.status for each in run_team([words, words])] == [0, 0]
