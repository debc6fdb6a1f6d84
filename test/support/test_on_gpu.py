"""What builds and runs the suites for a GPU machine, with suites that need none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from on_gpu import HERE, build, suites

_SUITES = {
    "fine": "print('all right')",
    "differs": "print('y: 3 instead of 4'); raise SystemExit(1)",
    "hangs": "import time; time.sleep(60)",
    "dies": "import os; os.kill(os.getpid(), 11)",
}


def _run(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, folder / "run.py", *names],
        env={"HIRC_SUITE_SECONDS": "5"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_line_for_each_suite(tmp_path: Path) -> None:
    for name, text in _SUITES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.py").write_text(text)
    (tmp_path / "suites.json").write_text(json.dumps({name: ["run.py"] for name in _SUITES}))
    shutil.copy(HERE / "run_on_gpu.py", tmp_path / "run.py")
    done = _run(tmp_path)
    assert done.returncode == 1
    for line in (
        "right  fine",
        "WRONG (status 1)  differs",
        "    y: 3 instead of 4",
        "WRONG (status -11)  dies",
        "WRONG (not done in 5 s)  hangs",
        "1 suites right, 3 wrong",
    ):
        assert line in done.stdout
    assert _run(tmp_path, "fine").returncode == 0
    unknown = _run(tmp_path, "fime")
    assert unknown.returncode == 2
    assert "not built: fime" in unknown.stdout


def test_every_module_that_builds_for_a_gpu_is_a_suite() -> None:
    modules = {suite.build[0] for suite in suites({"HIRC_UPSTREAM_PROGRAMS": "."})}
    found = {
        ".".join(path.relative_to(HERE).with_suffix("").parts)
        for path in HERE.glob("*/*.py")
        if "on the GPU machine" in path.read_text() and path.parent.name != "support"
    }
    assert found - modules == set()


def test_every_schedule_with_a_suite_is_run() -> None:
    names = {suite.name for suite in suites({})}
    assert {"schedules-contraction", "schedules-attention", "schedules-products"} <= names
    assert "upstream" not in names


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no suite rowz"):
        build(tmp_path, ["rowz"])
