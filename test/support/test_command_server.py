"""Commands that the server forks end as if each had been started separately."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_clang
from support.command_server import Server, listening_for, run_python


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


_IMPORTS = """
import beside, sys
import torch.nn.functional
from torch import ones
print(sys.modules["torch"] is torch, torch.__spec__.name, torch.__spec__.origin, ones(2))
"""


def test_scripts(tmp_path: Path) -> None:
    """A script sees what Python gives it, and ends as it does; it has loaded what it imports."""
    import torch

    assert torch
    (tmp_path / "beside.py").write_text("word = 'beside'\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import atexit, sys, threading\nfrom beside import word\n"
        "class Said(Exception):\n    pass\n"
        "atexit.register(print, 'last')\n"
        "threading.Timer(0.2, print, ('thread',)).start()\n"
        "print(__name__, __file__, sys.argv[1:], word, Said.__module__, 'torch' in sys.modules)\n"
        "if 'raise' in sys.argv:\n    raise Said(word)\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    ends, held = os.pipe()
    # A folder of this process, which is not to go when a script ends.
    own = tempfile.TemporaryDirectory()
    with listening_for(["python"], tmp_path, find_clang().path) as listening:
        server = os.fork()
        if server == 0:
            os.close(held)
            Server(listening, ends, {"python": run_python}).run()
    os.close(ends)
    ran = [
        [
            subprocess.run(
                [python, *words], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            for words in (["script.py", "3"], ["script.py", "raise"], ["-c", _IMPORTS])
        ]
        for python in (sys.executable, str(tmp_path / "python"))
    ]
    os.close(held)
    assert os.waitpid(server, 0)[1] == 0
    with own as folder:
        assert Path(folder).exists()
    alone, served = [[(each.returncode, each.stdout, each.stderr) for each in one] for one in ran]
    assert served == alone
    assert [status for status, _, _ in served] == [3, 1, 0]
