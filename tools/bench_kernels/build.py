"""Builds the programs of the rows into a folder that needs nothing else on a GPU machine."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ...compiler.process import Runner
from ..carried_folder import copy_runner, error_line
from .row import BUILDS, DYNAMIC, STATIC, Array, Row
from .text import program_text

DESCRIPTION = "rows.json"

# What of this package runs there.
_CARRIED = (
    "__init__",
    "arrays",
    "child",
    "counters",
    "drawn",
    "measure",
    "operations",
    "process",
    "report",
    "row",
    "run",
)
_ERROR_LENGTH = 300
# Drawn programs that are built as one library: what a process takes to start is shared.
_AT_ONCE = 16


@dataclass(frozen=True)
class _Program:
    """A program to build into a library: of a row with a file, or of what was imported."""

    row: Row
    build: str
    library: str
    imported: str = ""

    @property
    def text(self) -> str:
        return self.imported or program_text(self.row, self.build)

    @property
    def name(self) -> str:
        return self.row.program(self.build)


def build(
    folder: Path, rows: Sequence[Row], words: Sequence[str], *, with_dynamic: bool
) -> dict[str, str]:
    """Builds the rows with these words for hirc. Returns the programs that failed, with why."""
    copy_runner(folder, "bench_kernels", _CARRIED)
    builds = BUILDS if with_dynamic else (STATIC,)
    programs = [
        _Program(row, build, row.operation) for row in rows if not row.label for build in builds
    ]
    failed: dict[str, str] = {}
    drawn = [row for row in rows if row.label]
    if drawn:
        found = _import(drawn)
        failed = {
            row.program(build_of(row)): found[row.name]["error"]
            for row in drawn
            if "error" in found[row.name]
        }
        rows = [
            row if row.name not in found else _with_outputs(row, found[row.name]) for row in rows
        ]
        names = [row for row in rows if row.label and row.outputs]
        programs += [
            _Program(row, build_of(row), f"drawn{place // _AT_ONCE:03}", found[row.name]["text"])
            for place, row in enumerate(names)
        ]
    by_library = sorted(programs, key=lambda program: program.library)
    groups = {
        library: list(group)
        for library, group in groupby(by_library, lambda program: program.library)
    }
    with tempfile.TemporaryDirectory(prefix="hirc-bench-") as scratch:
        compiler = _Compiler(Path(scratch), words)
        errors = compiler.compile([(group, folder / f"{op}.so") for op, group in groups.items()])
        suspects = [
            program
            for group, error in zip(groups.values(), errors, strict=True)
            for program in group
            if error
        ]
        # Each alone, to leave out those that cannot be built.
        alone = compiler.compile([([each], Path(scratch) / f"{each.name}.so") for each in suspects])
        failed |= {each.name: error for each, error in zip(suspects, alone, strict=True) if error}
        again = {
            operation: [program for program in group if program.name not in failed]
            for operation, group in groups.items()
            if any(program in suspects for program in group)
        }
        again = {operation: group for operation, group in again.items() if group}
        errors = compiler.compile([(group, folder / f"{op}.so") for op, group in again.items()])
        for group, error in zip(again.values(), errors, strict=True):
            failed.update({program.name: error for program in group if error})
    libraries = {program.name: program.library for program in programs}
    described = [
        _described(row, (build_of(row),) if row.label else builds, libraries, failed)
        for row in rows
    ]
    device = "cpu" if "--offload-arch=cpu" in words else "cuda"
    description = {"words": list(words), "device": device, "rows": described}
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=1))
    return failed


def build_of(row: Row) -> str:
    """Returns which build a drawn row has."""
    return DYNAMIC if row.is_open else STATIC


def _import(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Imports drawn rows; returns of each what `import_drawn` finds."""
    with tempfile.TemporaryDirectory(prefix="hirc-drawn-") as scratch:
        chunks = [rows[place : place + _AT_ONCE] for place in range(0, len(rows), _AT_ONCE)]
        found = _import_chunks(Path(scratch), chunks)
        # What is missing was in a process that crashed: each alone.
        found |= _import_chunks(Path(scratch), [[row] for row in rows if row.name not in found])
    return {row.name: found.get(row.name, {"error": "the import crashed"}) for row in rows}


def _import_chunks(scratch: Path, chunks: Sequence[Sequence[Row]]) -> dict[str, dict[str, Any]]:
    commands: list[list[str | Path]] = []
    results: list[Path] = []
    for place, chunk in enumerate(chunks):
        asked, result = scratch / f"{place}.json", scratch / f"{place}.found.json"
        result.unlink(missing_ok=True)
        asked.write_text(json.dumps([row.to_json() for row in chunk]))
        module = f"{__package__}.import_drawn"
        commands.append([sys.executable, "-m", module, asked, result])
        results.append(result)
    Runner().run_all(commands)
    found: dict[str, dict[str, Any]] = {}
    for result in results:
        if result.exists():
            found |= json.loads(result.read_text())
    return found


def _with_outputs(row: Row, found: dict[str, Any]) -> Row:
    """The row with the arrays that its program gives, and the bytes of all."""
    if "error" in found:
        return row
    outputs = tuple(Array(each["element"], tuple(each["sizes"])) for each in found["outputs"])
    return replace(row, outputs=outputs, bytes=sum(a.bytes for a in (*row.inputs, *outputs)))


def _described(
    row: Row, builds: Sequence[str], libraries: dict[str, str], failed: dict[str, str]
) -> dict[str, Any]:
    programs: dict[str, dict[str, str]] = {}
    for each in builds:
        name = row.program(each)
        if name in failed:
            programs[each] = {"error": failed[name]}
        else:
            programs[each] = {"library": f"{libraries[name]}.so", "program": name}
    return {"row": row.to_json(), "programs": programs}


@dataclass(frozen=True)
class _Compiler:
    scratch: Path
    words: Sequence[str]

    def compile(self, libraries: Sequence[tuple[Sequence[_Program], Path]]) -> list[str]:
        """Builds a library of each group of programs. Returns for each why it failed, or ''."""
        commands: list[list[str | Path]] = []
        for group, library in libraries:
            source = self.scratch / f"{library.stem}.mlir"
            source.write_text("\n".join(each.text for each in group))
            library.unlink(missing_ok=True)
            hirc = [sys.executable, "-m", "hirc.tools.hirc"]
            commands.append([*hirc, source, "-o", library, "--emit=shared", *self.words])
        finished = Runner().run_all(commands)
        return [_error(done.errors) if done.status else "" for done in finished]


def _error(text: str) -> str:
    """Returns what hirc said, without where."""
    said = error_line(text) or "no message"
    return said.partition("error: ")[2][:_ERROR_LENGTH] or said[-_ERROR_LENGTH:]
