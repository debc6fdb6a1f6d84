"""Runs the executables beside this file and compares what they print: a GPU machine's half.

Needs Python's standard library only. Prints a line a program; exits 1 if any differs. Under OUT, or
beside this file, it leaves report.md with every output, and the outputs that are checked later.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 60


def difference(case: dict[str, object], done: subprocess.CompletedProcess[str]) -> str:
    """What is wrong with a run, or nothing."""
    output = re.sub(r"base@ = 0x[0-9a-f]+", "base@ = ADDRESS", done.stdout)
    if done.returncode != case.get("status", 0):
        return f"status {done.returncode}: {done.stderr.strip()[:500]}"
    if "output" in case and output != case["output"]:
        return f"printed {output!r}"
    if case.get("errors") and not re.search(str(case["errors"]), done.stderr):
        return f"standard error {done.stderr!r}"
    return ""


def machine() -> str:
    """The GPU and its driver."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()


def section(name: str, verdict: str, done: subprocess.CompletedProcess[str]) -> str:
    """A program's part of the report."""
    text = re.sub(r"base@ = 0x[0-9a-f]+", "base@ = ADDRESS", done.stdout) + done.stderr
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"## {name}: {verdict}, status {done.returncode}\n\n{lines}\n"


def main() -> int:
    out = Path(os.environ.get("OUT", HERE))
    failed = 0
    now = datetime.now(UTC)
    report = [f"# {now:%Y-%m-%d %H:%M} UTC, {machine()}\n\n"]
    for case in json.loads((HERE / "cases.json").read_text()):
        command = [str(HERE / case["name"])]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
            )
            wrong = difference(case, done)
        except (OSError, subprocess.TimeoutExpired) as error:
            done, wrong = None, str(error)
        failed += bool(wrong)
        verdict = "WRONG" if wrong else "right"
        print(f"{verdict}  {case['name']}  {wrong}")
        if done is None:
            continue
        if case.get("keep"):
            (out / f"{case['name']}.out").write_text(done.stdout)
        else:
            report.append(section(case["name"], verdict, done))
    (out / "report.md").write_text("".join(report))
    print(f"{failed} wrong")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
