"""How long a build takes: hirc from .mlir to executable, and nvcc for the same kernel in CUDA.

`python -m hirc.tools.bench_compile`. Both are measured as whole processes, in turn (hirc, nvcc,
hirc, ...), after one warm-up each, and both make machine code for one chip and no PTX. The
programs are in bench_compile_programs/, each as .mlir and .cu. Without nvcc, hirc is measured
alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

from ..compiler.errors import HircError, InputError, ToolchainError
from ..compiler.process import Finished, Runner
from ..compiler.rendering import render
from ..compiler.toolchain import find_cuda

_PROGRAMS = Path(__file__).resolve().parent / "bench_compile_programs"
_ARCH = "sm_90"
# The line --time-report prints for a stage: seconds, share, name.
_STAGE = re.compile(r"^ *([\d.]+) +[\d.]+% +(.+)$", re.MULTILINE)
_TOTAL = "total"
_END = "exit"


@dataclass(frozen=True)
class Nvcc:
    """An nvcc, and the options its installation needs to link."""

    path: Path
    options: tuple[str, ...]
    version: str


@dataclass
class Times:
    """Seconds of each run, and of each stage in each run."""

    seconds: list[float] = field(default_factory=list[float])
    stages: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({min(self.seconds):.2f} to {max(self.seconds):.2f})"


@dataclass
class Measured:
    """One program's times. `nvcc` is None where there is none."""

    program: str
    hirc: Times
    nvcc: Times | None

    @property
    def ratio(self) -> float | None:
        return self.hirc.median / self.nvcc.median if self.nvcc is not None else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints. Returns the exit status."""
    options = _parse(arguments)
    try:
        nvcc = _find_nvcc(options.nvcc)
        print(_machine(nvcc))
        with tempfile.TemporaryDirectory(prefix="hirc-bench-") as folder:
            results = [
                _measure(_PROGRAMS / name, nvcc, options.runs, Path(folder))
                for name in options.programs or _program_names()
            ]
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    _print_table(results)
    _print_stages(results)
    if options.json is not None:
        data = {"machine": _machine(nvcc), "results": [asdict(result) for result in results]}
        options.json.write_text(json.dumps(data, indent=1) + "\n")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench_compile", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(_program_names()))
    parser.add_argument("--runs", type=int, default=7, help="timed runs of each (7)")
    parser.add_argument("--nvcc", metavar="PATH", help="the nvcc to compare with")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to a file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.programs) - set(_program_names()))
    if unknown:
        parser.error(f"no program '{unknown[0]}'; there are: {', '.join(_program_names())}")
    if options.runs < 1:
        parser.error("--runs takes 1 or more")
    return options


def _program_names() -> list[str]:
    return sorted(path.stem for path in _PROGRAMS.glob("*.mlir"))


def _find_nvcc(given: str | None) -> Nvcc | None:
    """Returns the nvcc named, or that on PATH, or the pip package's, if it runs."""
    if given is not None and shutil.which(given) is None:
        raise ToolchainError(f"nvcc not found: {given}")
    found = shutil.which(given or "nvcc")
    if found is not None:
        return Nvcc(Path(found), (), _nvcc_version(Path(found)))
    cuda = find_cuda()
    bundled = cuda.root / "bin" / "nvcc"
    if bundled.is_file() and shutil.which("g++") is not None:
        # The pip packages' libraries are where this nvcc does not look, and one is not in them.
        options = (f"-L{cuda.libraries}", "-cudadevrt", "none")
        return Nvcc(bundled, options, _nvcc_version(bundled))
    return None


def _nvcc_version(path: Path) -> str:
    match = re.search(r"V(\d+\.\d+\.\d+)", Runner().run([path, "--version"]).output)
    if match is None:
        raise ToolchainError(f"{path} is not nvcc: it prints no version")
    return match[1]


def _measure(program: Path, nvcc: Nvcc | None, runs: int, folder: Path) -> Measured:
    source, output = program.with_suffix(".mlir"), folder / program.name
    ours: list[str | Path] = [sys.executable, "-m", f"{__package__}.hirc", source, "-o", output]
    ours += [f"--offload-arch={_ARCH}", "--time-report"]
    theirs: list[str | Path] = []
    if nvcc is not None:
        chip = _ARCH.removeprefix("sm_")
        theirs = [nvcc.path, "-gencode", f"arch=compute_{chip},code={_ARCH}", *nvcc.options]
        theirs += [program.with_suffix(".cu"), "-o", folder / f"{program.name}-nvcc"]
    result = Measured(program.name, Times(), Times() if nvcc is not None else None)
    for run in range(runs + 1):
        seconds, done = _timed(ours)
        if run > 0:
            _add(result.hirc, seconds, done.errors)
        if result.nvcc is not None:
            seconds, _ = _timed(theirs)
            if run > 0:
                result.nvcc.seconds.append(seconds)
    return result


def _timed(command: Sequence[str | Path]) -> tuple[float, Finished]:
    begin = perf_counter()
    done = Runner().run(command)
    seconds = perf_counter() - begin
    if done.status != 0:
        raise InputError(f"{command[0]} failed: {done.errors.strip()}")
    return seconds, done


def _add(times: Times, seconds: float, report: str) -> None:
    times.seconds.append(seconds)
    stages = {name: float(value) for value, name in _STAGE.findall(report)}
    reported = stages.pop(_TOTAL)
    for name, value in {**stages, _END: seconds - reported}.items():
        times.stages.setdefault(name, []).append(value)


def _machine(nvcc: Nvcc | None) -> str:
    load = os.getloadavg()[0]
    against = f"nvcc {nvcc.version}" if nvcc else "no nvcc on PATH (--nvcc names one): ours alone"
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load {load:.1f} "
        f"at the start; Python {platform.python_version()}; {against}; machine code for {_ARCH}"
    )


def _print_table(results: Sequence[Measured]) -> None:
    def nvcc_column(result: Measured) -> str:
        return str(result.nvcc) if result.nvcc is not None else "-"

    def ratio_column(result: Measured) -> str:
        return f"{result.ratio:.2f}" if result.ratio is not None else "-"

    columns: list[tuple[str, Callable[[Measured], str]]] = [
        ("program", lambda result: result.program),
        ("hirc", lambda result: str(result.hirc)),
        ("nvcc", nvcc_column),
        ("hirc/nvcc", ratio_column),
    ]
    rows = [[title for title, _ in columns]]
    rows += [[cell(result) for _, cell in columns] for result in results]
    runs = len(results[0].hirc.seconds)
    print(f"\nseconds from source to executable: median (least to most) of {runs} runs")
    _print_rows(rows)


def _print_stages(results: Sequence[Measured]) -> None:
    rows = [["stage", *(result.program for result in results)]]
    for name in dict.fromkeys(name for result in results for name in result.hirc.stages):
        cells = [_share(result.hirc, name) for result in results]
        rows.append([name, *cells])
    print("\nwhere hirc's time goes: milliseconds (share of the whole), medians")
    _print_rows(rows)


def _share(times: Times, name: str) -> str:
    if name not in times.stages:
        return "-"
    seconds = statistics.median(times.stages[name])
    return f"{1000 * seconds:.0f} ({seconds / times.median:.0%})"


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join([f"{first:<{widths[0]}}", *cells]))


if __name__ == "__main__":
    sys.exit(main())
