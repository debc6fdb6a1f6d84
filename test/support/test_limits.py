"""The limits of tests: whatever hangs or dies ends the run with a failure that names it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hirc.compiler.toolchain import find_clang
from support.environment import ROOT

_HANGS = """\
import ctypes, time

def test_native():
    ctypes.PyDLL(None).qsort((ctypes.c_int * 2)(), 2, 4, ctypes.PyDLL({library!r}).hang)

def test_python():
    while True:
        time.sleep(1)
"""
_DIES = """\
import os, signal
import pytest

@pytest.mark.parametrize("number", range(20))
@pytest.mark.xdist_group("many")
def test_right(number):
    pass

@pytest.mark.parametrize("number", range(6))
@pytest.mark.xdist_group("few")
def test_dies(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def _run(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a file of tests with this project's configuration."""
    file = folder / "test_planted.py"
    file.write_text(text)
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml"),
            *("-p", "no:hypothesispytest", "-o", f"cache_dir={folder}", "--rootdir", folder),
            *words,
            file,
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
    )


def test_a_hang_ends_with_stacks(tmp_path: Path) -> None:
    source, library = tmp_path / "hang.c", tmp_path / "hang.so"
    source.write_text("int hang(const void *a, const void *b) { for (volatile int i;;) i = 0; }\n")
    subprocess.run([find_clang().path, "-shared", source, "-o", library], check=True)
    text = _HANGS.format(library=str(library))
    done = _run(tmp_path, text, "--timeout=1", "-k", "python")
    assert done.returncode == 1
    assert "FAILED" in done.stdout
    assert "test_python - Failed: Timeout" in done.stdout
    done = _run(tmp_path, text, "--timeout=1", "-o", "faulthandler_timeout=2", "-k", "native")
    assert done.returncode == 1
    assert "in test_native" in done.stderr


def test_the_end_of_a_worker_ends_the_run(tmp_path: Path) -> None:
    done = _run(tmp_path, _DIES, "-n", "2", "--dist", "loadgroup")
    assert done.returncode == 1
    assert "crashed while running 'test_planted.py::test_dies[3]@few'" in done.stdout


def test_processes_have_a_limit() -> None:
    """Whoever waits for one without saying how long; it ends before the test would."""
    assert (subprocess.run.__kwdefaults__ or {})["timeout"] < 300
