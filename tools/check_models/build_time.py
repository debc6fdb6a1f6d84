"""How long hirc and torch's AOTInductor take to make a library of a network: for this machine, or
for a GPU, which AOTInductor has to have.

Each build has a process of its own, `python -m hirc.tools.check_models.build_time hirc ASKED.json`.
Importing torch and making the network come before the measurement, export comes within.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from ...compiler.collection import seldom_collected
from .catalogue import chosen, described, made


def _hirc(model: nn.Module, inputs: tuple[Any, ...], shapes: Any, arch: str, folder: Path) -> None:
    # As where a model is compiled.
    with seldom_collected():
        from ...compiler.driver import Compilation
        from ...compiler.options import Emit, Options
        from ...compiler.target import Target
        from ...frontends.torch.import_model import import_model

    options = Options(
        inputs=("net",),
        output=str(folder / "net.so"),
        emit=Emit.SHARED,
        targets=(Target.parse(arch),),
    )
    imported = import_model(model, inputs, dynamic_shapes=shapes)
    Compilation(options, given={"net": imported.source("net")}).run()


def _inductor(
    model: nn.Module, inputs: tuple[Any, ...], shapes: Any, arch: str, folder: Path
) -> None:
    # Nothing of an earlier run is used, and processes that nobody waits for are not counted.
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "cache")
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    if arch != "cpu":
        model = model.cuda()
        inputs = tree_map_only(torch.Tensor, lambda tensor: tensor.cuda(), inputs)
    with torch.no_grad():
        program = torch.export.export(model, inputs, dynamic_shapes=shapes)
        compile_program = torch._inductor.aoti_compile_and_package  # pyright: ignore[reportPrivateUsage]
        compile_program(program, package_path=str(folder / "net.pt2"))


_CONTENDERS = {"hirc": _hirc, "inductor": _inductor}


def measure(parts: str, *, tiny: bool, arch: str, timeout: float) -> int:
    """Prints a row for each network. Returns the exit status: 1 where one could not be built."""
    print(f"{'processor s (clock s)':<24}{'hirc':>16}{'AOTInductor':>16}", flush=True)
    failed = 0
    for network in chosen(parts, []):
        cells: list[str] = []
        for contender in _CONTENDERS:
            asked = {"name": network.name, "tiny": tiny, "dtype": None, "arch": arch}
            taken = _measured(contender, asked, timeout)
            failed += taken is None
            cells.append(
                "failed" if taken is None else "{processors:.1f} ({clock:.1f})".format(**taken)
            )
        print(f"{network.name:<24}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    return 1 if failed else 0


def _measured(contender: str, asked: dict[str, Any], timeout: float) -> dict[str, float] | None:
    name = asked["name"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "asked.json"
        file.write_text(json.dumps(asked))
        command = [sys.executable, "-m", "hirc.tools.check_models.build_time", contender, file]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{name}: {contender} is not done after {timeout:g} s", file=sys.stderr)
            return None
    if done.returncode != 0:
        print(f"{name}: {contender}: {done.stderr.strip()[-500:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main(contender: str, asked: Path) -> int:
    """Builds, and prints seconds: of processors, in all processes, and of the clock."""
    build = _CONTENDERS[contender]
    description = json.loads(asked.read_text())
    model, inputs = made(description, asked.parent)
    open_sizes = described(description, asked.parent).open_sizes
    shapes = None if open_sizes is None else open_sizes(description["tiny"])
    with tempfile.TemporaryDirectory() as folder:
        began, processors = perf_counter(), _processor_seconds()
        build(model, inputs, shapes, description["arch"], Path(folder))
        taken = {"processors": _processor_seconds() - processors, "clock": perf_counter() - began}
    print(json.dumps(taken))
    return 0


def _processor_seconds() -> float:
    """Returns what this process and those that it has waited for have taken of processors."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
