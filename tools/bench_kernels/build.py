"""Builds the programs of the rows into a folder that needs nothing else on a GPU machine."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from ...compiler.process import Runner
from .row import BUILDS, STATIC, Row
from .text import program_text

DESCRIPTION = "rows.json"

_ROOT = Path(__file__).resolve().parent.parent.parent
# What of hirc goes along: the loader, and the part of this package that runs there.
_CARRIED = (
    "__init__.py",
    "compiler/__init__.py",
    "compiler/errors.py",
    "compiler/loader*.py",
    "tools/__init__.py",
    *(
        f"tools/bench_kernels/{name}.py"
        for name in ("__init__", "arrays", "child", "measure", "operations", "process", "report")
    ),
    "tools/bench_kernels/row.py",
    "tools/bench_kernels/run.py",
)
_RUN = '''\
"""Runs the rows on this machine's GPU: python3 run.py --help."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hirc.tools.bench_kernels.run import main  # noqa: E402

sys.exit(main(FOLDER))
'''
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
    folder.mkdir(parents=True, exist_ok=True)
    _copy_runner(folder)
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
    """What hirc said, without its sources' lines."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    said = next((line for line in lines if "error:" in line), lines[-1] if lines else "no message")
    return said.partition("error: ")[2][:_ERROR_LENGTH] or said.strip()[-_ERROR_LENGTH:]


def _copy_runner(folder: Path) -> None:
    for pattern in _CARRIED:
        for path in _ROOT.glob(pattern):
            target = folder / "hirc" / path.relative_to(_ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    (folder / "run.py").write_text(_RUN)
