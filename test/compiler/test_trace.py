"""HIRC_TRACE: what a compilation does, as events that Chrome and Perfetto read."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

# Of a name that no other run has, so that the cache does not have it.
_ADD = f"""
func.func @add_{uuid4().hex}(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {{
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.add ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
       -> tensor<64xf32>
  return %s : tensor<64xf32>
}}
"""
_CODE = f"""
import sys
import hirc
from hirc.tools.hirc import main

text = {_ADD!r}
hirc.compile(text, target="cpu")
hirc.compile(text, target="cpu")
open(sys.argv[1], "w").write(text)
sys.exit(main([sys.argv[1], "--emit=cubin", "--offload-arch=sm_90", "-o", sys.argv[1] + ".cubin"]))
"""


def _events(file: Path) -> list[dict[str, Any]]:
    """The events of a file: an array without its end."""
    text = file.read_text()
    assert text.startswith("[\n")
    assert text.endswith("},\n")
    return json.loads(text.removesuffix(",\n") + "]")


def _run(words: list[str | Path], file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        env={**os.environ, "HIRC_TRACE": str(file)},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


def _is_within(inner: dict[str, Any], outer: dict[str, Any]) -> bool:
    end = outer["ts"] + outer["dur"]
    return outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= end + 1


def test_stages_passes_and_processes_of_all_who_write_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    done = _run([sys.executable, "-c", _CODE, tmp_path / "add.mlir"], file)
    assert done.returncode == 0, done.stderr
    events = _events(file)
    spans = [event for event in events if event["ph"] == "X"]
    assert {event["cat"] for event in spans} == {"stage", "pass", "process"}
    (named,) = [event for event in events if event["ph"] == "M"]
    assert {event["pid"] for event in spans} == {named["pid"]}

    schedules = next(event for event in spans if event["name"] == "stage schedules")
    kernels = next(event for event in spans if event["name"] == "hir-schedule-kernels")
    assert _is_within(kernels, schedules)
    # Once with the work in it, once without.
    first, second = [event for event in spans if event["name"] == "cache"]
    assert _is_within(schedules, first)
    assert second["dur"] < first["dur"] / 2
    assert len([event for event in spans if event["name"] == "load"]) == 2

    processes = [event for event in spans if event["cat"] == "process"]
    (assembler,) = [event for event in processes if event["name"] == "ptxas"]
    assert assembler["tid"] != named["pid"]
    assert "sm_90" in assembler["args"]["command"]

    words = [sys.executable, "-m", "hirc.tools.hirc", tmp_path / "add.mlir", "--stop-after=fusion"]
    assert _run([*words, "-o", tmp_path / "add.out"], file).returncode == 0
    more = _events(file)
    assert more[: len(events)] == events
    assert {"start-up and imports", "stage fusion"} <= {
        each["name"] for each in more[len(events) :]
    }


def test_a_file_that_cannot_be_written_is_an_error_before_anything_is_done(tmp_path: Path) -> None:
    file = tmp_path / "none" / "trace.json"
    words = [sys.executable, "-m", "hirc.tools.hirc", tmp_path / "none.mlir"]
    done = _run(words, file)
    assert done.returncode == 1
    assert done.stderr == (
        f"hirc: error: cannot write HIRC_TRACE's file {file}: No such file or directory\n"
    )


def test_a_file_that_a_disk_has_no_room_for_is_named(tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(_ADD)
    words = [sys.executable, "-m", "hirc.tools.hirc", tmp_path / "add.mlir", "--emit=mlir"]
    done = _run([*words, "--offload-arch=cpu"], Path("/dev/full"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "hirc: error: cannot write HIRC_TRACE's file /dev/full: No space left on device\n"
    )
