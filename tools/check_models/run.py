"""Runs the networks of a folder on this machine: `python3 FOLDER/run.py`, a process for each."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

CONTENDERS = ("eager", "compile", "reduce-overhead", "max-autotune")

_SAID_LENGTH = 200


def main(folder: Path, arguments: Sequence[str] | None = None) -> int:
    """Runs, prints and writes. Returns the exit status: 1 where a network is not right."""
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
        "--again", action="store_true", help="also those that an earlier run has a result of"
    )
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        # Imported late: torch takes seconds to load.
        from .compare import compare

        print(json.dumps(compare(folder, options.child, options.contenders)))
        return 0
    rows: list[dict[str, Any]] = []
    names = "".join(f" {name:>17}" for name in options.contenders)
    print(f"{'':<28} {'error':>9} {'torch':>9} {'ours':>10}{names}")
    for file in sorted(folder.glob("*.json")):
        description = json.loads(file.read_text())
        # Beside a network's own file are others of its build.
        name = file.stem
        is_network = isinstance(description, dict) and description.get("name") == name
        if not is_network or not _is_chosen(name, options.models):
            continue
        result = _result(folder, description, options)
        rows.append({"name": name, "build": description["seconds"], **result})
        print(_line(rows[-1]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    wrong = sum(not row["right"] for row in rows)
    print(f"{len(rows)} networks, {wrong} not right")
    return 1 if wrong or not rows else 0


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in CONTENDERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]}: there are {', '.join(CONTENDERS)}")
    return names


def _is_chosen(name: str, parts: str) -> bool:
    return any(fnmatch(name, f"*{part}*") for part in parts.split(","))


def _result(
    folder: Path, description: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any]:
    """Returns what a child found of a network, or an earlier run's did."""
    if "error" in description:
        return {"right": False, "why": f"not built: {description['error']}"}
    name = description["name"]
    kept = folder / f"{name}.result"
    if kept.exists() and not options.again:
        return json.loads(kept.read_text())
    command = [sys.executable, str(folder / "run.py"), "--child", name]
    try:
        done = subprocess.run(
            [*command, f"--contenders={','.join(options.contenders)}"],
            capture_output=True,
            text=True,
            timeout=options.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"right": False, "why": f"not done after {options.timeout:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return {"right": False, "why": lines[-1][:_SAID_LENGTH]}
    kept.write_text(done.stdout)
    return json.loads(done.stdout)


def _line(row: dict[str, Any]) -> str:
    if "why" in row:
        return f"{row['name']:<28} {row['why']}"
    error, seconds = row["error"], row["seconds"]
    text = f"{row['name']:<28} {error['ours']:9.1e} {error['eager']:9.1e}"
    if seconds:
        ours = seconds.pop("ours")
        text += f" {ours * 1e3:7.2f} ms"
        for theirs in seconds.values():
            text += f" {theirs * 1e3:7.2f} ms {theirs / ours:6.2f}"
    return text if row["right"] else f"{text} WRONG"
