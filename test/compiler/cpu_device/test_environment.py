"""The environment variables of a program for the CPU device, where they hold nonsense."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hirc.tools.hirc import main as hirc
from support.driver import PROGRAM, write


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    source, output = write(folder, "prog.mlir", PROGRAM), folder / "prog"
    assert hirc([str(source), "--offload-arch=cpu", "-o", str(output)]) == 0
    return output


@pytest.mark.parametrize(
    ("setting", "warning"),
    [
        ("HIRC_CPU_MEMORY=abc", "warning: HIRC_CPU_MEMORY=abc is no size (8G, 512M)"),
        ("HIRC_CPU_MEMORY=8Gb", "warning: HIRC_CPU_MEMORY=8Gb is no size (8G, 512M)"),
        ("HIRC_CPU_MEMORY=64M", ""),
        ("HIRC_CPU_THREADS=many", "warning: HIRC_CPU_THREADS=many is no number of threads"),
        ("HIRC_CPU_THREADS=3", ""),
        (
            "HIRC_TRACE=/nowhere/file",
            "warning: HIRC_TRACE=/nowhere/file cannot be written: No such file or directory",
        ),
    ],
)
def test_setting(setting: str, warning: str, program: Path) -> None:
    ran = subprocess.run(
        ["env", setting, program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stderr.startswith(warning)
    assert ran.stderr.count("\n") == (1 if warning else 0)


def test_a_trace_has_the_kernels_of_all_who_write_to_it(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    for _ in range(2):
        subprocess.run(["env", f"HIRC_TRACE={file}", program], timeout=60, check=True)
    text = file.read_text()
    assert text.startswith("[\n")
    events: list[dict[str, Any]] = json.loads(text.removesuffix(",\n") + "]")
    first, second = [event for event in events if event["ph"] == "X"]
    assert first["pid"] != second["pid"]
    assert first["ts"] + first["dur"] <= second["ts"]
    for event in (first, second):
        assert (event["name"], event["cat"]) == ("main_kernel", "kernel")
        assert event["args"]["grid"] == [1, 1, 1]
        assert event["args"]["block"] == [32, 1, 1]
        assert event["args"]["source"].endswith("prog.mlir:5")
        where = {"pid": event["pid"], "tid": event["tid"]}
        row = {"name": "thread_name", "ph": "M", **where, "args": {"name": "stream 0"}}
        assert row in events
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["prog", "prog"]


def test_too_little_memory(program: Path) -> None:
    ran = subprocess.run(
        ["env", "HIRC_CPU_MEMORY=16", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1
    assert "cudaErrorMemoryAllocation" in ran.stderr
