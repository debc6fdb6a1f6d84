"""Runs what on_gpu.py built on this machine's GPU, and compares it with torch in float64.

Prints a line for every program; the exit status is 1 where anything differs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import torch

HERE = Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE))

from schedules.harness import Run  # noqa: E402
from schedules.run_calls import call  # noqa: E402
from schedules.suites_on_gpu import find_suites  # noqa: E402

import hirc  # noqa: E402


def check(library: hirc.Library, run: Run) -> str | None:
    """What is wrong with what a program gives; None for nothing."""
    inputs, rooms = run.inputs(), run.rooms()
    outputs = [room.tensor for room in rooms]
    moved = [on_device(each) if isinstance(each, torch.Tensor) else each for each in inputs]
    results = [on_device(each) for each in outputs]
    try:
        call(library, run.compiled_name, moved, results, run.returns)
        torch.cuda.synchronize()
        for output, result in zip(outputs, results, strict=True):
            output.untyped_storage().copy_(result.untyped_storage())
        run.compare(inputs, rooms, on_gpu=True)
    except (AssertionError, RuntimeError) as error:
        return str(error)
    return None


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor on the GPU with all of the memory that it is part of, guards too."""
    whole = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
    moved = whole.cuda().view(tensor.dtype)
    return moved.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def main(names: Sequence[str]) -> int:
    print(torch.cuda.get_device_name(0))
    count = wrong = 0
    for suite_name, suite in find_suites(names):
        path = HERE / f"{suite_name}.so"
        if not path.exists():
            continue
        library = hirc.load(path)
        for name in suite.names:
            runs = list(suite.runs(name))
            found = [message for run in runs if (message := check(library, run)) is not None]
            count, wrong = count + len(runs), wrong + len(found)
            print(f"{suite_name} {name}: {len(runs)} runs, {len(found)} wrong", flush=True)
            for message in found[:3]:
                print(f"  {message}"[:300], flush=True)
    print(f"{count} runs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
