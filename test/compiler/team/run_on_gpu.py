"""Runs what on_gpu.py built as teams of this machine's GPUs, and compares.

Teams are a process for each GPU, and then one process for all. Prints a line for each library; the
exit status is 1 where anything differs. With `--rank R` it is one of the processes, without a
number the one for all.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE))

import torch  # noqa: E402

import hirc  # noqa: E402

_SECONDS = 240
# How long a process waits for others where one of them fails.
_FAILING = {"HIRC_COMMUNICATION_SECONDS": "10"}
_CANNOT = "error: the processes cannot go on together: "


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rank", type=int, nargs="?", const=-1)
    parser.add_argument("--size", type=int)
    options = parser.parse_args()
    if options.rank is not None:
        one = options.rank < 0
        return _run_in_one(options.size) if one else _run(options.rank, options.size)
    wrong = 0
    for size in (2, 4):
        if size <= torch.cuda.device_count():
            wrong += _team(size)
        else:
            print(f"teams of {size}: not run, as there are {torch.cuda.device_count()} GPUs")
    return min(wrong + _failures(), 1)


def _team(size: int) -> int:
    """Runs all cases of a number of devices; returns how many differ, at least."""
    started = _start([[sys.executable, __file__, "--rank={}", f"--size={size}"]] * size, {})
    outputs = [_end(each) for each in started]
    command = [sys.executable, __file__, "--rank", f"--size={size}"]
    outputs += [_end(each) for each in _start([command], {"HIRC_COMMUNICATION_SECONDS": "60"})]
    print(outputs[0][1] + outputs[-1][1], end="", flush=True)
    for rank, (status, output, errors) in enumerate(outputs):
        if status:
            print(f"rank {rank}: status {status}\n{output}{errors[-2000:]}")
    return sum(status != 0 for status, _, _ in outputs)


def _start(commands: list[list[str]], more: dict[str, str]) -> list[subprocess.Popen[str]]:
    meeting = f"unix:hirc-team-{uuid.uuid4().hex}"
    return [
        subprocess.Popen(
            [word.format(rank) for word in command],
            env={
                **os.environ,
                "HIRC_RANK": str(rank),
                "HIRC_LOCAL_RANK": str(rank),
                "HIRC_WORLD_SIZE": str(len(commands)),
                "HIRC_LOCAL_WORLD_SIZE": str(len(commands)),
                "HIRC_RENDEZVOUS": meeting,
                **more,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, command in enumerate(commands)
    ]


def _end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        output, errors = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        errors += f"not done in {_SECONDS} s"
    return process.returncode, output, errors


def _run(rank: int, size: int) -> int:
    """Runs every case of `size` devices as one of them."""
    torch.cuda.set_device(rank)

    def differences(library: Any, case: dict[str, Any]) -> list[str]:
        given = getattr(library, case["program"])(*(each.cuda() for each in case["inputs"][rank]))
        torch.cuda.synchronize()
        return _differences(given, case, rank)

    return _run_cases(size, f"rank {rank}", hirc.load, differences)


def _run_in_one(size: int) -> int:
    """Runs every case of `size` devices as all of them."""

    def load(path: Path) -> Any:
        return hirc.load_team(path, range(size))

    def differences(team: Any, case: dict[str, Any]) -> list[str]:
        inputs = [
            tuple(each.to(f"cuda:{rank}") for each in case["inputs"][rank]) for rank in range(size)
        ]
        given = getattr(team, case["program"])(*inputs)
        for rank in range(size):
            torch.cuda.synchronize(rank)
        return [each for rank in range(size) for each in _differences(given[rank], case, rank)]

    return _run_cases(size, "one process", load, differences)


def _run_cases(
    size: int,
    who: str,
    load: Callable[[Path], Any],
    differences: Callable[[Any, dict[str, Any]], list[str]],
) -> int:
    wrong = 0
    libraries: dict[str, Any] = {}
    counts: dict[str, list[int]] = {}
    cases = torch.load(HERE / "cases.pt", weights_only=False)
    for case in (each for each in cases if each["size"] == size):
        name = case["library"]
        counted = counts.setdefault(name, [0, 0])
        counted[0] += len(case["names"])
        try:
            if name not in libraries:
                libraries[name] = load(HERE / f"{name}.so")
            found = differences(libraries[name], case)
        except Exception:  # noqa: BLE001  what fails is a result too
            found = [traceback.format_exc()]
        if found:
            print(f"{who}: {name} {case['program']}: {found[0]}", file=sys.stderr)
        counted[1] += len(found)
        wrong += len(found)
    for name, (number, differ) in counts.items():
        print(f"{name} on {size} GPUs, {who}: {number} results, {differ} wrong")
    return min(wrong, 1)


def _differences(given: Any, case: dict[str, Any], rank: int) -> list[str]:
    if isinstance(given, dict):
        given = [given[name] for name in case["names"]]
    if isinstance(given, torch.Tensor):
        given = [given]
    found: list[str] = []
    for name, value, wanted in zip(case["names"], given, case["expected"][rank], strict=True):
        value = value.cpu()
        if name in case["sums"]:
            # What others have is not here: their sum is compared where all are, on the CPU device.
            if value.shape != wanted.shape:
                found.append(f"{name}: {tuple(value.shape)} for {tuple(wanted.shape)}")
            continue
        bound = 0.0 if case["exact"] else 1e-3
        try:
            torch.testing.assert_close(value, wanted, rtol=bound, atol=bound, equal_nan=True)
        except AssertionError as error:
            found.append(f"{name}: {error}")
    return found


def _failures() -> int:
    """Returns how many wrong teams end otherwise than with an error of every process in time."""
    if torch.cuda.device_count() < 2:
        return 0
    small, other = "--input=4xf32=1", "--input=5xf32=1"
    program = str(HERE / "failing")
    cases = [
        (
            "another size on one rank",
            [[program, small, "--input=3"], [program, other, "--input=3"]],
            {},
        ),
        ("no NCCL", [[program, small, "--input=3"]] * 2, {"HIRC_NCCL": "/nowhere/libnccl.so"}),
        (
            "one that ends first",
            [[program, small, "--input=3"], [program, small, "--input=2"]],
            {},
        ),
        ("a killed process", [[program, small, "--input=2000000000"]] * 2, {}),
    ]
    wrong = 0
    for name, commands, more in cases:
        begin = time.monotonic()
        started = _start(commands, {**_FAILING, **more})
        if name == "a killed process":
            time.sleep(5)
            started[1].send_signal(signal.SIGKILL)
        ended = [_end(each) for each in started]
        seconds = time.monotonic() - begin
        told = [status != 0 and "error: " in errors for status, _, errors in ended]
        if name == "a killed process":
            told[1] = True
        if name == "one that ends first":
            told = [any(told)]
        first = next((errors for status, _, errors in ended if status > 0), "").splitlines()
        verdict = "right" if all(told) else "WRONG"
        print(f"{name}: {verdict}, {seconds:.1f} s: {' '.join(first)[:300]}", flush=True)
        if not all(told):
            print(ended)
        wrong += not all(told)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
