"""The command: build, and the chart of what a run wrote."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ...compiler.errors import HircError, InputError
from ...compiler.rendering import render
from .build import build
from .catalogue import rows
from .chart import draw
from .contraction_space import CONTRACTIONS
from .space import HELD_OUT, KINDS, draw_row

# Programs with the same error that are named.
_NAMED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds or draws. Returns the exit status: 1 where a program could not be built."""
    parser = argparse.ArgumentParser(prog="bench_kernels", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    building = actions.add_parser(
        "build",
        help="build the rows' programs into a folder; run.py there runs them",
        description="Words that are not named here go to hirc.",
    )
    building.add_argument("folder", type=Path)
    building.add_argument(
        "--rows", default="*", metavar="PARTS", help="rows with these in the name"
    )
    building.add_argument("--dynamic", action="store_true", help="programs of any size as well")
    building.add_argument("--scale", type=int, default=1, help="divide every size by this")
    building.add_argument(
        "--held-out",
        type=int,
        metavar="N",
        help="build N operations that are drawn from a space instead",
    )
    building.add_argument(
        "--first", type=int, default=0, metavar="N", help="the first's number (0)"
    )
    building.add_argument("--seed", type=int, default=HELD_OUT, help=f"of the draws ({HELD_OUT})")
    building.add_argument(
        "--kinds",
        type=_kinds,
        default=(),
        help=f"of the draws, of {', '.join((*KINDS, *CONTRACTIONS))} (all but the last three)",
    )
    drawing = actions.add_parser("chart", help="draw what run.py --json wrote")
    drawing.add_argument("figures", type=Path, metavar="F.json")
    drawing.add_argument("picture", type=Path, metavar="F.png")
    options, words = parser.parse_known_args(arguments)
    try:
        if options.action == "build":
            return _build(options, words)
        if words:
            parser.error(f"unrecognized arguments: {' '.join(words)}")
        draw(options.figures, options.picture)
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    return 0


def _kinds(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in KINDS | CONTRACTIONS]
    if unknown:
        known = ", ".join((*KINDS, *CONTRACTIONS))
        raise argparse.ArgumentTypeError(f"no kind '{unknown[0]}': {known}")
    return names


def _build(options: argparse.Namespace, words: Sequence[str]) -> int:
    if options.held_out is not None:
        numbers = range(options.first, options.first + options.held_out)
        chosen = [
            draw_row(options.seed, number, options.scale, options.kinds) for number in numbers
        ]
        chosen = [row for row in chosen if row.is_chosen(options.rows)]
    else:
        chosen = rows(options.rows, options.scale)
    if not chosen:
        raise InputError(
            f"no row has {options.rows} in its name",
            hint=f"the rows: {', '.join(row.name for row in rows(scale=options.scale))}",
        )
    start = time.perf_counter()
    failed = build(options.folder, chosen, words, with_dynamic=options.dynamic)
    for error in dict.fromkeys(failed.values()):
        names = [name for name, why in failed.items() if why == error]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        print(f"not built: {', '.join(names[:_NAMED])}{more}: {error}", file=sys.stderr)
    print(
        f"{len(chosen)} rows in {options.folder}, {time.perf_counter() - start:.0f} s; "
        f"python3 {options.folder / 'run.py'} runs them"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
