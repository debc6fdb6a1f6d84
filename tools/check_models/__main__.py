"""The command: builds networks into a folder, measures how long that takes, or draws problems."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .build import Build


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds, measures or draws. Returns the exit status: 1 where a network could not be built."""
    parser = argparse.ArgumentParser(prog="check_models", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    building = actions.add_parser(
        "build",
        help="build networks into a folder; run.py there runs them",
        description="Words not named here go to hirc. What is built already is kept.",
    )
    building.add_argument("folder", type=Path)
    measuring = actions.add_parser(
        "build-time", help="measure how long hirc and AOTInductor take to build"
    )
    measuring.add_argument(
        "--offload-arch",
        default="cpu",
        metavar="ARCH",
        help="cpu (the default), or a GPU of this machine",
    )
    drawing = actions.add_parser(
        "draw", help="draw problems like KernelBench's from a seed, as files for build --files"
    )
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("--count", type=int, default=96, metavar="N")
    drawing.add_argument("--seed", type=int, default=1, metavar="S")
    drawing.add_argument(
        "--levels",
        type=_levels,
        default=(1, 2, 3),
        metavar="L,L",
        help="1: operators, 2: chains, 3: networks; all, in turn",
    )
    drawing.add_argument("--tiny", action="store_true", help="tiny sizes, for the CPU device")
    for each in (building, measuring):
        each.add_argument(
            "--models", default="*", metavar="PARTS", help="networks with these in the name"
        )
        each.add_argument("--tiny", action="store_true", help="tiny networks, for the CPU device")
        each.add_argument(
            "--timeout",
            type=float,
            default=600,
            metavar="SECONDS",
            help="of each step of a network",
        )
    building.add_argument(
        "--files",
        type=Path,
        nargs="+",
        default=[],
        metavar="F.py",
        help="models of files instead: Model, get_inputs() and get_init_inputs()",
    )
    building.add_argument(
        "--dtype", choices=("bf16", "f16"), help="what weights and inputs of floats are instead"
    )
    building.add_argument(
        "--batch", type=int, metavar="N", help="set batch_size, where a file has one"
    )
    building.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="build so many networks at a time"
    )
    options, words = parser.parse_known_args(arguments)
    if options.action != "build" and words:
        parser.error(f"unrecognized arguments: {' '.join(words)}")
    if options.action == "draw":
        from .drawn.writing import write

        write(options.folder, options.count, options.seed, tiny=options.tiny, levels=options.levels)
        return 0
    if options.action == "build-time":
        # Imported late: torch takes seconds to load.
        from .build_time import measure

        return measure(
            options.models, tiny=options.tiny, arch=options.offload_arch, timeout=options.timeout
        )
    build = Build(
        options.folder,
        words,
        tiny=options.tiny,
        dtype=options.dtype,
        batch=options.batch,
        files=tuple(options.files),
        timeout=options.timeout,
        jobs=options.jobs,
    )
    failed = build.run(options.models)
    for name, why in failed.items():
        print(f"not built: {name}: {why}", file=sys.stderr)
    print(f"python3 {options.folder / 'run.py'} runs what was built")
    return 1 if failed else 0


def _levels(text: str) -> tuple[int, ...]:
    levels = tuple(int(each) for each in text.split(",") if each in ("1", "2", "3"))
    if len(levels) != len(text.split(",")):
        raise argparse.ArgumentTypeError(f"{text}: there are 1, 2 and 3")
    return levels


if __name__ == "__main__":
    sys.exit(main())
