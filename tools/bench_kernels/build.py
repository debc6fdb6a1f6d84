"""Builds the programs of the rows into a folder that needs nothing else on a GPU machine."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from ...compiler.process import Runner
from ..carried_folder import copy_runner, error_line
from .row import BUILDS, STATIC, Row
from .text import program_text

DESCRIPTION = "rows.json"

# What of this package runs there.
_CARRIED = (
    "__init__",
    "arrays",
    "child",
    "measure",
    "operations",
    "process",
    "report",
    "row",
    "run",
)
_ERROR_LENGTH = 300


@dataclass(frozen=True)
class _Program:
    row: Row
    build: str

    @property
    def name(self) -> str:
        return self.row.program(self.build)


def build(
    folder: Path, rows: Sequence[Row], words: Sequence[str], *, with_dynamic: bool
) -> dict[str, str]:
    """Builds the rows with these words for hirc. Returns the programs that failed, with why."""
    copy_runner(folder, "bench_kernels", _CARRIED)
    builds = BUILDS if with_dynamic else (STATIC,)
    programs = [_Program(row, build) for row in rows for build in builds]
    by_operation = sorted(programs, key=lambda program: program.row.operation)
    groups = {
        operation: list(group)
        for operation, group in groupby(by_operation, lambda program: program.row.operation)
    }
    failed: dict[str, str] = {}
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
        failed = {each.name: error for each, error in zip(suspects, alone, strict=True) if error}
        again = {
            operation: [program for program in group if program.name not in failed]
            for operation, group in groups.items()
            if any(program in suspects for program in group)
        }
        again = {operation: group for operation, group in again.items() if group}
        errors = compiler.compile([(group, folder / f"{op}.so") for op, group in again.items()])
        for group, error in zip(again.values(), errors, strict=True):
            failed.update({program.name: error for program in group if error})
    described = [_described(row, builds, failed) for row in rows]
    device = "cpu" if "--offload-arch=cpu" in words else "cuda"
    description = {"words": list(words), "device": device, "rows": described}
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=1))
    return failed


def _described(row: Row, builds: Sequence[str], failed: dict[str, str]) -> dict[str, Any]:
    programs: dict[str, dict[str, str]] = {}
    for each in builds:
        name = row.program(each)
        if name in failed:
            programs[each] = {"error": failed[name]}
        else:
            programs[each] = {"library": f"{row.operation}.so", "program": name}
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
            source.write_text("\n".join(program_text(each.row, each.build) for each in group))
            library.unlink(missing_ok=True)
            hirc = [sys.executable, "-m", "hirc.tools.hirc"]
            commands.append([*hirc, source, "-o", library, "--emit=shared", *self.words])
        finished = Runner().run_all(commands)
        return [_error(done.errors) if done.status else "" for done in finished]


def _error(text: str) -> str:
    """What hirc said, without where."""
    said = error_line(text) or "no message"
    return said.partition("error: ")[2][:_ERROR_LENGTH] or said[-_ERROR_LENGTH:]
