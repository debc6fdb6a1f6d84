"""What runs the offload suite on a GPU machine tells right from wrong, and from what is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from offload.on_gpu import HERE, Case

_SHOWS = ("python", "-c", "import os; print('one', os.environ.get('HIRC_DEVICE'))")
_ENDS = ("python", "-c", "raise SystemExit('error: no')")


def _cases(verdict: str) -> list[Case]:
    shows, ends = partial(Case, command=_SHOWS), partial(Case, command=_ENDS)
    cases = {
        "right": [
            shows("prints", output="one None\n"),
            shows("environment", environment={"HIRC_DEVICE": "cpu"}, output="one cpu\n"),
            ends("status", status=1, shown="^error: no"),
            ends("fails", fails=True),
            ends("any status", status=None),
        ],
        "WRONG": [
            shows("prints other", output="two None\n"),
            shows("shows nothing", shown="two"),
            shows("shows too much", hidden="one"),
            shows("succeeds", fails=True),
            ends("other status"),
            Case("no such program", ("prog",)),
        ],
        "absent": [
            Case("no such tool", ("cuda-no-such-tool",), is_tool=True),
            Case("not built", absent="nvcc was not there to build it"),
        ],
    }
    return cases[verdict]


def _run(folder: Path, *verdicts: str) -> subprocess.CompletedProcess[str]:
    cases = [asdict(case) for verdict in verdicts for case in _cases(verdict)]
    (folder / "cases.json").write_text(json.dumps(cases))
    shutil.copy(HERE / "run_on_gpu.py", folder / "run.py")
    command = [sys.executable, folder / "run.py"]
    environment = {"HIRC_DEVICE": "tpu"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_verdicts(tmp_path: Path) -> None:
    done = _run(tmp_path, "right", "WRONG", "absent")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    for verdict in ("right", "WRONG", "absent"):
        for case in _cases(verdict):
            assert any(line.startswith(f"{verdict}  {case.name}") for line in lines), case.name
    assert lines[-1] == "5 right, 6 WRONG, 2 absent"
    assert _run(tmp_path, "right", "absent").returncode == 0
