"""Builds every suite that runs on a GPU into one folder, to be run there.

    cd test && ../.venv/bin/python -m on_gpu ../build/gpu [suite ...]
    python3 build/gpu/run.py [suite ...]                       # on the GPU machine

The second part needs torch on the GPU machine, and nothing of hirc. `make check-gpu` does both, on
a machine that has all. LLVM's GPU integration programs are a suite where `HIRC_UPSTREAM_PROGRAMS`
names their folder. What a suite's build says is in SUITE.build.log beside its folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from schedules.suites_on_gpu import FILES as SCHEDULES

HERE = Path(__file__).parent
_ELEMENTS = ("f32", "bf16")


@dataclass(frozen=True)
class Suite:
    """A module that builds into the folder that `FOLDER` stands for, and what runs it there."""

    name: str
    build: tuple[str, ...]
    run: tuple[str, ...] = ("run.py",)

    def command(self, folder: Path) -> list[str]:
        words = [str(folder / self.name) if word == "FOLDER" else word for word in self.build]
        return [sys.executable, "-m", *words]


def suites(environment: Mapping[str, str] = os.environ) -> Iterator[Suite]:
    """Yields every suite; one of schedules for each of its files, as these build side by side."""
    yield Suite("programs", ("programs.on_gpu", "build", "FOLDER"))
    yield Suite("offload", ("offload.on_gpu", "FOLDER"))
    yield Suite("library-products", ("host_ir.matmul_on_gpu", "FOLDER"))
    yield Suite("library-convolutions", ("products.convolutions_on_gpu", "FOLDER"))
    for element in _ELEMENTS:
        yield Suite(f"host-ir-{element}", ("host_ir.on_gpu", "FOLDER", element))
    # Teams that are larger than the machine are left out.
    yield Suite("peer-memory", ("compiler.team.peer_memory_on_gpu", "FOLDER"))
    run = ("checks.py", "--device", "cuda", "--calls", "300000")
    yield Suite("calls", ("calls.programs", "FOLDER"), run)
    yield Suite("team", ("compiler.team.on_gpu", "FOLDER"))
    for file in (*SCHEDULES, "more_random"):
        yield Suite(f"schedules-{file}", ("schedules.on_gpu", "FOLDER", file), ("run.py", file))
    if upstream := environment.get("HIRC_UPSTREAM_PROGRAMS"):
        folder = str(Path(upstream).resolve())
        yield Suite("upstream", ("upstream.build", folder, "FOLDER", "gpu"))


def build(folder: Path, names: Sequence[str]) -> int:
    """Builds the suites of those names, or all, side by side; the number that failed."""
    chosen = [suite for suite in suites() if not names or suite.name in names]
    if missing := set(names) - {suite.name for suite in chosen}:
        known = ", ".join(suite.name for suite in suites())
        raise SystemExit(f"no suite {', '.join(sorted(missing))}; there are {known}")
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(partial(_build, folder), chosen))
    runs = {suite.name: suite.run for suite, done in zip(chosen, built, strict=True) if done}
    (folder / "suites.json").write_text(json.dumps(runs, indent=1))
    shutil.copy(HERE / "run_on_gpu.py", folder / "run.py")
    return built.count(False)


def _build(folder: Path, suite: Suite) -> bool:
    log = folder / f"{suite.name}.build.log"
    with log.open("w") as written:
        done = subprocess.run(
            suite.command(folder), cwd=HERE, stdout=written, stderr=subprocess.STDOUT, check=False
        )
    print(f"{'NOT BUILT' if done.returncode else 'built'}  {suite.name}  {log}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(min(build(Path(sys.argv[1]).resolve(), sys.argv[2:]), 1))
