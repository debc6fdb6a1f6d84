"""Damaged inputs: a small share of those that tools/fuzz_inputs makes, and what it finds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hirc.tools.fuzz_inputs import Input, Run

_TREE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", [1])
def test_damaged_inputs(seed: int) -> None:
    words = ["--count=24", f"--seed={seed}", f"--tree={_TREE}", "--jobs=1"]
    done = subprocess.run(
        [sys.executable, "-m", "hirc.tools.fuzz_inputs", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"seed {seed}, 24 inputs" in done.stdout
    # Most are refused, and of each kind there is one.
    counts = {kind: int(count) for count, kind in re.findall(r"(\d+)  ([\w ]+: \w+)", done.stdout)}
    assert sum(counts.values()) == 24
    assert counts["text: refused"] > 5


_TEXT = Input("text", "hirc", [], {"in": b""})
_WORDS = Input("words", "hirc", [], {"in": b""})
_COMMAND = Input("npy", "command", [], {"x.npy": b""})
_RUN = Input("interpreted", "hirc-run", [], {"in": b""})


@pytest.mark.parametrize(
    ("given", "status", "errors", "wrong"),
    [
        (_TEXT, 0, "", None),
        (_TEXT, 1, "in:1:2: error: no", None),
        (_TEXT, 1, "hirc: error: no", "no place"),
        (_WORDS, 1, "hirc: error: no", None),
        (_TEXT, 1, "", "no message"),
        (_TEXT, 70, "in: error: pass 'x' crashed: SIGSEGV", "crash"),
        (_TEXT, 70, "hirc: error: internal error: x", "internal error"),
        (_TEXT, -11, "", "silent signal 11"),
        (_TEXT, -9, "", "hang"),
        (_TEXT, 2, "in:1:2: error: no", "status 2"),
        (_COMMAND, 2, "command: error: no", None),
        (_COMMAND, 1, "Traceback: error: no", "traceback"),
        (_RUN, 2, "in: error: no", None),
        (_RUN, -9, "", "hang"),
    ],
)
def test_what_is_a_finding(
    tmp_path: Path, given: Input, status: int, errors: str, wrong: str | None
) -> None:
    for name in ("files", "temporary"):
        (tmp_path / name).mkdir()
    assert Run.what_is_wrong(given, tmp_path, status, errors) == wrong
    (tmp_path / "files" / ".hirc-x").touch()
    assert Run.what_is_wrong(given, tmp_path, status, errors) == (wrong or "left ['.hirc-x']")


def test_an_interpreted_loop_may_go_on(tmp_path: Path) -> None:
    """It does what it says for as long as it says, and is killed."""
    given = Input("interpreted", "hirc-run", [], {"in": b'"hir.for"(%c0, %c9)'})
    assert Run.what_is_wrong(given, tmp_path, -9, "") is None
