"""The command: draws functions, compiles them in batches, and says which went wrong."""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .draw import draw

# Often kernels as they are for -O2, at the price of -O0; -O2 itself costs fifteen times -O0.
_WORDS = [
    *[["-O0", "--schedules=tuned"]] * 7,
    *[["-O0"]] * 12,
    *[["-O2"]],
]
_PLACE = re.compile(r"batch\.mlir:(\d+)")


@dataclass
class Report:
    """What came of the functions, by seed; `kinds` counts them."""

    folder: Path
    kinds: Counter[str] = field(default_factory=Counter[str])
    compared: int = 0

    def add(self, kind: str, seed: int, words: Sequence[str], text: str = "") -> None:
        self.kinds[kind] += 1
        if kind == "right":
            return
        print(f"{kind}: seed {seed} {' '.join(words)}: {text.strip()}", flush=True)
        (self.folder / f"{kind}-{seed}.mlir").write_text(
            "".join(f"// {line}\n" for line in text.strip().split("\n"))
            + f"// {' '.join(words)}\n{draw(seed).text('main')}\n"
        )

    def summary(self, seconds: float, processor: float) -> str:
        total = sum(self.kinds.values())
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        return (
            f"{total} functions: {counts}; {self.compared} elements compared; "
            f"{seconds:.0f} s, {processor / max(total, 1):.2f} s of processor time each"
        )


@dataclass(frozen=True)
class Outcome:
    """What a child process printed, how it ended, and what it said was wrong."""

    events: list[dict[str, Any]]
    status: int
    errors: str

    def has(self, event: str) -> bool:
        return any(each["event"] == event for each in self.events)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what the command line says. Returns 1 where a function went wrong."""
    parser = argparse.ArgumentParser(prog="fuzz_functions", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many functions")
    parser.add_argument("--batch", type=int, default=48, help="functions of one library")
    parser.add_argument("--limit", type=float, default=300, help="seconds that a batch may take")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where failures go")
    parser.add_argument("--print", type=int, metavar="SEED", help="print a function and stop")
    parser.add_argument(
        "words", nargs="*", help="words for hirc, after --; else they are drawn for each batch"
    )
    options = parser.parse_args(arguments)
    if options.print is not None:
        print(draw(options.print).text("main"))
        return 0
    options.keep.mkdir(parents=True, exist_ok=True)
    report, start = Report(options.keep), time.monotonic()
    for first in range(options.first, options.first + options.count, options.batch):
        seeds = list(range(first, min(first + options.batch, options.first + options.count)))
        words = options.words or random.Random(first).choice(_WORDS)
        _batch(seeds, words, options.limit, report)
        print(report.summary(time.monotonic() - start, _processor_seconds()), flush=True)
    return 1 if set(report.kinds) - {"right", "refused"} else 0


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _batch(seeds: list[int], words: list[str], limit: float, report: Report) -> None:
    """Compiles and runs functions; those that stop the others are taken out one by one."""
    while seeds:
        outcome = _child(seeds, words, limit)
        if outcome.has("compiled"):
            seeds = _ran(seeds, words, outcome, report)
            continue
        kind = "refused" if outcome.has("refused") else "crashed"
        text = outcome.errors if kind == "refused" else f"{outcome.status}: {outcome.errors}"
        if len(seeds) == 1:
            is_clean = "internal" not in text and "bug" not in text and "Traceback" not in text
            report.add(kind if is_clean or kind == "crashed" else "broken", seeds[0], words, text)
            return
        culprit = _culprit(seeds, outcome.errors)
        if culprit is None:
            middle = len(seeds) // 2
            _batch(seeds[:middle], words, limit, report)
            seeds = seeds[middle:]
        else:
            _batch([culprit], words, limit, report)
            seeds = [seed for seed in seeds if seed != culprit]


def _ran(seeds: list[int], words: list[str], outcome: Outcome, report: Report) -> list[int]:
    """Reports what functions gave; returns those that were not run, for one that died."""
    done: set[int] = set()
    for event in outcome.events:
        if event["event"] == "done":
            report.compared += event.get("compared", 0)
            kind = "wrong" if "wrong" in event else "right"
            report.add(kind, event["seed"], words, event.get("wrong", ""))
        elif event["event"] == "failed":
            report.add("failed", event["seed"], words, event["text"])
        else:
            continue
        done.add(event["seed"])
    rest = [seed for seed in seeds if seed not in done]
    if rest:
        report.add("died", rest[0], words, f"status {outcome.status}: {outcome.errors}")
    return rest[1:]


def _culprit(seeds: list[int], errors: str) -> int | None:
    """The function that an error message's line is in."""
    match = _PLACE.search(errors)
    if match is None:
        return None
    line, at = int(match[1]), 0
    for seed in seeds:
        at += draw(seed).text("f").count("\n") + 1
        if line <= at:
            return seed
    return None


def _child(seeds: list[int], words: list[str], limit: float) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="hirc-fuzz-") as folder:
        job = json.dumps({"seeds": seeds, "folder": folder, "words": words})
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "hirc.tools.fuzz_functions.child"],
                input=job,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            lines = (error.stdout or b"").decode()
            return Outcome(_events(lines), -1, f"took more than {limit:.0f} s")
        return Outcome(_events(ended.stdout), ended.returncode, ended.stderr[-3000:])


def _events(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.split("\n") if line.startswith("{")]


if __name__ == "__main__":
    sys.exit(main())
