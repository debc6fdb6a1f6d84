"""What the host side of a program costs: its shape code, and a call that launches one kernel.

`python -m hirc.tools.bench_host`. The programs and the C that times them are in
bench_host_programs/; all is built with -O3. The shape code runs with a CUDA runtime that does
nothing, so what is left is the program's own; beside it is the same integer code in C. With
`--gpu`, calls of a one-kernel program are timed on the machine's GPU, beside launches in C of the
same kernel. What is compared runs in turn in one process.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..compiler.errors import HircError, ToolchainError
from ..compiler.options import Emit, Options
from ..compiler.process import Runner
from ..compiler.rendering import render
from ..compiler.target import CPU, Target
from ..compiler.toolchain import ClangSearch

_PROGRAMS = Path(__file__).resolve().parent / "bench_host_programs"


@dataclass(frozen=True)
class Row:
    """A measurement and what it is measured against, by their names in the program's output."""

    text: str
    ours: str
    theirs: str


_SHAPES = (
    Row("shape code, allocation and free", "many", "by_hand"),
    Row("a call of a program that allocates", "described", "by_hand"),
)
_LAUNCHES = (
    Row("a call of a program with one kernel", "program", "launch"),
    Row("the same, the output allocated", "allocating", "launch_allocating"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds, measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="bench_host", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="timed runs of each (9, 64 at most)")
    parser.add_argument(
        "--gpu", metavar="CHIP", help="time launches too, on this machine's GPU of that kind: sm_90"
    )
    parser.add_argument("--keep", type=Path, help="keep what is built in this folder")
    parser.add_argument("--build-only", action="store_true", help="build, and run nothing")
    options = parser.parse_args(arguments)
    if not 1 <= options.runs <= 64:
        parser.error("--runs takes 1 to 64")
    try:
        with tempfile.TemporaryDirectory(prefix="hirc-bench-") as scratch:
            folder: Path = options.keep or Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            chip = Target.parse(options.gpu) if options.gpu else None
            programs = _build_all(folder, chip)
            if options.build_only:
                return 0
            print(
                f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load "
                f"{os.getloadavg()[0]:.1f} at the start; medians of {options.runs} runs"
            )
            print(f"  {'':<40} {'hirc':>12} {'C -O3':>12}")
            for rows, command in programs:
                _print(rows, _measure([command[0], str(options.runs), *command[1:]]))
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    return 0


def _build_all(folder: Path, chip: Target | None) -> list[tuple[Sequence[Row], list[str]]]:
    """The rows of each program and the words that run it, but for the number of runs."""
    shapes = _object("allocation", folder, CPU)
    # With its own CUDA calls, which do nothing: the program is not linked with a CUDA runtime.
    _clang("-O3", _PROGRAMS / "allocation.c", shapes, "-o", folder / "allocation")
    programs: list[tuple[Sequence[Row], list[str]]] = [
        (_SHAPES, [str(folder / "allocation"), "1000000"])
    ]
    if chip is None:
        return programs
    kernel = _compiled("launch", folder / "launch.ptx", Emit.PTX, chip)
    launches = _object("launch", folder, chip)
    timing = folder / "launch_timing.o"
    _clang("-O3", "-c", _PROGRAMS / "launch.c", "-o", timing)
    from ..compiler.driver import Compilation

    Compilation(
        Options(
            inputs=(),
            link_inputs=(str(launches), str(timing)),
            output=str(folder / "launch"),
            targets=(chip,),
        )
    ).run()
    return [*programs, (_LAUNCHES, [str(folder / "launch"), "50", str(kernel)])]


def _object(name: str, folder: Path, target: Target) -> Path:
    return _compiled(name, folder / f"{name}.o", Emit.OBJECT, target)


def _compiled(name: str, output: Path, emit: Emit, target: Target) -> Path:
    # Imported late: MLIR and LLVM take time to load, and --help needs neither.
    from ..compiler.driver import Compilation

    Compilation(
        Options(
            inputs=(str(_PROGRAMS / f"{name}.mlir"),),
            output=str(output),
            emit=emit,
            targets=(target,),
            opt_level=3,
        )
    ).run()
    return output


def _clang(*words: str | Path) -> None:
    search = ClangSearch(None)
    try:
        clang = search.result().path
    finally:
        search.close()
    done = Runner().run([clang, "-fno-builtin", *words])
    if done.status != 0:
        raise ToolchainError(f"clang cannot build the benchmark: {done.errors.strip()}")


def _measure(command: list[str]) -> dict[str, float]:
    """Median seconds of each measurement."""
    done = Runner().run(command)
    if done.status != 0:
        raise ToolchainError(f"the benchmark failed: {done.errors.strip()}")
    lines = (line.split() for line in done.output.splitlines())
    return {name: statistics.median(map(float, seconds)) for name, *seconds in lines}


def _print(rows: Sequence[Row], seconds: dict[str, float]) -> None:
    for row in rows:
        ours, theirs = seconds[row.ours], seconds[row.theirs]
        print(f"  {row.text:<40} {_shown(ours):>12} {_shown(theirs):>12}")


def _shown(seconds: float) -> str:
    return f"{1e9 * seconds:.1f} ns" if seconds < 1e-6 else f"{1e6 * seconds:.2f} us"


if __name__ == "__main__":
    sys.exit(main())
