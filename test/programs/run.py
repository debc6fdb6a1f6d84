"""Runs the executables beside this file and compares what they print: a GPU machine's half.

Needs Python's standard library only. Prints a line a program; exits 1 if any differs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
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


def main() -> int:
    out = Path(os.environ.get("OUT", HERE))
    failed = 0
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
        print(f"{'WRONG' if wrong else 'right'}  {case['name']}  {wrong}")
        if case.get("keep") and done is not None:
            (out / f"{case['name']}.out").write_text(done.stdout)
    print(f"{failed} wrong")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
