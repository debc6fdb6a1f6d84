"""Runs the executables beside this file and checks what they print by their CHECK lines.

Needs Python's standard library, and the `filecheck` package beside it. Prints a line a program, and
exits with 1 if any is wrong. Under OUT, or beside this file, it leaves report.md with every output.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.resolve()
TIMEOUT_SECONDS = 60


def text_of(case: dict[str, object]) -> tuple[str, str]:
    """What a case's program printed, or its compilation wrote; and what went wrong, or nothing."""
    name = str(case["name"])
    if not case["runs"]:
        text = (HERE / f"{name}.out").read_bytes().decode(errors="replace")
        return text + (HERE / f"{name}.err").read_text(), ""
    done = subprocess.run(
        [str(HERE / name)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    text = done.stdout + (done.stderr if case["with_errors"] else "")
    # A program whose messages are looked at may end with an error that it is meant to.
    failed = done.returncode != 0 and not case["with_errors"]
    return text, f"status {done.returncode}: {done.stderr.strip()[:500]}" if failed else ""


def mismatch(case: dict[str, object], text: str) -> str:
    """FileCheck's message, or nothing."""
    if not case["prefix"]:
        return ""
    source = str(HERE / f"{case['name']}.mlir")
    checked = subprocess.run(
        [sys.executable, "-m", "filecheck", source, "--check-prefix", str(case["prefix"])],
        # FileCheck takes spaces and tabs in a row for one space.
        input=re.sub(r"[ \t]+", " ", text),
        capture_output=True,
        text=True,
        cwd=HERE,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return "" if checked.returncode == 0 else (checked.stderr + checked.stdout).strip()


def main(names: list[str]) -> int:
    out = Path(os.environ.get("OUT", HERE))
    report: list[str] = []
    count = wrong = 0
    for case in json.loads((HERE / "cases.json").read_text()):
        if names and not any(name in case["name"] for name in names):
            continue
        count += 1
        text, problem = "", case["error"]
        try:
            if not problem:
                text, problem = text_of(case)
                problem = problem or mismatch(case, text)
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        wrong += bool(problem)
        verdict = "WRONG" if problem else "right"
        print(
            f"{verdict}  {case['name']}  {problem.splitlines()[0] if problem else ''}", flush=True
        )
        report.append(f"## {case['name']}: {verdict}\n\n{problem}\n\n{text[:4000]}\n")
    (out / "report.md").write_text("\n".join(report))
    print(f"{count} programs, {wrong} wrong")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
