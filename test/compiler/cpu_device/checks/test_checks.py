"""Programs with one fault each, built with checks and run: the fault is found and named.

A program's comments say what must appear: `EXPECT:` on standard error, `PRINTS:` on standard
output. A word in capitals between colons, as in `name.mlir:FAULT:7`, is the line that ends in
`// FAULT`. A program that expects nothing on standard error is right.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from programs.catalog import PROGRAMS, Program, without_addresses

from hirc.tools.hirc import main as hirc

FOLDER = Path(__file__).parent / "programs"
SECONDS = 120
# What it says is right for a program, and a fault of one that is checked.
_AWAITS_NOTHING = "awaited_at_end"


def _build(words: list[str], output: Path, *flags: str) -> Path:
    kept = [word for word in words if not word.startswith("--offload-arch")]
    assert hirc([*kept, "--offload-arch=cpu", *flags, "-o", str(output)]) == 0
    return output


def _run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **environment},
    )


def _expected(source: Path, word: str) -> list[str]:
    text = source.read_text()
    lines = text.splitlines()
    places = {
        match[1]: number
        for number, line in enumerate(lines, 1)
        if (match := re.search(r" // ([A-Z]+)$", line))
    }
    patterns = re.findall(rf"^// {word}: (.*)$", text, flags=re.MULTILINE)
    return [
        re.sub(r":([A-Z]+)\b", lambda match: f":{places[match[1]]}", pattern)
        for pattern in patterns
    ]


@pytest.mark.parametrize("source", sorted(FOLDER.glob("*.mlir")), ids=lambda source: source.stem)
def test_fault(source: Path, tmp_path: Path) -> None:
    ran = _run(_build([str(source)], tmp_path / "program", "--check=memory,race"))
    errors = _expected(source, "EXPECT")
    for pattern in errors:
        assert re.search(pattern, ran.stderr), ran.stderr
    for pattern in _expected(source, "PRINTS"):
        assert re.search(pattern, ran.stdout), ran.stdout
    assert ran.returncode == (1 if errors else 0), ran.stderr
    if not errors:
        assert not ran.stderr


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_right_program(program: Program, tmp_path: Path) -> None:
    ran = _run(_build(program.command, tmp_path / program.name, "--check=memory,race"))
    assert without_addresses(ran.stdout) == program.expected
    assert ran.returncode == program.status, ran.stderr
    if program.errors:
        assert re.search(program.errors, ran.stderr), ran.stderr
    elif program.name != _AWAITS_NOTHING:
        assert not ran.stderr


def test_environment_narrows(tmp_path: Path) -> None:
    program = _build(
        [str(FOLDER / "uninitialised.mlir")], tmp_path / "program", "--check=memory,race"
    )
    assert "nothing wrote" in _run(program, HIRC_CHECK="memory").stderr
    for narrowed in ("race", "none", ""):
        ran = _run(program, HIRC_CHECK=narrowed)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_environment_asks_for_more(tmp_path: Path) -> None:
    program = _build([str(FOLDER / "uninitialised.mlir")], tmp_path / "program", "--check=race")
    ran = _run(program, HIRC_CHECK="memory,race")
    assert ran.returncode == 0
    assert ran.stderr == (
        "warning: HIRC_CHECK=memory,race: this program was not built for that: rebuild it with "
        "--check=memory,race\n"
    )


def test_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = [str(FOLDER / "uninitialised.mlir"), "-o", str(tmp_path / "program")]
    assert hirc([*words, "--offload-arch=cpu", "--check=leaks"]) == 1
    assert "error: unknown check 'leaks'" in capsys.readouterr().err
    assert hirc([*words, "--offload-arch=sm_90", "--check=race"]) == 1
    assert "error: --check is for the CPU device" in capsys.readouterr().err
