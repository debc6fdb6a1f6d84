"""Pictures of a program: a page of HTML that needs nothing else, and DOT."""

from __future__ import annotations

import html
import json
import linecache
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..pipelines.program_graph.graph import GraphProgram, Step
from .options import Emit
from .source import Source

_TEMPLATE = Path(__file__).with_name("program_page.html")
_SHAPES = {"kernel": "box", "library": "box3d", "loop": "box", "branch": "diamond"}


def picture(programs: Sequence[GraphProgram], source: Source, emit: Emit) -> bytes:
    """Returns the programs as a page or as DOT. Of names, what is no character becomes a question
    mark.
    """
    name = Path(source.name).name
    text = _page(programs, name) if emit is Emit.GRAPH else _dot(programs, name)
    return text.encode(errors="replace")


def _page(programs: Sequence[GraphProgram], name: str) -> str:
    """Returns the template with the title and the data in it."""
    places = {step.place for program in programs for step in program.steps}
    places |= {place for each in programs for step in each.steps for place, _ in step.work}
    data = {
        "name": name,
        "programs": [asdict(program) for program in programs],
        "lines": {place: line for place in sorted(places) if (line := _line(place))},
    }
    # What could end the script or begin a comment in it is escaped.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"title": html.escape(name), "data": text}
    template = _TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{(title|data)\}\}", lambda match: parts[match[1]], template)


def _line(place: str) -> str:
    """Returns the line of the source at `file:line`, where it can be read."""
    file, _, number = place.rpartition(":")
    return linecache.getline(file, int(number)).strip() if Path(file).is_file() else ""


def _dot(programs: Sequence[GraphProgram], name: str) -> str:
    lines = [f"digraph {_quoted(name)} {{", '  node [shape=box, fontname="sans-serif"];']
    for number, program in enumerate(programs):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted('@' + program.name)};"]
        lines += _dot_steps(program, number)
        lines.append("  }")
        for place, step in enumerate(program.steps):
            for other in step.after:
                both = set(program.steps[other].writes) & {*step.reads, *step.writes}
                label = ", ".join(program.buffers[each].name for each in sorted(both))
                edge = f"p{number}_{other} -> p{number}_{place}"
                lines.append(f"  {edge} [label={_quoted(label)}];")
    return "\n".join([*lines, "}", ""])


def _dot_steps(program: GraphProgram, number: int) -> list[str]:
    """Returns the steps as nodes; those of loops and branches in clusters of their own."""
    lines: list[str] = []
    children: dict[int, list[tuple[int, Step]]] = {}
    for place, step in enumerate(program.steps):
        children.setdefault(step.parent, []).append((place, step))
    # What is still to be written: lines as they are, or steps with their indentation.
    left: list[str | tuple[int, Step, str]] = [
        (place, step, "    ") for place, step in reversed(children.get(-1, []))
    ]
    while left:
        item = left.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        place, step, space = item
        words = [step.name, step.place, f"stream: {step.stream}" if step.stream else ""]
        shape = _SHAPES.get(step.kind, "ellipse")
        label = _quoted("\n".join(filter(None, words)))
        lines.append(f"{space}p{number}_{place} [label={label}, shape={shape}];")
        within = children.get(place, [])
        for part in reversed(list(dict.fromkeys(inner.part for _, inner in within))):
            left.append(f"{space}}}")
            chosen = [(n, inner, f"{space}  ") for n, inner in within if inner.part == part]
            left += reversed(chosen)
            left.append(f"{space}  label={_quoted(part)};")
            left.append(f"{space}subgraph cluster_{number}_{place}_{part.replace(' ', '_')} {{")
    return lines


def _quoted(text: str) -> str:
    """Returns a DOT string; lines stay lines."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped.replace(chr(0), "")}"'
