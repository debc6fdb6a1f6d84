"""What a team's processes say where one of them fails: every one an error, in bounded time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from hirc.tools.hirc import main as hirc

from .conftest import RunTeam

# Adds up what two devices have, again and again.
PROGRAM = """\
"hir.program"() ({
^bb0(%x: memref<?xf32>, %times: index):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  "hir.for"(%zero, %times, %one) ({
  ^bb0(%i: index):
    %request = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "max"}
      : (memref<?xf32>, memref<?xf32>, !hir.communicator_t) -> !hir.request_t
    "hir.wait"(%request) : (!hir.request_t) -> ()
  }) : (index, index, index) -> ()
  "hir.output"(%x) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "main", input_names = ["x", "times"],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()
"""
_CANNOT = "error: the processes cannot go on together: "


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("team")
    source, built = folder / "prog.mlir", folder / "prog"
    source.write_text(PROGRAM)
    assert hirc([str(source), "--offload-arch=cpu", "-o", str(built)]) == 0
    return built


def test_a_program_alone(program: Path) -> None:
    ended = subprocess.run(
        [program, "--input=4xf32=1", "--input=1"], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "communicates with device 1, and it was started as 1 process" in ended.stderr
    assert "hirc-run --devices=2" in ended.stderr


def test_a_process_that_dies(program: Path) -> None:
    meeting = f"unix:hirc-test-{uuid.uuid4().hex}"
    command = [program, "--input=4xf32=1", "--input=2000000000"]
    processes = [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                "HIRC_RANK": str(rank),
                "HIRC_WORLD_SIZE": "2",
                "HIRC_RENDEZVOUS": meeting,
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    time.sleep(1)
    processes[1].send_signal(signal.SIGKILL)
    errors = processes[0].communicate(timeout=30)[1]
    assert processes[0].returncode == 1
    assert f"{_CANNOT}the process of rank 1 has ended" in errors
    assert "note: rank 0 was in allreduce of 4 elements at " in errors
    processes[1].communicate()


def test_another_size_on_one_rank(program: Path, run_team: RunTeam) -> None:
    commands = [[program, f"--input={count}xf32=1", "--input=3"] for count in (4, 5)]
    for each in run_team(commands):
        assert each.status == 1
        assert _CANNOT in each.errors
    assert any("the team disagrees" in each.errors for each in run_team(commands))


def test_each_communication_is_compared_before_it_begins(program: Path, run_team: RunTeam) -> None:
    """As a library's programs do it, where the end of a call compares nothing."""
    commands = [[program, f"--input={count}xf32=1", "--input=3"] for count in (4, 5)]
    ended = run_team(commands, {"HIRC_COMMUNICATION_CHECK": "1"})
    for each in ended:
        assert each.status == 1
        assert "prog.mlir:8:16: error: the processes cannot go on together" in each.errors
    assert any("begins allreduce of " in each.errors for each in ended)
    agreeing = [[program, "--input=4xf32=1", "--input=3"]] * 2
    ended = run_team(agreeing, {"HIRC_COMMUNICATION_CHECK": "1"})
    assert [each.status for each in ended] == [0, 0], ended


def test_one_who_ends_first(program: Path, run_team: RunTeam) -> None:
    commands = [[program, "--input=4xf32=1", f"--input={times}"] for times in (3, 2)]
    ended = run_team(commands, {"HIRC_COMMUNICATION_SECONDS": "2"})
    assert ended[0].status == 1
    assert _CANNOT in ended[0].errors


@pytest.mark.parametrize("rank", [0, 1])
def test_one_who_fails_before_it_communicates(program: Path, run_team: RunTeam, rank: int) -> None:
    """The others do not wait for it until the time limit, which is far longer than this test's."""
    commands = [[program, "--input=4xf32=1", "--input=3"] for _ in range(2)]
    commands[rank][1] = "--input=4x2xf32=1"
    ended = run_team(commands)
    assert "input" in ended[rank].errors
    assert _CANNOT not in ended[rank].errors
    other = ended[1 - rank]
    assert other.status == 1
    assert f"{_CANNOT}the process of rank {rank} ended before it communicated" in other.errors


_LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>
int connect(int descriptor, const struct sockaddr *address, socklen_t size) {
  int (*others)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
  sleep(2);
  return others(descriptor, address, size);
}
"""


def test_one_who_fails_before_rank_0_is_connected(
    program: Path, run_team: RunTeam, tmp_path: Path
) -> None:
    """Rank 0 listens, and reaches its own hub only after the other one came and went."""
    source, late = tmp_path / "late.c", tmp_path / "late.so"
    source.write_text(_LATE)
    build = ["clang-22", "-shared", "-fPIC", source, "-o", late]
    subprocess.run(build, check=True, timeout=60)
    preloading: list[str | Path] = ["env", f"LD_PRELOAD={late}"]
    commands = [
        [*preloading, program, "--input=4xf32=1", "--input=3"],
        [program, "--input=4x2xf32=1", "--input=3"],
    ]
    ended = run_team(commands)
    assert ended[0].status == 1
    assert f"{_CANNOT}the process of rank 1 ended before it communicated" in ended[0].errors


def test_one_who_never_comes(program: Path) -> None:
    environment = {
        **os.environ,
        "HIRC_RANK": "1",
        "HIRC_WORLD_SIZE": "2",
        "HIRC_RENDEZVOUS": f"unix:hirc-test-{uuid.uuid4().hex}",
        "HIRC_COMMUNICATION_SECONDS": "1",
    }
    command = [program, "--input=4xf32=1", "--input=1"]
    ended = subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True, timeout=30
    )
    assert ended.returncode == 1
    assert "rank 1 does not find rank 0 at unix:hirc-test-" in ended.stderr


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("HIRC_RANK", "2", "HIRC_RANK is '2', where it is a number from 0 to 1"),
        ("HIRC_RANK", "one", "HIRC_RANK is 'one'"),
        (
            "HIRC_RENDEZVOUS",
            "here",
            "HIRC_RENDEZVOUS is 'here', where it is HOST:PORT or unix:NAME",
        ),
    ],
)
def test_a_wrong_environment(program: Path, name: str, value: str, message: str) -> None:
    environment = {**os.environ, "HIRC_RANK": "0", "HIRC_WORLD_SIZE": "2", name: value}
    command = [program, "--input=4xf32=1", "--input=1"]
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert message in ended.stderr


def test_one_who_communicates_less(program: Path, run_team: RunTeam) -> None:
    """A process that communicates less often, and whose part is done, is found out."""
    commands = [[program, "--input=4xf32=1", f"--input={times}"] for times in (0, 1)]
    ended = run_team(commands, {"HIRC_COMMUNICATION_SECONDS": "3"})
    assert any(each.status == 1 and _CANNOT in each.errors for each in ended)
