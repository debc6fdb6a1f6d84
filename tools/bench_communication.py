"""What communications take, and products hide: `python -m hirc.tools.bench_communication`.

Builds a program of eight communications for each kind, and products of large matrices whose rows
are gathered before, or whose sums are scattered after: the communication alone, the product alone,
one after the other, and overlapped in several numbers of steps and in the one that the compiler
chooses. Then `run.py` runs them as one process a device and prints bus bandwidths and what is
hidden, beside torch.distributed of the same run where torch is there.

With `--keep FOLDER --build-only` all is left in the folder, for a machine that has nothing of hirc:
`python FOLDER/run.py --json figures.json`. There `block.py` runs a transformer's block too, beside
torch's: `torchrun --standalone --nproc-per-node=N FOLDER/block.py`.

`--chart=figures.json -o figures.png` draws what was measured, `--timeline=trace.json -o trace.png`
what the streams of a team did (HIRC_TRACE).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import program as build
from ..compiler.errors import HircError
from ..compiler.options import Emit, Options
from ..compiler.rendering import render
from ..compiler.target import Target
from ..dialects.hir.builder import Program
from .bench_communication_programs.block import MODEL
from .carried_folder import copy_loader

_PROGRAMS = Path(__file__).resolve().parent / "bench_communication_programs"
# Communications of one program, after one another: what a call takes besides is shared by all.
COUNT = 8
_REDUCTION = {"allreduce": "sum", "reduce-scatter": "sum"}
_KINDS = ("allreduce", "allgather", "reduce-scatter", "broadcast", "all-to-all")
_STEPS = (2, 4, 8)
# Of the transformer's block: what is chosen, and one.
_BLOCK_STEPS = (0, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds and, unless asked not to, runs. Returns the exit status."""
    options = _parse(arguments)
    if options.chart or options.timeline:
        return _draw(options)
    kept = Path(options.keep) if options.keep else None
    with tempfile.TemporaryDirectory(prefix="hirc-bench-") as temporary:
        folder = kept or Path(temporary)
        try:
            target = Target.parse(options.arch)
            build_all(folder, options.devices, target, options.sizes)
            if not target.is_cpu:
                build_block(folder, options.devices, target, options.block)
        except HircError as error:
            print(render(error), file=sys.stderr)
            return 1
        if options.build_only:
            return 0
        words = [sys.executable, str(folder / "run.py"), f"--repeat={options.repeat}"]
        words += [f"--bytes={size}" for size in options.bytes]
        words += ["--no-torch"] if options.arch == "cpu" else []
        words += [f"--json={options.json}"] if options.json else []
        return subprocess.run(words, check=False).returncode


def _draw(options: argparse.Namespace) -> int:
    # Imported late: it is for pictures alone.
    from .bench_communication_programs.pictures import draw_figures, draw_timeline

    try:
        if options.chart:
            draw_figures(options.chart, options.output)
        else:
            draw_timeline(options.timeline, options.output)
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    return 0


def build_all(folder: Path, devices: int, target: Target, sizes: Sequence[int]) -> None:
    """Builds every program into a folder, with run.py and what it must know. Raises HircError.

    `sizes` are the rows of the whole, the columns of the whole, and the summed size of products.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(_PROGRAMS / "run.py", folder)
    for kind in _KINDS:
        _compile(folder, kind, repeated(kind, devices), target)
    for name in OVERLAPS:
        for part in ("communication", "product", "both"):
            program = overlapping(name, part, devices, sizes)
            _compile(folder, f"{name}-{part}", program, target, steps=1)
        whole = overlapping(name, "both", devices, sizes)
        for steps in (0, *_STEPS):
            _compile(folder, f"{name}-steps{steps or ''}", whole, target, steps=steps)
    about = {
        "devices": devices,
        "count": COUNT,
        "kinds": list(_KINDS),
        "overlaps": list(OVERLAPS),
        "steps": list(_STEPS),
        "sizes": list(sizes),
        "arch": target.arch,
    }
    (folder / "about.json").write_text(json.dumps(about))


def build_block(folder: Path, devices: int, target: Target, sizes: Sequence[int]) -> None:
    """Builds a transformer's block into the folder, with block.py, which runs it beside torch's.

    `sizes` are its batch, rows, columns and heads. Raises HircError.
    """
    shutil.copy(_PROGRAMS / "block.py", folder)
    copy_loader(folder)
    source = folder / "block_model.py"
    source.write_text(MODEL.format((devices, *sizes)))
    for steps in _BLOCK_STEPS:
        _run(f"{source}:block", folder / f"block{steps}.so", target, steps, Emit.SHARED)
    about = json.loads((folder / "about.json").read_text())
    about |= {"block": [devices, *sizes], "block_steps": list(_BLOCK_STEPS)}
    (folder / "about.json").write_text(json.dumps(about))


def repeated(kind: str, devices: int) -> Program:
    """Returns a program of COUNT communications of a kind, of an input of any size."""
    with build("main") as p:
        x = p.input("x", ("n",), "f32")
        team, size = p.communicator(list(range(devices))), x.shape[0]
        given = {"allgather": size * devices, "reduce-scatter": size // devices}.get(kind, size)
        y = p.allocate((given,), "f32")
        root = 0 if kind == "broadcast" else None
        for _ in range(COUNT):
            p.communicate(kind, x, y, team, root=root, reduction=_REDUCTION.get(kind)).wait()
        p.output("y", y)
    return p


OVERLAPS = ("allgather-product", "product-reduce-scatter")


def overlapping(name: str, part: str, devices: int, sizes: Sequence[int]) -> Program:
    """Returns a program of a large product and the communication beside it, or of one of them."""
    rows, columns, depth = sizes
    gathers = name == OVERLAPS[0]
    own_columns, own_depth = (columns // devices, depth) if gathers else (columns, depth // devices)
    with build("main") as p:
        team = p.communicator(list(range(devices)))
        weight = p.input("w", (own_columns, own_depth), "bf16")
        # Where rows are gathered the product alone has all, and the communication a part; sums that
        # are scattered alone are handed in.
        is_part = gathers and part != "product"
        width = columns if not gathers and part == "communication" else own_depth
        x = p.input("x", (rows // devices if is_part else rows, width), "bf16")
        if gathers and part != "product":
            whole = p.allocate((rows, depth), "bf16")
            p.communicate("allgather", x, whole, team).wait()
            p.output("y", whole if part == "communication" else p.linear(whole, weight))
        elif gathers or part == "product":
            p.output("y", p.linear(x, weight))
        else:
            y = p.allocate((rows // devices, columns), "bf16")
            share = x if part == "communication" else p.linear(x, weight)
            p.communicate("reduce-scatter", share, y, team, reduction="sum").wait()
            p.output("y", y)
    return p


def _compile(folder: Path, name: str, program: Program, target: Target, steps: int = 0) -> None:
    source = folder / f"{name}.mlir"
    source.write_text(str(program))
    _run(str(source), folder / name, target, steps)


def _run(source: str, output: Path, target: Target, steps: int, kind: Emit = Emit.EXE) -> None:
    # Imported late: MLIR and LLVM take time to load, and --help needs neither.
    from ..compiler.driver import Compilation

    options = Options(
        inputs=(source,),
        output=str(output),
        emit=kind,
        targets=(target,),
        opt_level=3,
        overlap_steps=steps,
    )
    Compilation(options).run()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench_communication", description=__doc__)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--arch", default="native", help="--offload-arch; cpu runs anywhere")
    parser.add_argument("--bytes", type=int, nargs="+", default=[1 << 10, 1 << 20, 1 << 30])
    parser.add_argument(
        "--sizes", type=int, nargs=3, default=[16384, 8192, 8192], metavar=("ROWS", "COLUMNS", "K")
    )
    parser.add_argument(
        "--block",
        type=int,
        nargs=4,
        default=[4, 2048, 4096, 32],
        metavar=("BATCH", "ROWS", "COLUMNS", "HEADS"),
    )
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--keep", metavar="FOLDER", help="where all is built, and left")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--chart", type=Path, metavar="JSON", help="draw what run.py wrote")
    parser.add_argument("--timeline", type=Path, metavar="JSON", help="draw a trace of a team")
    parser.add_argument("-o", dest="output", type=Path, metavar="PNG", help="the picture")
    options = parser.parse_args(arguments)
    if (options.chart or options.timeline) and not options.output:
        parser.error("--chart and --timeline need -o")
    if options.devices < 2 or any(size % options.devices for size in options.sizes):
        parser.error("there are two devices or more, which divide the sizes evenly")
    return options


if __name__ == "__main__":
    sys.exit(main())
