"""Runs the rows of a folder on this machine: `python3 FOLDER/run.py`.

The work is done by child processes: one that times, started again when a row breaks it, and before
it some that compile for Inductor, whose compiled kernels the first finds in a cache.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .counters import CountersError, counters
from .process import Child, ChildError, LateError
from .report import CUDNN, EAGER, INDUCTOR, PEERS, Line, Report, Timing
from .row import ATTENTION, DYNAMIC, STATIC, Row

_LEFT_OUT = "left out: no time"
# Each child has so many.
_COMPILE_THREADS = "4"
# What one contender of a row takes, before any was run.
_FIRST_GUESS = 0.5
# What --brief times: see measure.py.
_BRIEF = {"seconds": 0.02, "fewest": 12, "turns": 4}


@dataclass(frozen=True)
class _Item:
    """A row of the folder and where its programs are."""

    row: Row
    programs: dict[str, dict[str, str]]


def main(folder: Path, arguments: Sequence[str] | None = None) -> int:
    """Runs, prints and writes. Returns the exit status: 1 where a row misses its bar."""
    options = _parse(arguments)
    description = json.loads((folder / "rows.json").read_text())
    device = description["device"]
    if options.child:
        # Imported late: torch takes seconds to load.
        from .child import serve

        serve(folder, device, description["words"])
        return 0
    items = [_Item(Row.from_json(each["row"]), each["programs"]) for each in description["rows"]]
    items = [item for item in items if item.row.is_chosen(options.rows)]
    peers = [EAGER, INDUCTOR, CUDNN] if device == "cuda" else []
    if options.ours_only or options.peers is not None:
        peers = [] if options.ours_only else options.peers
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as scratch:
        session = _Session(folder, Path(scratch), " ".join(description["words"]), options)
        try:
            report = session.run(items, peers, options.warm)
        except ChildError as error:
            print(f"error: no rows could be run: {error}", file=sys.stderr)
            return 1
        print(report.table())
        if options.counters:
            session.show_counters(items)
    return 1 if any(report.shortfalls(line) for line in report.lines) else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    parser.add_argument("--rows", default="*", metavar="PARTS", help="rows with these in the name")
    parser.add_argument(
        "--peers",
        type=_peers,
        help=f"of {','.join(PEERS)}, or none (eager,inductor,cudnn)",
    )
    parser.add_argument("--ours-only", action="store_true", help="the same as --peers none")
    parser.add_argument("--json", type=Path, metavar="F.json", help="write the figures")
    parser.add_argument(
        "--seconds", type=float, default=480, help="time for all: then peers are left out (480)"
    )
    parser.add_argument(
        "--timeout", type=float, default=60, help="seconds for one program of a row (60)"
    )
    parser.add_argument(
        "--warm", type=int, default=6, help="processes that compile for Inductor beforehand (6)"
    )
    parser.add_argument(
        "--compiled",
        type=int,
        metavar="N",
        help="run Inductor for N rows alone, spread over all (all)",
    )
    parser.add_argument(
        "--brief", action="store_true", help="time each for a fifth as long, in half the turns"
    )
    parser.add_argument(
        "--counters",
        action="store_true",
        help="print what ncu counts of the kernels of rows far below the best peer",
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _peers(text: str) -> list[str]:
    if text == "none":
        return []
    names = text.split(",")
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no peer '{unknown[0]}': {', '.join(PEERS)} or none")
    return names


class _Session:
    """One run of chosen rows."""

    def __init__(
        self, folder: Path, scratch: Path, built: str, options: argparse.Namespace
    ) -> None:
        self.folder = folder
        self.scratch = scratch
        self.timeout: float = options.timeout
        self.json: Path | None = options.json
        self.built = built
        self.end = time.monotonic() + options.seconds
        self.compiled: int | None = options.compiled
        self.effort = _BRIEF if options.brief else {}
        self.started = 0
        self.report = Report()

    def run(self, items: Sequence[_Item], peers: Sequence[str], warm: int) -> Report:
        """Measures the rows; what goes wrong is in the report."""
        compiled = [peer for peer in peers if peer not in (EAGER, CUDNN)]
        count = len(items) if self.compiled is None else min(self.compiled, len(items))
        chosen = {place * len(items) // count for place in range(count)} if count else set[int]()
        if compiled and warm:
            some = [item for place, item in enumerate(items) if place in chosen]
            self._compile_beforehand(some, compiled, warm)
        everyone = peers
        child = self._prepared_child()
        each = _FIRST_GUESS
        for place, item in enumerate(items):
            line = Line(item.row)
            peers = [peer for peer in everyone if peer not in compiled or place in chosen]
            if item.row.operation != ATTENTION and CUDNN in peers:
                peers.remove(CUDNN)
            self.report.lines.append(line)
            begin = time.monotonic()
            if begin > self.end:
                line.problems = dict.fromkeys(item.programs, _LEFT_OUT)
                self._show(line)
                continue
            # hirc's programs in later rows come before peers in this one.
            later = sum(len(other.programs) for other in items[place + 1 :])
            if begin + each * (len(item.programs) + len(peers) + later) > self.end:
                line.problems.update(dict.fromkeys(peers, _LEFT_OUT))
            contenders = [*item.programs, *(peer for peer in peers if peer not in line.problems)]
            child = self._measure(child, line, item, contenders)
            each = 0.7 * each + 0.3 * (time.monotonic() - begin) / len(contenders)
            self._show(line)
        child.close()
        return self.report

    def show_counters(self, items: Sequence[_Item]) -> None:
        """Prints the counters of the rows that are far below the best peer."""
        programs = {item.row.name: item.programs for item in items}
        slow = [line for line in self.report.lines if self.report.is_far_below(line)]
        requests = [
            {
                "do": "profile",
                "row": line.row.to_json(),
                "program": programs[line.row.name][line.build],
            }
            for line in slow
        ]
        try:
            found = counters(
                requests,
                self._child_words,
                self._environment,
                self.scratch / "counters.csv",
                self.timeout * (1 + len(requests)),
            )
        except CountersError as error:
            print(f"no counters: {error}")
            return
        for line, kernels in zip(slow, found, strict=True):
            print(f"{line.row.name}: {'; '.join(self.report.shortfalls(line))}")
            print("".join(f"    {kernel}\n" for kernel in kernels), end="")

    def _show(self, line: Line) -> None:
        """Prints a line, and writes all there is: a run may be ended from outside."""
        print(self.report.progress(line), file=sys.stderr, flush=True)
        if self.json:
            self.json.write_text(json.dumps(self.report.to_json(), indent=1) + "\n")

    def _child(self) -> Child:
        self.started += 1
        log = self.scratch / f"child-{self.started}.log"
        return Child(self._child_words, self._environment, log)

    @property
    def _child_words(self) -> list[str]:
        return [sys.executable, str(self.folder / "run.py"), "--child"]

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": str(self.scratch / "inductor"),
            "TRITON_CACHE_DIR": str(self.scratch / "triton"),
            "TORCHINDUCTOR_COMPILE_THREADS": _COMPILE_THREADS,
        }

    def _prepared_child(self) -> Child:
        child = self._child()
        self.report.machine = {
            **child.ask({"do": "machine"}, self.timeout)["machine"],
            "built": self.built,
        }
        copy = child.ask({"do": "copy"}, self.timeout)
        self.report.copy, self.report.copy_bytes = Timing(**copy["copy"]), copy["bytes"]
        return child

    def _measure(self, child: Child, line: Line, item: _Item, contenders: Sequence[str]) -> Child:
        """Measures these; returns the child that goes on, a new one where it broke."""
        left = list(contenders)
        while left:
            current = left[0]
            try:
                child.send(_request(item, left, self.effort, is_timed=True))
                while "end" not in (event := child.receive(self.timeout)):
                    if "begin" in event:
                        current = event["begin"]
                    elif "timing" in event:
                        line.timings[event["of"]] = Timing(**event["timing"])
                    else:
                        line.problems[current] = event["problem"]
                return child
            except ChildError as error:
                line.problems[current] = str(error)
                child.close()
                child = self._child()
                if isinstance(error, LateError) and current == STATIC and DYNAMIC in left:
                    line.problems[DYNAMIC] = "not run: the static program took too long"
                # The others are checked and timed anew.
                left = [name for name in left if name not in line.problems]
        return child

    def _compile_beforehand(self, items: Sequence[_Item], peers: Sequence[str], count: int) -> None:
        """Fills Inductor's cache, several rows at a time, for at most a third of the time."""
        end = time.monotonic() + (self.end - time.monotonic()) / 3
        waiting = list(items)
        children = [self._child() for _ in range(min(count, len(waiting)))]
        idle, busy = list(children), list[Child]()
        try:
            while time.monotonic() < end and (busy or (waiting and idle)):
                while waiting and idle:
                    child = idle.pop()
                    child.send(_request(waiting.pop(0), peers, {}, is_timed=False))
                    busy.append(child)
                for child in list(busy):
                    try:
                        event = child.poll(0.05)
                    except ChildError as error:
                        print(f"compiling beforehand: {error}", file=sys.stderr)
                        busy.remove(child)
                        continue
                    if event is not None and "end" in event:
                        busy.remove(child)
                        idle.append(child)
        finally:
            for child in children:
                child.close()
        # Which of a kernel's forms is fastest was tried while others ran: that is to be found anew.
        for found in (self.scratch / "inductor").rglob("*.best_config"):
            found.unlink(missing_ok=True)


def _request(
    item: _Item, contenders: Sequence[str], effort: dict[str, Any], *, is_timed: bool
) -> dict[str, Any]:
    return {
        **({"effort": effort} if effort else {}),
        "do": "row",
        "row": item.row.to_json(),
        "programs": item.programs,
        "contenders": list(contenders),
        "timed": is_timed,
    }
