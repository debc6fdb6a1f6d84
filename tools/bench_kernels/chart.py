"""A picture of a run: the rows as bars, in percent of a copy's rate (of torch's, for products).

Of drawn operations each is a point instead, its ratio to the best peer, in a line for each kind.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ...compiler.errors import InputError, ToolchainError
from .report import DRAWN_SHARE, LEAST_SHARE, Line, Report

_COLOURS = {"static": "#1f5fa8", "dynamic": "#7fb2e5", "eager": "#c9c9c9", "inductor": "#8a8a8a"}
_INCHES_A_ROW = 0.42
_MOST_RATIO = 32
# In one column.
_MOST_ROWS = 45


def draw(figures: Path, picture: Path) -> None:
    """Draws the JSON that a run wrote. Raises InputError and ToolchainError."""
    try:
        report = Report.from_json(json.loads(figures.read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{figures} holds no figures of a run: {error}", hint="run.py --json F.json writes them"
        ) from error
    drawn = [line for line in report.lines if line.row.label]
    canvas = _drawn_ratios(drawn) if drawn else _shares(report)
    canvas.suptitle(f"{report.machine.get('chip', '')}, {report.machine.get('date', '')}")
    canvas.tight_layout()
    canvas.savefig(picture, dpi=110)


def _shares(report: Report) -> Any:
    """The rows as bars."""
    columns = max(math.ceil(len(report.lines) / _MOST_ROWS), 1)
    height = math.ceil(len(report.lines) / columns)
    canvas, panes = pyplot().subplots(
        1, columns, figsize=(8 * columns, 1.2 + _INCHES_A_ROW * height), squeeze=False
    )
    for place, axes in enumerate(panes[0]):
        _draw_rows(axes, report, report.lines[place * height : (place + 1) * height])
    panes[0][0].legend(fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(_COLOURS))
    canvas.supxlabel("percent of a copy's bytes a second; matrix products: of torch's speed")
    return canvas


def _drawn_ratios(lines: Sequence[Line]) -> Any:
    """The ratios as points, on a logarithmic scale; those beyond it are at its end."""
    kinds = list(dict.fromkeys(line.row.operation for line in lines))
    canvas, axes = pyplot().subplots(figsize=(8, 1.2 + _INCHES_A_ROW * len(kinds)))
    for place, kind in enumerate(kinds):
        ratios = [line.ratio() for line in lines if line.row.operation == kind]
        found = [min(ratio, _MOST_RATIO) for ratio in ratios if ratio is not None]
        axes.scatter(found, [place] * len(found), s=14, alpha=0.5, color=_COLOURS["static"])
    for bar, style in ((LEAST_SHARE, ":"), (DRAWN_SHARE, "-")):
        axes.axvline(bar, color="black", linewidth=0.8, linestyle=style)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(kinds)), kinds, fontsize=8)
    axes.set_ylim(len(kinds) - 0.4, -0.6)
    axes.set_xlabel(f"time of the best peer to hirc's; lines at {LEAST_SHARE} and {DRAWN_SHARE}")
    return canvas


def _draw_rows(axes: Any, report: Report, lines: Sequence[Line]) -> None:
    """The bars of these lines, the first at the top."""
    for place, (contender, colour) in enumerate(_COLOURS.items()):
        lengths = [100 * (report.share(line, contender) or 0.0) for line in lines]
        heights = [row + 0.2 * (place - 1.5) for row in range(len(lines))]
        axes.barh(heights, lengths, height=0.2, label=contender, color=colour)
    axes.axvline(100, color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), [line.row.name for line in lines], fontsize=7)
    axes.set_ylim(len(lines) - 0.4, -0.6)


def pyplot() -> Any:
    """Returns matplotlib, for files. Raises ToolchainError."""
    try:
        matplotlib = import_module("matplotlib")
        matplotlib.use("Agg")
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ToolchainError(
            "a chart is drawn by matplotlib, which is not installed",
            hint="pip install 'hirc[bench]'",
        ) from error
