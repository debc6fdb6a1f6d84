"""Waiting in vain ends in an error that says who waits for what; other waiting is left alone."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hirc.compiler.cpu_device.build import runtime_object
from hirc.compiler.cpu_device.code import CpuDeviceOptions
from hirc.compiler.process import Runner
from hirc.compiler.toolchain import find_clang
from support.cpu_kernels import host_module

_HERE = Path(__file__).parent
_SOURCE = (_HERE / "kernels.c").read_text()
_SECONDS = 60
_LOOP = "a loop that waits for memory"
# Launches, and what the error says of those who wait.
_IN_VAIN = {
    "volatile_flag:0": _LOOP,
    "atomic_flag:0:3:40": _LOOP,
    "lock:0": _LOOP,
    "compared:0": _LOOP,
    "sleeping:0": _LOOP,
    "endless:0": _LOOP,
    "endless_branch:0": _LOOP,
    "shared_flag:0:1:64": f"thread (0,0,0) wait at {_LOOP}",
    "with_barrier:0:1:64": "",
    "either:0": "",
    "each_other:0:2": _LOOP,
    "phase:0:1:32": "mbarrier.test_wait",
    "try_wait:0:1:2": "for 2 of 2 arrivals",
    "bytes:0": "for 0 of 1 arrivals and 128 more bytes",
    "named:0:1:32": "bar.sync 1",
    "volatile_flag:0 named:0:1:64 sleeping:1": "",
    "volatile_flag:0 set:0": _LOOP,
}
_ENDS = [
    "volatile_flag:0 set_late:1",
    "volatile_flag:0:2:40 host:1",
    "sleeping:0 host:1",
    "slow:0 host:1",
    "one_header:0 host:1",
    "slow:0 volatile_flag:2 set_late:1",
    "next_block:0:2",
    "timed:0",
    "counted:0",
    "ticket:0",
    "seconds:0:1:64",
    "volatile_flag:0 seconds:1:1:64",
]


def _build(folder: Path, level: int, checks: frozenset[str] = frozenset()) -> Path:
    runtime, code, program = folder / "runtime.o", folder / "kernels.o", folder / "waiting"
    options = CpuDeviceOptions(opt_level=level, debug=True, checks=checks)
    module = host_module(_SOURCE, opt_level=level, debug=True, options=options)
    code.write_bytes(module.object_code())
    runtime.write_bytes(runtime_object(find_clang(), Runner()))
    parts = [_HERE / "launcher.c", code, runtime]
    subprocess.run(
        [find_clang().path, *parts, "-o", program, "-pthread", "-lm"], check=True, timeout=60
    )
    return program


def _run_all(program: Path, cases: Sequence[str]) -> dict[str, tuple[int, str, str]]:
    """Runs the cases side by side; the status, the output and the errors of each."""
    started = time.monotonic()
    environment = {**os.environ, "HIRC_CPU_THREADS": "2"}
    running = {
        case: subprocess.Popen(
            [program, *case.split()],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for case in cases
    }
    results: dict[str, tuple[int, str, str]] = {}
    for case, process in running.items():
        try:
            left = max(0.1, started + _SECONDS - time.monotonic())
            output, errors = process.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            errors += "does not end"
        results[case] = process.returncode, output, errors
    return results


@pytest.mark.parametrize("level", [0, 2])
def test_waiting(level: int, tmp_path: Path) -> None:
    results = _run_all(_build(tmp_path, level), [*_IN_VAIN, *_ENDS, "asserted:0:1:2"])
    wrong = [case for case, what in _IN_VAIN.items() if not _is_told(*results[case], case, what)]
    wrong += [case for case in _ENDS if results[case] != (0, "", "")]
    # Who waits for a thread that is no more is none of the program's mistakes.
    status, output, errors = results.pop("asserted:0:1:2")
    assert (status, output) == (1, "cudaErrorAssert\n" * 2)
    assert errors.startswith("a.c:7: asserted: ")
    assert errors.count("\n") == 1
    assert not wrong, {case: results[case] for case in wrong}


def _is_told(status: int, output: str, errors: str, case: str, what: str) -> bool:
    """Whether one message names the kernel, its lines, and what is waited for."""
    kernel = case.partition(":")[0]
    line = 1 + _SOURCE[: _SOURCE.index(f"void {kernel}(")].count("\n")
    return (
        status == 1
        and output.startswith("cudaErrorLaunchFailure\n")
        and errors.count("\n") == 1
        and re.match(r"error: [\w ]+ in kernel \w+ \(.*kernels\.c:\d+\): block", errors) is not None
        and (f"kernels.c:{line}" in errors or " " in case)
        and what in errors
    )


def test_checked_program(tmp_path: Path) -> None:
    """What nobody has waited for runs once what runs can go on in no other way."""
    program = _build(tmp_path, 2, frozenset({"memory"}))
    results = _run_all(program, ["volatile_flag:0", "volatile_flag:0 set_late:1"])
    assert results["volatile_flag:0"][:2] == (1, "cudaErrorLaunchFailure\n" * 2)
    assert _LOOP in results["volatile_flag:0"][2]
    assert results["volatile_flag:0 set_late:1"] == (0, "", "")
