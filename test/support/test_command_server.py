"""Commands that the server forks end as if each had been started separately."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_clang
from support.command_server import Server, listening_for


def _command() -> int:
    """Ends in the way that its first argument names."""
    what, *rest = sys.argv[1:]
    if what == "return":
        return int(rest[0])
    if what == "crash":
        os.kill(os.getpid(), signal.SIGTERM)
    if what == "wait":
        Path(rest[0]).write_text(str(os.getpid()))
        time.sleep(100)
    if what == "raise":
        raise ValueError(rest[0])
    print(sys.stdin.read(), Path.cwd(), os.environ["WORD"], *rest)
    sys.exit("said")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("commands")
    end, held = os.pipe()
    with listening_for(["command"], folder, find_clang().path) as listening:
        server = os.fork()
        if server == 0:
            os.close(held)
            Server(listening, end, {"command": _command}).run()
    os.close(end)
    yield folder / "command"
    os.close(held)
    assert os.waitpid(server, 0)[1] == 0


def _run(command: Path, *words: str) -> int:
    return subprocess.run([command, *words], stderr=subprocess.DEVNULL, check=False).returncode


def _until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail("the awaited condition does not hold in time")


def test_what_a_command_is_given(command: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [command, "print", "", "a\nb"],
        input="typed",
        env={"WORD": "x=y"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, f"typed {tmp_path} x=y  a\nb\n")


def test_how_a_command_ends(command: Path) -> None:
    assert [_run(command, "return", each) for each in ("0", "1", "70")] == [0, 1, 70]
    assert _run(command, "crash") == -signal.SIGTERM
    assert _run(command, "raise", "wrong") == 1


def test_a_command_ends_with_who_waits_for_it(command: Path, tmp_path: Path) -> None:
    told = tmp_path / "process"
    with subprocess.Popen([command, "wait", told]) as client:
        _until(lambda: told.exists() and told.read_text() != "")
        client.kill()
    _until(lambda: not Path("/proc", told.read_text()).exists())
    assert _run(command, "return", "0") == 0
