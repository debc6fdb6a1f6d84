"""The command: draws functions, compiles them in batches, and says which went wrong."""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Any, NoReturn

import torch

from .. import hirc
from . import child
from .draw import draw

# Words for hirc, and for how many batches of a hundred. Against -O0, tuned schedules take six times
# as long, as they make a kernel for each kind of size, -O2 three times, and both thirty times.
_WORDS: dict[tuple[str, ...], int] = {
    ("-O0",): 91,
    ("-O0", "--schedules=tuned"): 5,
    ("-O2", "--schedules=general"): 3,
    ("-O2", "--schedules=tuned"): 1,
}
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
    _load()
    report, start = Report(options.keep), time.monotonic()
    for first in range(options.first, options.first + options.count, options.batch):
        seeds = list(range(first, min(first + options.batch, options.first + options.count)))
        words = options.words or _words(first)
        _batch(seeds, words, options.limit, report)
        print(report.summary(time.monotonic() - start, _processor_seconds()), flush=True)
    return 1 if set(report.kinds) - {"right", "refused"} else 0


def _words(first: int) -> list[str]:
    """Returns the words for the batch that begins with a seed."""
    return list(*random.Random(first).choices(list(_WORDS), list(_WORDS.values())))


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


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
    """Returns the function that an error message's line is in."""
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
    """Runs a batch in a process of its own, which begins with what this one has loaded."""
    with tempfile.TemporaryDirectory(prefix="hirc-fuzz-") as folder:
        printed, said = Path(folder, "printed"), Path(folder, "said")
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            _work(seeds, Path(folder), words, printed, said)
        with open(os.pidfd_open(process)) as ended:
            is_done = bool(select([ended], [], [], limit)[0])
        if not is_done:
            os.killpg(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        events = _events(printed.read_text() if printed.exists() else "")
        if not is_done:
            return Outcome(events, -1, f"took more than {limit:.0f} s")
        errors = said.read_bytes().decode(errors="replace") if said.exists() else ""
        return Outcome(events, os.waitstatus_to_exitcode(status), errors[-3000:])


def _work(seeds: list[int], folder: Path, words: list[str], printed: Path, said: Path) -> NoReturn:
    """What the process of a batch does."""
    status = 1
    try:
        os.setpgid(0, 0)
        for stream, path in ((1, printed), (2, said)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), stream)
        # What stood in the streams' buffers is the parent's; a test may have other streams.
        sys.stdout, sys.stderr = (os.fdopen(each, "w", closefd=False) for each in (1, 2))
        child.run(seeds, folder, words, [draw(seed) for seed in seeds])
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _load() -> None:
    """Loads what compiles and runs a batch, and all that is loaded when it is first needed."""
    with tempfile.TemporaryDirectory(prefix="hirc-fuzz-") as folder:
        source = Path(folder, "batch.mlir")
        source.write_text(draw(0).text("f0"))
        for words in (["-O0"], ["-O0", "--schedules=tuned"]):
            if hirc.main([str(source), "-o", f"{folder}/batch.so", *child.LIBRARY, *words]) != 0:
                raise SystemExit("the first function does not compile")
    # A child has no other threads than the one that forks, and shares the memory of what stays.
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


def _events(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.split("\n") if line.startswith("{")]


if __name__ == "__main__":
    sys.exit(main())
