"""Runs the suites that on_gpu.py built, each as a process, and prints a line for each.

    python3 run.py [suite ...]

A suite is wrong where its exit status is not 0, or it runs for longer than 300 s; the end of what
it printed follows then, and all of it is in SUITE.run.log. The exit status is 1 where one is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent.resolve()
SECONDS = float(os.environ.get("HIRC_SUITE_SECONDS", "300"))
_LINES = 8
# Suites share the GPU: more at a time would time each other out.
_AT_ONCE = 4


def run(name: str, words: Sequence[str]) -> bool:
    """Runs a suite in its folder; whether all of it was right."""
    begin = time.monotonic()
    log = HERE / f"{name}.run.log"
    folder = HERE / name
    with log.open("w") as written:
        try:
            command = [sys.executable, str(folder / words[0]), *words[1:]]
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
            )
            verdict = "right" if done.returncode == 0 else f"WRONG (status {done.returncode})"
        except subprocess.TimeoutExpired:
            verdict = f"WRONG (not done in {SECONDS:g} s)"
    print(f"{verdict}  {name}  {time.monotonic() - begin:.0f} s", flush=True)
    if verdict != "right":
        lines = log.read_text(errors="replace").splitlines()[-_LINES:]
        print("".join(f"    {line}\n" for line in lines), end="", flush=True)
    return verdict == "right"


def main(names: Sequence[str]) -> int:
    built = json.loads((HERE / "suites.json").read_text())
    if missing := set(names) - set(built):
        print(f"not built: {', '.join(sorted(missing))}; there are {', '.join(built)}")
        return 2
    chosen = {name: words for name, words in built.items() if not names or name in names}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        right = list(pool.map(run, chosen.keys(), chosen.values()))
    print(f"{right.count(True)} suites right, {right.count(False)} wrong")
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
