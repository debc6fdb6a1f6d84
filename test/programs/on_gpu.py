"""Builds every program here, and runs them on a GPU machine that has only a driver and Python.

    cd test && ../.venv/bin/python -m programs.on_gpu build ../build/gpu
    python3 build/gpu/run.py                                   # on the GPU machine

`build-libdevice` builds the programs of libdevice's table alone, and `record-libdevice` records
what they printed, for the tests of the CPU device.

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
from programs.libdevice_programs import programs as libdevice_programs
from programs.libdevice_table import compare, record
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
    sources = {program.name: program.mlir for program in math_programs()}
    failed += _build_kept(folder, sources | _libdevice_sources(), cases)
    _finish(folder, cases)
    return failed


def build_libdevice(folder: Path) -> int:
    """Compiles the programs of libdevice's table alone; the number that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    cases: list[dict[str, object]] = []
    failed = _build_kept(folder, _libdevice_sources(), cases)
    _finish(folder, cases)
    return failed


def _libdevice_sources() -> dict[str, str]:
    return {program.name: program.mlir for program in libdevice_programs()}


def _build_kept(folder: Path, sources: dict[str, str], cases: list[dict[str, object]]) -> int:
    """Compiles programs whose output is kept and checked later; the number that failed."""
    failed = 0
    for name, text in sources.items():
        source = folder / f"{name}.mlir"
        source.write_text(text)
        failed += hirc([str(source), "-o", str(folder / name), "--offload-arch=sm_90"]) != 0
        cases.append({"name": name, "keep": True})
    return failed


def _finish(folder: Path, cases: list[dict[str, object]]) -> None:
    """Writes what a run needs besides the executables."""
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    shutil.copy(HERE / "run.py", folder / "run.py")


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


def record_libdevice(folder: Path) -> int:
    """Records the outputs that run.py kept of libdevice's programs, and checks the record."""
    device = (folder / "report.md").read_text().splitlines()[0].removeprefix("# ")
    file = record(_libdevice_outputs(folder), device)
    print(f"{file}: {file.stat().st_size} bytes, {device}")
    return check_libdevice(folder)


def check_libdevice(folder: Path) -> int:
    """Checks the outputs of libdevice's programs by the record; the number of violations."""
    count = 0
    for name, output in _libdevice_outputs(folder).items():
        found = compare(name, output)
        print(f"{name}: {len(found)} violations")
        for line in found[:10]:
            print(f"  {line}")
        count += len(found)
    return count


def _libdevice_outputs(folder: Path) -> dict[str, str]:
    names = [program.name for program in libdevice_programs()]
    return {name: (folder / f"{name}.out").read_text() for name in names}


def main(arguments: list[str]) -> int:
    actions: dict[str, Callable[[Path], int]] = {
        "build": build,
        "build-libdevice": build_libdevice,
        "check-math": check_math,
        "check-libdevice": check_libdevice,
        "record-libdevice": record_libdevice,
    }
    if len(arguments) != 2 or arguments[0] not in actions:
        print(f"usage: on_gpu.py {'|'.join(actions)} FOLDER", file=sys.stderr)
        return 2
    return int(actions[arguments[0]](Path(arguments[1])) != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
