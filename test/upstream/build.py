"""Builds a folder of programs with RUN and CHECK lines, to be run here or on a GPU machine.

    cd test && ../.venv/bin/python -m upstream.build FOLDER ../build/upstream cpu|gpu [NAME ...]
    python3 build/upstream/run.py

FOLDER holds programs like those of LLVM's mlir/test/Integration/GPU/CUDA; what is built, and what
their RUN lines mean, is in suite.py. The second part needs Python's standard library only:
FileCheck is copied beside it. A file that hirc refuses is reported with its first error.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import filecheck
from upstream.suite import Case, arch_for, find_cases

from hirc.tools.hirc import main as hirc

HERE = Path(__file__).parent


def build(folder: Path, target: Path, wanted: str, names: Sequence[str]) -> int:
    """Compiles the cases (those called one of `names`, or all) into `target`; how many failed."""
    target.mkdir(parents=True, exist_ok=True)
    built: list[dict[str, object]] = []
    failed = 0
    for case in find_cases(folder):
        if names and not any(name in case.name for name in names):
            continue
        error = _compile(case, target, arch_for(case, wanted))
        print(f"{'FAILED' if error else 'built'}  {case.name}  {error}", flush=True)
        failed += bool(error)
        built.append(
            {
                "name": case.name,
                "runs": case.runs,
                "with_errors": case.with_errors,
                "prefix": case.prefix,
                "error": error,
            }
        )
    (target / "cases.json").write_text(json.dumps(built, indent=1))
    shutil.copy(HERE / "run.py", target / "run.py")
    package = Path(filecheck.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, target / "filecheck", dirs_exist_ok=True, ignore=ignored)
    return failed


def _compile(case: Case, target: Path, arch: str) -> str:
    """The first error of compiling a case, or nothing.

    Its executable is NAME; the text that is looked at instead is NAME.out and NAME.err.
    """
    shutil.copy(case.path, target / f"{case.name}.mlir")
    output = target / (case.name if case.runs else f"{case.name}.out")
    if not case.runs:
        # What is looked at then is code of a GPU; machine code that was written for an older one.
        arch = case.chip or ("sm_80" if "--emit=sass" in case.flags else "sm_90")
    words = [str(case.path), "-o", str(output), f"--offload-arch={arch}", *case.flags]
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        status = hirc(words)
    text = errors.getvalue()
    (target / f"{case.name}.err").write_text(text)
    return next((line for line in text.splitlines() if "error:" in line), "failed") * bool(status)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 3 or arguments[2] not in ("cpu", "gpu"):
        print("usage: build.py FOLDER TARGET cpu|gpu [NAME ...]", file=sys.stderr)
        return 2
    folder, target, wanted, *names = arguments
    return int(build(Path(folder), Path(target), wanted, names) != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
