"""What the RUN lines of programs like LLVM's GPU integration tests ask of hirc.

A RUN line's own pipeline is not run: hirc compiles the file as it is. What the line says beside the
pipeline is kept: the chip, kernels with bare pointers, what is looked at (the program's output,
PTX, ptxas's log, SASS) and FileCheck's prefix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_RUN = re.compile(r"^// *RUN:(.*)$", re.MULTILINE)
# What stands for an older chip than any that the GPU at hand may be.
_OLD_CHIP = re.compile(r"sm_[78]\d$")


@dataclass(frozen=True)
class Case:
    """One RUN line: how its file is compiled, and how what comes of it is checked.

    `runs` says whether what is compiled is run; else it is its text that is looked at. `prefix` is
    FileCheck's, and empty where nothing is checked but the exit status.
    """

    name: str
    path: Path
    flags: tuple[str, ...] = ()
    chip: str = ""
    runs: bool = True
    with_errors: bool = False
    prefix: str = "CHECK"


def find_cases(folder: Path) -> list[Case]:
    """Returns a case for each RUN line of each .mlir file under `folder`."""
    cases: list[Case] = []
    for path in sorted(folder.rglob("*.mlir")):
        stem = "-".join(path.relative_to(folder).with_suffix("").parts)
        lines = run_lines(path.read_text())
        for number, line in enumerate(lines):
            name = stem if len(lines) == 1 else f"{stem}.{number + 1}"
            cases.append(_case(name, path, line))
    return cases


def run_lines(text: str) -> list[str]:
    """Returns the RUN lines of a file, continued ones joined."""
    lines = [""]
    for match in _RUN.finditer(text):
        word = match[1].strip()
        lines[-1] += " " + word.removesuffix("\\").strip()
        if not word.endswith("\\"):
            lines.append("")
    return [line.strip() for line in lines if line.strip()]


def _case(name: str, path: Path, line: str) -> Case:
    chip = re.search(r"cubin-chip=(\w+)", line)
    prefix = re.search(r"--?check-prefix(?:es)?[= ](\S+)", line)
    flags: list[str] = []
    if "kernel-bare-ptr-calling-convention=1" in line:
        flags.append("--kernel-bare-pointers")
    options = re.search(r"ptxas-cmd-options='([^']*)'", line)
    if options is not None:
        flags += [f"--ptxas-arg={word}" for word in options[1].split()]
    emit, runs = _looked_at(line)
    return Case(
        name,
        path,
        (*flags, *emit),
        chip[1] if chip else "",
        runs,
        "2>&1" in line,
        (prefix[1] if prefix else "CHECK") if "FileCheck" in line else "",
    )


def _looked_at(line: str) -> tuple[tuple[str, ...], bool]:
    """What is checked of a RUN line: hirc's flags for it, and whether the program is run."""
    if "mlir-runner" in line or "mlir-cpu-runner" in line:
        return (), True
    if "serialize-to-isa" in line:
        return ("--emit=ptx",), False
    if "dump-sass" in line:
        return ("--emit=sass",), False
    if "serialize-to-binary" in line:
        return ("--emit=cubin", "-v"), False
    return ("--stop-after=transform",), False


def arch_for(case: Case, wanted: str) -> str:
    """Returns the chip to build a case for where `wanted` is: "cpu", or "gpu" for an sm_90."""
    if wanted != "gpu":
        return wanted
    return "sm_90" if not case.chip or _OLD_CHIP.match(case.chip) else case.chip
