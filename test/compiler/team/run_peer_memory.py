"""Runs what peer_memory_on_gpu built, as one process a device: python3 run.py [--devices N].

Compares outputs with what the interpreter gave, makes teams fail, and times puts, gets, barriers
and allocations beside NCCL's messages. Needs nothing of hirc.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_SECONDS = 120
_DEVICE = re.compile(r"^ *device +median ([\d.e+-]+) (ns|us|ms|s)\b", re.MULTILINE)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_BYTES = (1 << 10, 1 << 20, 1 << 28)
_CANNOT = "the processes cannot go on together: "


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=0, help="at most; else all of the machine")
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    devices = options.devices or _count_devices()
    about = json.loads((_HERE / "about.json").read_text())
    failed = 0
    for case in about["cases"]:
        if case["size"] <= devices:
            failed += _is_wrong(f"team of {case['size']}, case {case['seed']}", _check_case, case)
    if devices >= 2:
        for name, check in _FAILURES.items():
            failed += _is_wrong(name, check)
    print(f"{failed} failed" if failed else "all passed", flush=True)
    for size in (each for each in (2, 3, 4) if each <= devices):
        for what in ("put", "get", "send-recv", "barrier", "allocate"):
            _time(what, size, about["count"], options.repeat)
    return 1 if failed else 0


def _count_devices() -> int:
    words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return (
        len(subprocess.run(words, capture_output=True, text=True, check=False).stdout.split("\n"))
        - 1
    )


def _is_wrong(name: str, check: Callable[..., str], *arguments: Any) -> bool:
    begin = time.monotonic()
    try:
        wrong = check(*arguments)
    except subprocess.TimeoutExpired:
        wrong = f"it did not end in {_SECONDS} seconds"
    seconds = time.monotonic() - begin
    print(f"{'FAILED' if wrong else 'passed'}  {name}  ({seconds:.1f} s) {wrong}", flush=True)
    return bool(wrong)


# --- running -------------------------------------------------------------------------------------


def _run(
    commands: Sequence[Sequence[str]], variables: Mapping[str, str] | None = None
) -> list[tuple[int, str, str]]:
    """Runs a command for each rank; returns their statuses, outputs and errors."""
    meeting = f"unix:hirc-{uuid.uuid4().hex}"
    processes = [
        subprocess.Popen(
            list(command),
            env={
                **_environment(),
                "HIRC_RANK": str(rank),
                "HIRC_LOCAL_RANK": str(rank),
                "HIRC_WORLD_SIZE": str(len(commands)),
                "HIRC_LOCAL_WORLD_SIZE": str(len(commands)),
                "HIRC_RENDEZVOUS": meeting,
                **(variables or {}),
            },
            cwd=_HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, command in enumerate(commands)
    ]
    try:
        outputs = [process.communicate(timeout=_SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [
        (process.returncode, *written) for process, written in zip(processes, outputs, strict=True)
    ]


def _environment() -> dict[str, str]:
    environment = {"NCCL_NVLS_ENABLE": "0", **os.environ}
    found = importlib.util.find_spec("nvidia.nccl") if importlib.util.find_spec("nvidia") else None
    for place in (found.submodule_search_locations or ()) if found else ():
        library = Path(place) / "lib" / "libnccl.so.2"
        if library.exists():
            environment.setdefault("HIRC_NCCL", str(library))
    return environment


def _check_case(case: Mapping[str, Any]) -> str:
    size, seed = case["size"], case["seed"]
    number = "%r" if size > 1 else "0"
    words = [f"./exchanges-{size}", f"--input=x=x-{size}-{seed}.{number}.npy"]
    words += [f"--input={name}={each}" for name, each in case["numbers"].items()]
    words += [f"--output={name}={name}-{size}-{seed}.{number}.npy" for name in case["outputs"]]
    for status, output, errors in _run([words] * size):
        if status != 0 or errors:
            return f"status {status}: {output}{errors}"
    for rank in range(size):
        for name in case["outputs"]:
            path = _HERE / f"{name}-{size}-{seed}.{rank}.npy"
            expected = path.with_suffix(".expected").read_bytes()
            given = path.read_bytes()
            path.unlink()
            if given[len(given) - len(expected) :] != expected:
                return f"{name} of rank {rank} differs"
    return ""


# --- failures ------------------------------------------------------------------------------------


def _words(length: int, times: int, peer: int, waits: int = 0) -> list[str]:
    scalars = [f"--input={each}" for each in (times, peer, waits)]
    return ["./endless", f"--input={length}xf32=1", *scalars]


def _expect(ended: Sequence[tuple[int, str, str]], ranks: Sequence[int], text: str) -> str:
    for rank in ranks:
        status, _, errors = ended[rank]
        if status != 1 or text not in errors:
            return f"rank {rank}: status {status}: {errors}"
    return ""


def _check_sizes() -> str:
    ended = _run([_words(length, 1, 0) for length in (4, 8)])
    return _expect(ended, (0, 1), "bytes of memory that its team shares, and rank")


def _check_place() -> str:
    return _expect(_run([_words(4, 1, 2)] * 2), (0, 1), "place 2 of a team of 2")


def _check_death() -> str:
    """The other one waits at a flag, and its stream goes on."""
    dies = ["timeout", "--signal=KILL", "15", *_words(4, 2_000_000_000, 0)]
    return _expect(
        _run([_words(4, 2_000_000_000, 1), dies]), (0,), f"{_CANNOT}the process of rank 1"
    )


def _check_limit() -> str:
    words = [_words(4, 1, 1 - rank, waits=1) for rank in range(2)]
    ended = _run(words, {"HIRC_COMMUNICATION_SECONDS": "10"})
    return _expect(ended, (0, 1), f"{_CANNOT}rank")


_FAILURES: dict[str, Callable[[], str]] = {
    "sizes that differ": _check_sizes,
    "a peer that is none": _check_place,
    "a process that dies": _check_death,
    "a signal that nobody sends": _check_limit,
}


# --- times ---------------------------------------------------------------------------------------


def _time(what: str, size: int, count: int, repeat: int) -> None:
    for length in _BYTES if what in ("put", "get", "send-recv") else _BYTES[:1]:
        words = [f"./{what}-{size}", f"--input={length // 4}xf32=1", "--time", f"--repeat={repeat}"]
        seconds: list[float] = []
        try:
            ended = _run([words] * size)
        except subprocess.TimeoutExpired:
            ended = [(124, "", f"it did not end in {_SECONDS} seconds")]
        for status, output, errors in ended:
            found = _DEVICE.search(output)
            if status != 0 or found is None:
                print(f"{what} of {size}: status {status}: {output}{errors}", flush=True)
                return
            seconds.append(float(found[1]) * _UNITS[found[2]] / count)
        line = f"{size} devices  {what:10} {length:10} bytes {max(seconds) * 1e6:10.1f} us"
        if what in ("put", "get", "send-recv"):
            line += f" {length / max(seconds) / 1e9:8.1f} GB/s"
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
