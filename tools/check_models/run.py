"""Runs the networks of a folder on this machine: `python3 FOLDER/run.py`, a process for each."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from .turn import Turn

CONTENDERS = ("eager", "compile", "reduce-overhead", "max-autotune")

_SAID_LENGTH = 200
# A network is as fast as a contender from here on, and slow below.
_EVEN, _SLOW = 0.97, 0.7
_LEVEL = re.compile(r"level\d")

# Of several children each computes and compiles by itself: together they have all processors.
_ALONE = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}

# The description of a network, and what it is timed beside.
_Asked = tuple[dict[str, Any], Sequence[str]]


def main(folder: Path, arguments: Sequence[str] | None = None) -> int:
    """Runs, prints and writes. Returns the exit status: 1 where a network is not right, or a
    contender failed.
    """
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    parser.add_argument(
        "--models", default="*", metavar="PARTS", help="networks with these in the name"
    )
    parser.add_argument("--json", type=Path, metavar="F", help="write all figures")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS")
    parser.add_argument(
        "--contenders",
        type=_names,
        default=["eager"],
        metavar="NAMES",
        help="what is timed beside it: eager, and torch.compile by its modes, of which the"
        " default is called compile: eager,compile,reduce-overhead,max-autotune",
    )
    parser.add_argument(
        "--untimed",
        action="store_const",
        const=[],
        dest="contenders",
        help="compare, and time nothing",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="also those that an earlier run has a result of, with all these contenders",
    )
    parser.add_argument(
        "--compiled",
        type=int,
        metavar="N",
        help="time torch.compile's modes for only so many networks, evenly spread",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="prepare so many at a time on the host; one at a time has the device",
    )
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        turn = Turn(folder / "device.lock", options.timeout)
        # Imported late: torch takes seconds to load.
        from .compare import compare

        for result in compare(folder, options.child, options.contenders, turn):
            print(json.dumps(result), flush=True)
        return 0
    asked = _asked(folder, options)
    rows: list[dict[str, Any]] = []
    width = max([28, *(len(description["name"]) for description, _ in asked)])
    names = "".join(f" {name:>17}" for name in options.contenders)
    print(f"{'':<{width}} {'its error':>11} {'of eager':>9} {'its time':>10}{names}")

    def found(one: _Asked) -> dict[str, Any]:
        description, contenders = one
        built = {"name": description["name"], "build": description["seconds"]}
        return {**built, **_result(folder, description, contenders, options)}

    with ThreadPoolExecutor(options.jobs) as pool:
        # As they are done: one that takes long hides none.
        for done in as_completed([pool.submit(found, one) for one in asked]):
            row = done.result()
            rows.append(row)
            print(_line(row, width, options.contenders), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    for line in summary(rows, options.contenders):
        print(line)
    wrong = sum(not row["right"] for row in rows)
    failed = sum(bool(row.get("failed")) for row in rows)
    print(f"{len(rows)} networks, {wrong} not right{f', {failed} not timed whole' * (failed > 0)}")
    return 1 if wrong or failed or not rows else 0


def _asked(folder: Path, options: argparse.Namespace) -> list[_Asked]:
    """Returns the descriptions of the networks chosen, and what each is timed beside."""
    found: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.json")):
        description = json.loads(file.read_text())
        # Beside a network's own file are others of its build.
        is_network = isinstance(description, dict) and description.get("name") == file.stem
        if is_network and _is_chosen(file.stem, options.models):
            found.append(description)
    count = len(found) if options.compiled is None else min(options.compiled, len(found))
    # Of N in a row every one whose part of the count is a whole number more.
    places = {place * len(found) // count for place in range(count)} if count else set[int]()
    without = [name for name in options.contenders if name == "eager"]
    return [
        (description, options.contenders if place in places else without)
        for place, description in enumerate(found)
    ]


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in CONTENDERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]}: there are {', '.join(CONTENDERS)}")
    return names


def _is_chosen(name: str, parts: str) -> bool:
    return any(fnmatch(name, f"*{part}*") for part in parts.split(","))


def _result(
    folder: Path,
    description: dict[str, Any],
    contenders: Sequence[str],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Returns what a child found of a network, or an earlier run's did that timed as much.

    Where this one fails for a contender, what an earlier one found stands.
    """
    if "error" in description:
        return {"right": False, "why": f"not built: {description['error']}"}
    name = description["name"]
    kept = folder / f"{name}.result"
    earlier = json.loads(kept.read_text()) if kept.exists() and not options.again else None
    if earlier is not None and set(contenders) <= set(earlier.get("seconds", contenders)):
        return earlier
    words = [f"--timeout={options.timeout}", f"--contenders={','.join(contenders)}"]
    done = subprocess.run(
        [sys.executable, str(folder / "run.py"), "--child", name, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ if options.jobs == 1 else {**os.environ, **_ALONE},
    )
    found = _found(done.stdout)
    if done.returncode:
        why = _last_line(done.stderr, done.returncode)
        if done.returncode == -signal.SIGALRM:
            why = f"not done after {options.timeout:g} s"
        if found is None:
            return earlier or {"right": False, "why": why}
        found["failed"] = dict.fromkeys(contenders, why)
    if found is None:
        return earlier or {"right": False, "why": "said nothing"}
    if found.get("failed") and earlier:
        return earlier
    kept.write_text(json.dumps(found))
    return found


def _found(said: str) -> dict[str, Any] | None:
    """Returns what a child found last; between may be lines of others."""
    for line in reversed(said.splitlines()):
        if line.startswith('{"right"'):
            return json.loads(line)
    return None


def _last_line(said: str, status: int) -> str:
    lines = said.strip().splitlines() or [f"exit status {status}"]
    return lines[-1][:_SAID_LENGTH]


def _line(row: dict[str, Any], width: int, contenders: Sequence[str]) -> str:
    if "why" in row:
        return f"{row['name']:<{width}} {row['why']}"
    error, seconds = row["error"], row["seconds"]
    text = f"{row['name']:<{width}} {error['ours']:11.1e} {error['eager']:9.1e}"
    if "ours" in seconds:
        ours = seconds["ours"]
        text += f" {ours * 1e3:7.2f} ms"
        for name in contenders:
            theirs = seconds.get(name)
            text += f" {theirs * 1e3:7.2f} ms {theirs / ours:6.2f}" if theirs else " " * 18
    text += "".join(f"  {name}: {why}" for name, why in row.get("failed", {}).items())
    return text if row["right"] else f"{text} WRONG"


def summary(rows: Sequence[dict[str, Any]], contenders: Sequence[str]) -> list[str]:
    """Returns what right networks come to, a line a contender: of each level that they name in
    front, as drawn problems do, and of all.
    """
    levels = sorted({found[0] for row in rows if (found := _LEVEL.match(row["name"]))})
    lines: list[str] = []
    for level in (*levels, ""):
        for name in contenders:
            seconds = [
                row["seconds"]
                for row in rows
                if row["right"] and row["name"].startswith(level) and name in row["seconds"]
            ]
            ratios = [each[name] / each["ours"] for each in seconds]
            if ratios:
                even, slow = sum(r >= _EVEN for r in ratios), sum(r < _SLOW for r in ratios)
                mean = statistics.geometric_mean(ratios)
                lines.append(
                    f"{level or 'all':<8} {name:>16} / ours: {mean:.2f} of {len(ratios)};"
                    f" {even} at {_EVEN} or better, {slow} below {_SLOW}"
                )
    return lines
