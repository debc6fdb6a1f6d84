"""What the host side of a program costs: its shape code, and a call that launches one kernel.

`python -m hirc.tools.bench_host`. The programs and the C that times them are in
bench_host_programs/; all is built with -O3. The shape code runs with a CUDA runtime that does
nothing, so what is left is the program's own; beside it is the same integer code in C. What is
compared runs in turn in one process.

`--gpu CHIP --keep FOLDER` builds programs for a GPU: of 1, 10 and 100 kernels, of one and ten
operations on tensors, of an MLP block, and of models whose tensors are in containers. There,
`python calls.py --json F.json` in the folder times calls of them from C and from Python, beside
launches in C, a graph made by hand, and torch. It needs torch, and only the part of hirc that is in
the folder; where hirc is installed, it also times programs compiled into the process.
`--chart F.json -o F.png` draws the results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..compiler.errors import HircError, InputError, ToolchainError
from ..compiler.options import Emit, Graphs, Options
from ..compiler.process import Runner
from ..compiler.rendering import render
from ..compiler.target import CPU, Target
from ..compiler.toolchain import ClangSearch
from .carried_folder import copy_loader

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
# Kernels of the programs whose launches are timed.
_CHAINS = (1, 10, 100)
_FOR_GPU = ("calls.py", "models.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds, measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="bench_host", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="timed runs of each (9, 64 at most)")
    parser.add_argument(
        "--gpu",
        metavar="CHIP",
        help="build the calls for a GPU into --keep, and run nothing: sm_90",
    )
    parser.add_argument("--keep", type=Path, help="keep what is built in this folder")
    parser.add_argument("--graph", default="auto", choices=[str(each) for each in Graphs])
    parser.add_argument("--chart", type=Path, metavar="JSON", help="draw what calls.py wrote")
    parser.add_argument("-o", "--output", type=Path, help="the picture: .png, .svg")
    options = parser.parse_args(arguments)
    if not 1 <= options.runs <= 64:
        parser.error("--runs takes 1 to 64")
    if options.gpu and not options.keep:
        parser.error("--gpu needs --keep")
    if options.chart and not options.output:
        parser.error("--chart needs -o")
    try:
        if options.chart:
            draw(options.chart, options.output)
        elif options.gpu:
            build_calls(options.keep, Target.parse(options.gpu), options.graph)
            build_models(options.keep, Target.parse(options.gpu), options.graph)
        else:
            with tempfile.TemporaryDirectory(prefix="hirc-bench-") as scratch:
                folder: Path = options.keep or Path(scratch)
                folder.mkdir(parents=True, exist_ok=True)
                _run_shapes(folder, options.runs)
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    return 0


def _run_shapes(folder: Path, runs: int) -> None:
    shapes = _compiled("allocation", folder / "allocation.o", Emit.OBJECT, CPU)
    # With its own CUDA calls, which do nothing: the program is not linked with a CUDA runtime.
    _clang("-O3", _PROGRAMS / "allocation.c", shapes, "-o", folder / "allocation")
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load "
        f"{os.getloadavg()[0]:.1f} at the start; medians of {runs} runs"
    )
    print(f"  {'':<40} {'hirc':>12} {'C -O3':>12}")
    _print(_SHAPES, _measure([str(folder / "allocation"), str(runs), "1000000"]))


def build_calls(folder: Path, chip: Target, graph: str = "auto") -> None:
    """Builds the programs whose calls are timed, and what times them. Raises HircError."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "chain.mlir"
    source.write_text(_KERNEL + "".join(map(_chain, _CHAINS)))
    kernel = folder / "kernel.mlir"
    kernel.write_text(_KERNEL)
    _compiled(source, folder / "libcalls.so", Emit.SHARED, chip, graph)
    _compiled(kernel, folder / "chain.ptx", Emit.PTX, chip)
    launches = _compiled(source, folder / "chain.o", Emit.OBJECT, chip, graph)
    timing = folder / "timing.o"
    _clang("-O3", "-c", _PROGRAMS / "calls.c", "-o", timing)
    from ..compiler.driver import Compilation

    Compilation(
        Options(
            inputs=(),
            link_inputs=(str(launches), str(timing)),
            output=str(folder / "calls"),
            targets=(chip,),
        )
    ).run()
    for name in _FOR_GPU:
        shutil.copy(_PROGRAMS / name, folder)
    copy_loader(folder)
    for path in (launches, timing, kernel):
        path.unlink()


def build_models(folder: Path, chip: Target, graph: str = "auto") -> None:
    """Builds the functions on tensors. Raises HircError."""
    import torch
    from torch.export import Dim

    from ..compiler.compile_program import compile as compile_program
    from .bench_host_programs.models import (
        CONTAINED,
        FUNCTIONS,
        OPEN,
        SIZES,
        TYPES,
        contained,
        containers,
    )

    for name, function in FUNCTIONS.items():
        tensors = [
            torch.empty(sizes, device="meta", dtype=TYPES.get(name)) for sizes in SIZES[name]
        ]
        rows = Dim("rows", min=2, max=4096)
        shapes = tuple({0: rows} if i < OPEN[name] else None for i in range(len(tensors)))
        artifact = compile_program(
            function, tensors, dynamic_shapes=shapes, target=chip.arch, opt_level=3, graph=graph
        )
        artifact.save(folder / f"lib{name}.so")
    for count in CONTAINED:
        given = contained([torch.empty((8, 64), device="meta")] * count)
        artifact = compile_program(containers, (given,), target=chip.arch, opt_level=3, graph=graph)
        artifact.save(folder / f"libcontainers{count}.so")


_KERNEL = """\
gpu.module @kernels {
  gpu.func @add_one(%x: memref<?xf32, strided<[?], offset: ?>>,
                    %y: memref<?xf32, strided<[?], offset: ?>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %zero = arith.constant 0 : index
    %number = arith.constant 1.0 : f32
    %n = memref.dim %x, %zero : memref<?xf32, strided<[?], offset: ?>>
    %block = gpu.block_id x
    %threads = gpu.block_dim x
    %thread = gpu.thread_id x
    %before = arith.muli %block, %threads : index
    %i = arith.addi %before, %thread : index
    %inside = arith.cmpi ult, %i, %n : index
    scf.if %inside {
      %v = memref.load %x[%i] : memref<?xf32, strided<[?], offset: ?>>
      %w = arith.addf %v, %number : f32
      memref.store %w, %y[%i] : memref<?xf32, strided<[?], offset: ?>>
    }
    gpu.return
  }
}
"""


def _chain(count: int) -> str:
    """Returns a program that launches the kernel so many times, the last ones in place."""
    buffer = "memref<?xf32, strided<[?], offset: ?>>"
    launches = "".join(
        f"""\
  "hir.launch"(%blocks, %one, %one, %threads, %one, %one, %zero) ({{
    "hir.argument"({"%x" if i == 0 else "%y"}) : ({buffer}) -> ()
    "hir.argument"(%y) : ({buffer}) -> ()
  }}) {{kernel = @kernels::@add_one}} : (index, index, index, index, index, index, index) -> ()
"""
        for i in range(count)
    )
    return f"""\
"hir.program"() ({{
^bb0(%x: {buffer}):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %n = memref.dim %x, %zero : {buffer}
  %blocks = arith.ceildivui %n, %threads : index
  %y = "hir.allocate"(%n) {{output = 0 : i64}} : (index) -> {buffer}
{launches}\
  "hir.output"(%y) {{name = "y"}} : ({buffer}) -> ()
}}) {{sym_name = "chain{count}", inputs = [{{name = "x", sizes = ["n"]}}],
    function_type = ({buffer}) -> memref<?xf32>}} : () -> ()
"""


def draw(figures: Path, picture: Path) -> None:
    """Draws the medians and 99th percentiles that calls.py wrote. Raises HircError."""
    from .bench_kernels.chart import pyplot

    try:
        report = json.loads(figures.read_text())
        rows = [row for row in report["rows"] if row["shapes"] == "fixed"]
        names = [f"{row['program']}, {row['who']}, {row['outputs']}" for row in rows]
        medians, most = [row["median"] for row in rows], [row["p99"] for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{figures} holds no figures of calls.py: {error}") from error
    canvas, axes = pyplot().subplots(figsize=(9, 1 + 0.2 * len(rows)))
    places = range(len(rows))
    axes.barh(places, most, height=0.8, label="99th percentile", color="#c9c9c9")
    axes.barh(places, medians, height=0.8, label="median", color="#1f5fa8")
    axes.set_yticks(places, names, fontsize=6)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.legend(fontsize=7)
    axes.set_xlabel("microseconds of the host a call")
    canvas.suptitle(f"{report['machine'].get('chip', '')}, {report['machine'].get('date', '')}")
    canvas.tight_layout()
    canvas.savefig(picture, dpi=110)


def _compiled(
    source: str | Path, output: Path, emit: Emit, target: Target, graph: str = "auto"
) -> Path:
    path = source if isinstance(source, Path) else _PROGRAMS / f"{source}.mlir"
    # Imported late: MLIR and LLVM take time to load, and --help needs neither.
    from ..compiler.driver import Compilation

    Compilation(
        Options(
            inputs=(str(path),),
            output=str(output),
            emit=emit,
            targets=(target,),
            opt_level=3,
            graphs=Graphs(graph),
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
