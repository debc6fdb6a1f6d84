"""Builds every program here, and runs them on a GPU machine that has only a driver and Python.

    cd test && ../.venv/bin/python -m programs.on_gpu build ../build/gpu
    python3 build/gpu/run.py                                   # on the GPU machine

The second part needs nothing but Python's standard library: `build` copies it beside the
executables.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from programs.catalog import PROGRAMS, Program
from programs.math_programs import check
from programs.math_programs import programs as math_programs

from hirc.tools.hirc import main as hirc

HERE = Path(__file__).parent


def build(folder: Path) -> int:
    """Compiles every program into `folder` with what a run needs; the number that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    cases: list[dict[str, object]] = []
    for program in PROGRAMS:
        failed += hirc([*program.command, "-o", str(folder / program.name)]) != 0
        cases.append(_case(program))
    for program in math_programs():
        source = folder / f"{program.name}.mlir"
        source.write_text(program.mlir)
        failed += hirc([str(source), "-o", str(folder / program.name), "--offload-arch=sm_90"]) != 0
        cases.append({"name": program.name, "keep": True})
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    shutil.copy(HERE / "run.py", folder / "run.py")
    return failed


def _case(program: Program) -> dict[str, object]:
    return {
        "name": program.name,
        "status": program.status,
        "output": program.expected,
        "errors": program.errors,
    }


def check_math(folder: Path) -> int:
    """Checks the outputs that run.py kept of the math programs; the number of violations."""
    count = 0
    for program in math_programs():
        found = check(program, (folder / f"{program.name}.out").read_text())
        print(f"{program.name}: {len(found)} violations")
        for line in found[:10]:
            print(f"  {line}")
        count += len(found)
    return count


def main(arguments: list[str]) -> int:
    actions: dict[str, Callable[[Path], int]] = {"build": build, "check-math": check_math}
    if len(arguments) != 2 or arguments[0] not in actions:
        print("usage: on_gpu.py build|check-math FOLDER", file=sys.stderr)
        return 2
    return int(actions[arguments[0]](Path(arguments[1])) != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
