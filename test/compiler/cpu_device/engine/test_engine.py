"""The CPU device's engine runs kernels written in C as generated code would be.

Each scenario of `scenarios.c` is a process of its own; `stress.c` compares random kernels with a
sequential model. Both also run under sanitizers.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cpu_runtime import build

_HERE = Path(__file__).parent

_RIGHT = [
    *("grid", "barrier", "barrier_by_warps", "early_end", "reduce", "arrive", "cluster"),
    *("cluster_late", "halves"),
    *("cooperative", "lookback", "poll", "warp", "heap", "tasks", "held_up", "rings", "forked"),
]
_BARRIER_0 = "error: divergent barrier in kernel main_kernel (prog.mlir:12:5): block (0,0,0): "
_LOWER, _UPPER = "threads (0,0,0)-(63,0,0)", "threads (64,0,0)-(127,0,0)"
_WRONG = {
    "different_barriers": _BARRIER_0
    + f"{_LOWER} wait at bar.sync 0 (prog.mlir:20:7) for 128 threads; "
    + f"{_UPPER} wait at bar.sync 0 (prog.mlir:24:7) for 128 threads: "
    + "barrier 0 of all threads must be the same for all\n",
    "stuck_barriers": _BARRIER_0
    + f"{_LOWER} wait at bar.sync 0 (prog.mlir:20:7) for 128 threads; "
    + f"{_UPPER} wait at bar.sync 1 (prog.mlir:20:7) for 128 threads\n",
    "stuck_shuffle": _BARRIER_0
    + "threads (0,0,0)-(15,0,0) wait at shfl.sync.bfly with mask 0xffffffff (prog.mlir:31:9); "
    + "threads (16,0,0)-(31,0,0) wait at bar.sync 0 (prog.mlir:33:9) for 32 threads\n",
}
_MAIN = "in kernel main_kernel (prog.mlir:12:5): block (0,0,0)"
_RANGE = "one of threads (0,0,0)-(63,0,0)"
_FAULTS = {
    "illegal_address": f"error: access to illegal address 0x1230 {_MAIN}, {_RANGE}\n",
    "division": f"error: integer division by zero, or of the least by -1 {_MAIN}, {_RANGE}\n",
    "trapped": f"error: trap {_MAIN}, {_RANGE}\n",
    "stack_overflow": f"error: stack overflow {_MAIN}, {_RANGE}\n",
    "assertion": "prog.cu:7: main_kernel: block: [0,0,0], thread: [1,0,0] "
    "Assertion `i < n` failed.\n",
    "aborted": f"error: trap {_MAIN}, thread (0,0,0)\n",
    "freed_twice": f"error: trap {_MAIN}, thread (0,0,0)\n",
    "scarce": "error: no memory for a block of kernel main_kernel\n",
}


def _built(name: str, folder: Path, sanitizers: str = "") -> Path:
    program = folder / name
    if not program.exists():
        build(_HERE / f"{name}.c", program, sanitizers)
    return program


def _run(program: Path, *arguments: str, threads: int) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HIRC_CPU_THREADS": str(threads)}
    return subprocess.run(
        [program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Builds one of the test programs, once."""
    folder = tmp_path_factory.mktemp("engine")
    return lambda name: _built(name, folder)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("scenario", _RIGHT)
def test_scenario(programs: Callable[[str], Path], scenario: str, threads: int) -> None:
    done = _run(programs("scenarios"), scenario, threads=threads)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("scenario", [*_WRONG, *_FAULTS])
def test_message(programs: Callable[[str], Path], scenario: str) -> None:
    done = _run(programs("scenarios"), scenario, threads=1)
    assert (done.returncode, done.stderr) == (0, (_WRONG | _FAULTS)[scenario])


@pytest.mark.parametrize("scenario", [*_WRONG, *_FAULTS])
def test_grid_of_many_workers_fails_once(programs: Callable[[str], Path], scenario: str) -> None:
    done = _run(programs("scenarios"), scenario, threads=4)
    assert done.returncode == 0, done.stderr
    if scenario != "assertion":  # as on a GPU, every thread whose assertion fails says so
        assert done.stderr.count("\n") == 1


def test_every_fault_is_caught(programs: Callable[[str], Path]) -> None:
    done = _run(programs("scenarios"), "faults_again", threads=1)
    assert (done.returncode, done.stderr.count("error: ")) == (0, 6)


def test_fault_of_host_code_stays_one(programs: Callable[[str], Path]) -> None:
    done = _run(programs("scenarios"), "host_fault", threads=2)
    assert done.returncode == -signal.SIGSEGV


def test_printf(programs: Callable[[str], Path]) -> None:
    done = _run(programs("scenarios"), "printed", threads=2)
    first, *lines = done.stdout.splitlines()
    assert first == "before"
    formatted = "1.500000e+00|text  |ffffff0000000000|    3.14|z|0x40|%|%k"
    assert lines[:2] == [f"  -5|{formatted}", f"  -6|{formatted}"]
    assert lines[2] == "7".rjust(3000)
    assert lines[3:] == [str(number) for number in range(300000)]


@pytest.mark.parametrize("threads", [1, 3])
def test_random_kernels(programs: Callable[[str], Path], threads: int) -> None:
    done = _run(programs("stress"), "150", threads=threads)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module", params=["thread", "address,undefined"])
def sanitized(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("sanitized")
    return lambda name: _built(name, folder, request.param)


# A sanitizer for threads does not follow fork(), nor faults.
@pytest.mark.parametrize("scenario", [item for item in [*_RIGHT, *_WRONG] if item != "forked"])
def test_scenario_sanitized(sanitized: Callable[[str], Path], scenario: str) -> None:
    done = _run(sanitized("scenarios"), scenario, threads=4)
    assert done.returncode == 0, done.stderr


def test_random_kernels_sanitized(sanitized: Callable[[str], Path]) -> None:
    done = _run(sanitized("stress"), "40", threads=3)
    assert (done.returncode, done.stderr) == (0, "")


def test_costs_can_be_measured(programs: Callable[[str], Path]) -> None:
    done = _run(programs("costs"), threads=2)
    assert (done.returncode, done.stdout.count(" ns\n")) == (0, 6)
