"""Programs over several streams: the same results over any number, and nothing races."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from host_ir.catalog import FOLDER, HostProgram, host_programs

from hirc.tools.hirc import main as run_hirc
from hirc.tools.hirc_opt import main as run_opt

_PROGRAMS = {program.name: program for program in host_programs()}


def _built(text: str, folder: Path, name: str, checks: str = "memory,race") -> Path:
    source, output = folder / f"{name}.mlir", folder / name
    source.write_text(text)
    words = [str(source), "-o", str(output), "--offload-arch=cpu", "-O0", f"--check={checks}"]
    assert run_hirc(words) == 0
    return output


def _over(pool: int, program: HostProgram, folder: Path) -> str:
    """The program with its stream loops formed, over a pool of that many streams."""
    formed = folder / f"formed_{pool}.mlir"
    words = [str(program.path), "-p", f"hir-form-stream-loops{{pool={pool}}}", "-o", str(formed)]
    assert run_opt(words) == 0
    text = formed.read_text()
    assert f"streams = {pool} : i64" in text
    return text


def _run(
    command: Path, program: HostProgram, output: Path, threads: int
) -> subprocess.CompletedProcess[str]:
    words = [command, *program.flags, "--repeat=3", "--time", f"--output={output}"]
    environment = {**os.environ, "HIRC_CPU_THREADS": str(threads)}
    return subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("name", ["stream_loops"])
def test_any_number_of_streams_gives_the_same(name: str, tmp_path: Path) -> None:
    program = _PROGRAMS[name]
    results: list[bytes] = []
    for pool in (1, 4, 8):
        command = _built(_over(pool, program, tmp_path), tmp_path, f"over_{pool}")
        for threads in (1, 2, 5):
            output = tmp_path / f"{pool}_{threads}.npy"
            done = _run(command, program, output, threads)
            assert (done.returncode, done.stderr) == (0, "")
            results.append(np.load(output).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("name", [name for name in _PROGRAMS if name != "own_kernel"])
def test_no_program_races(name: str, tmp_path: Path) -> None:
    program = _PROGRAMS[name]
    command = _built(program.text, tmp_path, name)
    done = _run(command, program, tmp_path / "y.npy", 4)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_forgotten_wait_is_found(tmp_path: Path) -> None:
    """That the check is silent above says something only if it can speak."""
    program = _PROGRAMS["named_streams"]
    lines = (FOLDER / "named_streams.mlir").read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if '"hir.wait_' not in line)
    done = _run(_built(text, tmp_path, "racing", "race"), program, tmp_path / "y.npy", 4)
    assert "race" in done.stderr
