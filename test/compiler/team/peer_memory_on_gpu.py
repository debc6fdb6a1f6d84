"""Builds programs of memory that peers share, and what they are to give, for machines with GPUs.

    cd test && ../.venv/bin/python -m compiler.team.peer_memory_on_gpu FOLDER [--arch=sm_90a]
    python3 FOLDER/run.py [--devices N]                         # on the GPU machine

Teams are of 1 to 4 devices; those that are larger than the machine are left out. The second part
needs NCCL, which torch brings, and nothing of hirc.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hirc import program as build
from hirc.compiler.interpreter import interpret_team
from hirc.dialects.hir.builder import Program
from hirc.tools.hirc import main as hirc

from .peer_programs import OUTPUTS, Case, endless, exchanges

_SIZES = (1, 2, 3, 4)
_SEEDS = 4
# How often a program that is timed does the same.
COUNT = 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90a")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).parent / "run_peer_memory.py", folder / "run.py")
    cases = [case for size in _SIZES for case in _exchanges(folder, size, options.arch)]
    _compile(endless(), folder, "endless", options.arch)
    for size in _SIZES[1:]:
        for what in ("put", "get", "barrier", "allocate", "send-recv"):
            _compile(_timed(what, size), folder, f"{what}-{size}", options.arch)
    (folder / "about.json").write_text(json.dumps({"cases": cases, "count": COUNT}, indent=1))
    return 0


def _exchanges(folder: Path, size: int, arch: str) -> list[dict[str, Any]]:
    """Builds the program for a team of that size; returns its cases, whose files it writes."""
    program = exchanges(size)
    _compile(program, folder, f"exchanges-{size}", arch)
    cases: list[dict[str, Any]] = []
    for seed in range(_SEEDS):
        case = Case.of(seed, size)
        inputs = [[torch.from_numpy(each), *case.numbers.values()] for each in case.values]
        for rank, given in enumerate(interpret_team(program, inputs)):
            np.save(folder / f"x-{size}-{seed}.{rank}.npy", case.values[rank])
            for name, tensor in zip(OUTPUTS, given, strict=True):
                tensor.numpy().tofile(folder / f"{name}-{size}-{seed}.{rank}.expected")
        cases.append(
            {"size": size, "seed": seed, "numbers": case.numbers, "outputs": list(OUTPUTS)}
        )
    return cases


def _timed(what: str, size: int) -> Program:
    """Returns a program that does the same COUNT times, with the next device of a ring."""
    with build("main") as p:
        team = p.communicator(list(range(size)))
        x = p.input("x", ("n",), "f32")
        rank, n = p.rank(team), x.shape[0]
        after, before = (rank + 1) % size, (rank + size - 1) % size
        y = p.allocate((n,), "f32")
        shared = p.allocate((n,), "f32", memory="symmetric", team=team)
        p.set(x, out=shared)
        p.barrier(shared)
        for _ in range(COUNT):
            if what == "put":
                p.put(x, shared, after, signal=True).wait()
                p.wait_signal(shared, before)
            elif what == "get":
                p.get(shared, y, after).wait()
            elif what == "barrier":
                p.barrier(shared)
            elif what == "allocate":
                fresh = p.allocate((n,), "f32", memory="symmetric", team=team)
                p.barrier(fresh)
            else:
                p.communicate("send-recv", x, y, team, peers=(after, before)).wait()
        p.barrier(shared)
        p.output("y", (shared if what != "get" else y)[0:1] + 0.0)
    return p


def _compile(program: Program, folder: Path, name: str, arch: str) -> None:
    source = folder / f"{name}.mlir"
    source.write_text(str(program))
    words = [str(source), f"--offload-arch={arch}", "-O3", "-o", str(folder / name)]
    if hirc(words) != 0:
        raise SystemExit(f"{name} was not built")


if __name__ == "__main__":
    sys.exit(main())
