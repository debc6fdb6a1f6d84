"""The CPU device's CUDA runtime, through C programs that are compiled against CUDA's headers.

`NAME.expected` beside a program is what the same program, linked with CUDA 13.0's
libcudart_static, printed on an H200 (driver 580), except for those in `_OWN`, which only this
device can run.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_cuda
from support import cpu_runtime

_HERE = Path(__file__).parent
_SANITIZED_SECONDS = 120
_PROGRAMS = ("memory_calls", "copies", "stream_calls", "capture_calls")
_OWN = {"limit": {"HIRC_CPU_MEMORY": "8M"}}


Build = Callable[[str, str], Path]


def _run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_SANITIZED_SECONDS,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds a program with the runtime, once, with sanitizers where some are named."""
    headers = find_cuda().root / "include"
    folder = tmp_path_factory.mktemp("runtime")

    def build_program(name: str, sanitizers: str = "") -> Path:
        program = folder / f"{name}-{sanitizers}"
        if not program.exists():
            cpu_runtime.build(
                _HERE / f"{name}.c", program, sanitizers, flags=("-w", f"-I{headers}")
            )
        return program

    return build_program


@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_program_prints_what_it_prints_on_a_gpu(name: str, threads: str, build: Build) -> None:
    printed = _run(build(name, ""), env={"HIRC_CPU_THREADS": threads})
    assert printed.splitlines() == (_HERE / f"{name}.expected").read_text().splitlines()


@pytest.mark.parametrize("name", sorted(_OWN))
def test_a_program_for_this_device_alone(name: str, build: Build) -> None:
    printed = _run(build(name, ""), env=_OWN[name])
    assert printed.splitlines() == (_HERE / f"{name}.expected").read_text().splitlines()


def test_launches_of_kernels(build: Build) -> None:
    assert _run(build("kernels", ""), env={"HIRC_CPU_THREADS": "3"}) == "ok\n"


def test_many_threads_of_the_host(build: Build) -> None:
    assert _run(build("threads", "")).split() == ["counter", "240"]


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
@pytest.mark.parametrize("name", ["threads", "kernels", "stream_calls", "capture_calls"])
def test_under_a_sanitizer(name: str, sanitizer: str, build: Build) -> None:
    environment = {"HIRC_CPU_THREADS": "4", "ASAN_OPTIONS": "detect_leaks=0"}
    _run(build(name, sanitizer), "sanitized", env=environment)
