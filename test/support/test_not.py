"""`not`: what counts as a proper failure."""

import subprocess
import sys
from pathlib import Path

import pytest

_NOT = Path(__file__).with_name("not.py")


def run_not(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-E", str(_NOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-S", "-c", code


@pytest.mark.parametrize(
    ("code", "plain", "crash"),
    [
        ("", 1, 1),
        ("raise SystemExit(1)", 0, 1),
        ("raise ValueError", 1, 0),
        ("import os; os.kill(os.getpid(), 9)", 1, 0),
        ("import os; os._exit(139)", 1, 0),
    ],
)
def test_status(code: str, plain: int, crash: int) -> None:
    assert run_not(*python(code)).returncode == plain
    assert run_not("--crash", *python(code)).returncode == crash


def test_output_is_passed_through() -> None:
    done = run_not(*python("import sys; print('out'); sys.exit('error: wrong')"))
    assert (done.stdout, done.stderr) == ("out\n", "error: wrong\n")
