"""Races of commands in different streams: found where nothing orders them, and only there.

Inputs/stream_orders.c has a program for each name here, Inputs/stream_kernels.mlir the kernels.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_clang, find_cuda
from hirc.tools.hirc import main as hirc

_HERE = Path(__file__).parent
_SECONDS = 60
_READ = r"read of 4 bytes in kernel copy at \S+:16:16"
_WRITE = r"write of 4 bytes in kernel write at \S+:9:7"
_BYTE = r"write of 1 byte in kernel write_bytes at \S+:29:7"
_ATOMIC = r"atomic access of 4 bytes in kernel count at \S+:34:17"
_COPIED_FROM, _COPIED_TO = "read of 256 bytes by a copy", "write of 256 bytes by a copy"

# The two sides of a race, in either order.
_RACES = {
    "write_then_read": (f"{_WRITE}.* in stream 2", f"{_READ}.* in stream 3"),
    "read_then_write": (f"{_READ}.* in stream 2", f"{_WRITE}.* in stream 3"),
    "write_twice": (f"{_WRITE}.* in stream 2", f"{_WRITE}.* in stream 3"),
    "one_of_two_readers_waited_for": (f"{_READ}.* in stream 3", f"{_WRITE}.* in stream 4"),
    "event_recorded_too_early": (_WRITE, _READ),
    "waited_too_late": (_WRITE, _READ),
    "waited_too_late_elsewhere": (_WRITE, _READ),
    "written_long_before": (_WRITE, _READ),
    "stream_of_one_destroyed": (_WRITE, _READ),
    "another_stream_waited_for": (_WRITE, _READ),
    "default_stream_orders_no_others": (f"{_WRITE}.* in the default stream", _READ),
    "copy_to_host_too_early": (_WRITE, f"{_COPIED_FROM} in the default stream"),
    "copy_to_device_too_early": (_READ, f"{_COPIED_TO} in stream 3"),
    "copy_not_waited_for": (f"{_COPIED_TO} in stream 2", _READ),
    "fill_not_waited_for": ("write of 256 bytes by a fill in stream 2", _READ),
    "pinned_not_waited_for": (f"{_COPIED_TO} in stream 2", f"{_COPIED_FROM} in stream 3"),
    "same_bytes": (_BYTE, _BYTE),
    "bytes_then_words": (_BYTE, _READ),
    "counted_and_read": (_ATOMIC, _READ),
    "free_too_early": ("free of 256 bytes in stream 2", f"{_READ}.* in stream 3"),
    "one_of_many_forgotten": (_READ, _WRITE),
    "many_launches_and_a_race": (_WRITE, _WRITE),
    "graph_not_waited_for": (_WRITE, _WRITE),
}
_ORDERED = (
    *("same_stream", "ordered_by_event", "ordered_over_a_third", "ordered_by_stream_wait"),
    *("ordered_by_event_wait", "ordered_by_question", "ordered_by_device_wait"),
    *("ordered_by_default_stream", "ordered_by_host_function"),
    *("event_long_past", "default_stream_long_after"),
    *("copy_to_host_in_turn", "copy_to_host_orders"),
    *("halves", "interleaved_bytes", "unaligned_neighbours", "read_by_both", "counted_by_both"),
    *("free_in_turn", "used_again", "addresses_used_again", "free_of_all"),
    *("many_streams", "many_launches", "graph_in_turn"),
)
_CHECKS = ("race", "memory,race")


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program with each of the checks."""
    folder = tmp_path_factory.mktemp("orders")
    headers = find_cuda().root / "include"
    host = folder / "stream_orders.o"
    compiler = [find_clang().path, "-O1", "-Wall", "-Werror", f"-I{headers}"]
    subprocess.run([*compiler, "-c", _HERE / "Inputs" / "stream_orders.c", "-o", host], check=True)
    built: dict[str, Path] = {}
    for checks in _CHECKS:
        built[checks] = folder / checks
        words = [str(_HERE / "Inputs" / "stream_kernels.mlir"), str(host), "-o", str(built[checks])]
        assert hirc([*words, "--offload-arch=cpu", f"--check={checks}"]) == 0
    return built


def _run(program: Path, name: str, threads: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, name],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={**os.environ, "HIRC_CPU_THREADS": str(threads)},
    )


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("checks", _CHECKS)
@pytest.mark.parametrize("name", _RACES)
def test_a_race_is_found(name: str, checks: str, threads: int, programs: dict[str, Path]) -> None:
    ran = _run(programs[checks], name, threads)
    first, second = _RACES[name]
    either = rf"(?:{first}.*, and {second}|{second}.*, and {first})"
    line = rf"^error: race: {either}.* with nothing that orders them: address .* allocation"
    if (name, checks) == ("free_too_early", "memory,race"):
        line = rf"^error: (?:use after free: read|race: {either})"
    assert re.search(line, ran.stderr, flags=re.MULTILINE), ran.stderr
    assert ran.returncode == 1


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("checks", _CHECKS)
@pytest.mark.parametrize("name", _ORDERED)
def test_order_is_known(name: str, checks: str, threads: int, programs: dict[str, Path]) -> None:
    ran = _run(programs[checks], name, threads)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "cudaSuccess\n", "")
