"""How fast the CPU device is: launches, a saxpy, and a block reduction, beside plain C loops.

`python -m hirc.tools.bench_cpu_device`. The kernels and the C that times them are in
bench_cpu_device_programs/; both are built with -O3. The saxpy is compared with the same loop that
clang compiled for the same number of threads, the reduction with its serial loop. What is compared
runs in turn in one process. On a machine that is busy only the ratios mean something.
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
from ..compiler.target import CPU
from ..compiler.toolchain import ClangSearch

_PROGRAMS = Path(__file__).resolve().parent / "bench_cpu_device_programs"
_LAUNCHES = 10_000
_ELEMENTS = 1 << 24
_SAXPY_BYTES = 3 * 4 * _ELEMENTS  # two arrays read, one written


@dataclass(frozen=True)
class Row:
    """A measurement beside what it is measured against: medians in seconds."""

    name: str
    ours: float
    theirs: float | None
    unit: str

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs is not None else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds, measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="bench_cpu_device", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="timed runs of each (9)")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads (all there are)"
    )
    options = parser.parse_args(arguments)
    if options.runs < 1 or options.threads < 1:
        parser.error("--runs and --threads take 1 or more")
    try:
        with tempfile.TemporaryDirectory(prefix="hirc-bench-") as folder:
            program = _build(Path(folder))
            print(
                f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load "
                f"{os.getloadavg()[0]:.1f} at the start; medians of {options.runs} runs"
            )
            for threads in dict.fromkeys((1, options.threads)):
                _print(threads, _rows(_measure(program, options.runs, threads)))
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    return 0


def _build(folder: Path) -> Path:
    # Imported late: MLIR and LLVM take time to load, and --help needs neither.
    from ..compiler.driver import Compilation

    search = ClangSearch(None)
    try:
        clang = search.result().path
    finally:
        search.close()
    timing, program = folder / "main.o", folder / "bench"
    done = Runner().run([clang, "-O3", "-c", _PROGRAMS / "main.c", "-o", timing])
    if done.status != 0:
        raise ToolchainError(f"clang cannot compile {_PROGRAMS / 'main.c'}: {done.errors.strip()}")
    kernels = folder / "kernels.o"
    Compilation(
        Options(
            inputs=(str(_PROGRAMS / "kernels.mlir"),),
            output=str(kernels),
            emit=Emit.OBJECT,
            targets=(CPU,),
            opt_level=3,
        )
    ).run()
    Compilation(
        Options(
            inputs=(),
            link_inputs=(str(kernels), str(timing)),
            output=str(program),
            targets=(CPU,),
        )
    ).run()
    return program


def _measure(program: Path, runs: int, threads: int) -> dict[str, float]:
    """Median seconds of each measurement."""
    variable = f"HIRC_CPU_THREADS={threads}"
    done = Runner().run(["env", variable, program, str(runs), str(threads)])
    if done.status != 0:
        raise ToolchainError(f"the benchmark failed: {done.errors.strip()}")
    lines = (line.split() for line in done.output.splitlines())
    return {name: statistics.median(map(float, seconds)) for name, *seconds in lines}


def _rows(seconds: dict[str, float]) -> list[Row]:
    return [
        Row("10,000 empty launches in a queue", seconds["empty_queued"], None, "launch"),
        Row("10,000 empty launches, each awaited", seconds["empty_waited"], None, "launch"),
        Row("saxpy, 64 MiB arrays", seconds["saxpy"], seconds["saxpy_loop"], "saxpy"),
        Row("sums of 65,536 blocks of 256", seconds["block_sums"], seconds["block_sums_loop"], "s"),
    ]


def _shown(seconds: float, unit: str) -> str:
    if unit == "launch":
        return f"{1e6 * seconds / _LAUNCHES:.2f} us each"
    if unit == "saxpy":
        return f"{1e3 * seconds:.2f} ms ({_SAXPY_BYTES / seconds / 1e9:.1f} GB/s)"
    return f"{1e3 * seconds:.2f} ms"


def _print(threads: int, rows: Sequence[Row]) -> None:
    print(f"\n{threads} thread{'s' if threads > 1 else ''}")
    print(f"  {'':<36} {'CPU device':>24} {'clang -O3 loop':>24} {'times':>7}")
    for row in rows:
        theirs = _shown(row.theirs, row.unit) if row.theirs is not None else "-"
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else "-"
        print(f"  {row.name:<36} {_shown(row.ours, row.unit):>24} {theirs:>24} {ratio:>7}")


if __name__ == "__main__":
    sys.exit(main())
