"""Pictures of bench_communication: figures of a run as bars, a trace of a team as time lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...compiler.errors import InputError
from ..bench_kernels.chart import pyplot

_OURS, _TORCH, _IDEAL = "#1f5fa8", "#8a8a8a", "#c9c9c9"
# What a device does, by the category of a trace's event.
_COLOURS = {"kernel": _OURS, "communication": "#d1702a", "copy": "#7fb2e5", "fill": _IDEAL}
# Of an overlap: the figure and what it is called.
_PARTS = {
    "communication": "the communication",
    "product": "the product",
    "both": "one after the other",
    "chosen": "overlapped",
    "torch_both": "torch, one after the other",
    "torch_fused": "torch, fused",
}


def draw_figures(figures: Path, picture: Path) -> None:
    """Draws the JSON that run.py wrote. Raises InputError and ToolchainError."""
    try:
        report = json.loads(figures.read_text())
        rows, overlaps = list(report["rows"]), list(report["overlap"])
        title = f"{report['devices']} devices of {report['machine']}, {report['date']}"
        count = bool(rows) + len(overlaps)
        canvas, found = pyplot().subplots(
            max(count, 1), 1, figsize=(9, 1 + 2.6 * max(count, 1)), squeeze=False
        )
        panes = [row[0] for row in found]
        if rows:
            _draw_bandwidths(panes.pop(0), rows)
        for axes, overlap in zip(panes, overlaps, strict=False):
            _draw_overlap(axes, overlap)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{figures} holds no figures of run.py: {error}",
            hint="run.py --json=F.json writes them",
        ) from error
    canvas.suptitle(title)
    canvas.tight_layout()
    canvas.savefig(picture, dpi=110)


def _draw_bandwidths(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """What a second moves, of each kind at its largest, beside torch's."""
    largest = {row["kind"]: row for row in sorted(rows, key=lambda row: row["bytes"])}
    places = range(len(largest))
    for name, offset, colour in (("bus", -0.2, _OURS), ("torch_bus", 0.2, _TORCH)):
        widths = [1e-9 * row.get(name, 0.0) for row in largest.values()]
        label = "hirc" if name == "bus" else "torch.distributed"
        axes.barh([place + offset for place in places], widths, 0.4, color=colour, label=label)
    names = [f"{kind}, {row['bytes'] / 2**20:.4g} MiB" for kind, row in largest.items()]
    axes.set_yticks(places, names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("bus bandwidth, GB/s")
    axes.legend(fontsize=7)


def _draw_overlap(axes: Any, overlap: dict[str, Any]) -> None:
    """The communication and the product alone, together, and at best."""
    found = {title: overlap[part] for part, title in _PARTS.items() if part in overlap}
    found["all hidden"] = max(overlap["communication"], overlap["product"])
    colours = [
        _TORCH if "torch" in title else _IDEAL if title == "all hidden" else _OURS
        for title in found
    ]
    axes.barh(range(len(found)), [1e6 * each for each in found.values()], 0.7, color=colours)
    axes.set_yticks(range(len(found)), list(found), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"{overlap['name']}: microseconds, {overlap['hidden']:.0%} hidden")


def draw_timeline(trace: Path, picture: Path) -> None:
    """Draws a trace of HIRC_TRACE: a line for each stream of each process.

    Raises InputError and ToolchainError.
    """
    try:
        lines = trace.read_text().splitlines()
        events = [json.loads(line.rstrip(",")) for line in lines if line.startswith("{")]
        done = [each for each in events if each.get("cat") in _COLOURS]
        streams = {
            (each["pid"], each["tid"]): each["args"]["name"]
            for each in events
            if each["name"] == "thread_name"
        }
        begin = min(each["ts"] for each in done)
        rows = sorted({(each["pid"], each["tid"]) for each in done})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{trace} holds no trace of a program: {error}",
            hint="HIRC_TRACE=trace.json hirc-run --devices=2 ... writes one",
        ) from error
    plots = pyplot()
    canvas, axes = plots.subplots(figsize=(11, 1 + 0.5 * len(rows)))
    for place, row in enumerate(rows):
        for category, colour in _COLOURS.items():
            spans = [
                (each["ts"] - begin, each["dur"])
                for each in done
                if (each["pid"], each["tid"]) == row and each["cat"] == category
            ]
            axes.broken_barh(spans, (place - 0.35, 0.7), color=colour)
    processes = sorted({pid for pid, _ in rows})
    names = [f"process {processes.index(pid)}, {streams.get((pid, tid), tid)}" for pid, tid in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("microseconds")
    patches = [plots.Rectangle((0, 0), 1, 1, color=colour) for colour in _COLOURS.values()]
    axes.legend(patches, list(_COLOURS), fontsize=7, ncols=len(_COLOURS))
    canvas.tight_layout()
    canvas.savefig(picture, dpi=110)
