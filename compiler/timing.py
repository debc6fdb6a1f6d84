"""Where a compilation's time goes: nested phases, for --time-report."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from time import perf_counter

from ..dialects.records import dataclass
from . import trace

_START_UP = "start-up and imports"


@dataclass
class Timer:
    """Adds up wall-clock seconds by phase, in order of first use.

    `remarks` are lines that the report ends with: what else was measured of the programs.
    """

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    remarks: list[str] = field(default_factory=list[str])
    started: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        trace.check()

    def begin_at(self, began: float) -> None:
        """Counts from an earlier `perf_counter()` on: what passed since is start-up."""
        self.seconds = {_START_UP: self.started - began, **self.seconds}
        trace.add(_START_UP, "stage", began)
        self.started = began

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin
            trace.add(name, "stage", begin)

    def report(self) -> str:
        """Returns a table of phases: seconds and their share of all time since it was started."""
        total = perf_counter() - self.started
        lines = ["===== time report (seconds, share of the whole) ====="]
        for name, seconds in self.seconds.items():
            lines.append(f"{seconds:8.3f}  {seconds / total:6.1%}  {name}")
        other = total - sum(self.seconds.values())
        lines.append(f"{other:8.3f}  {other / total:6.1%}  other")
        lines.append(f"{total:8.3f}  100.0%  total")
        return "\n".join([*lines, *self.remarks])


def process_start() -> float:
    """When this process was started, as `perf_counter()` would have said then.

    Now where the system does not tell, as it does in hundredths of a second.
    """
    now = perf_counter()
    try:
        # After the name, which is in parentheses, the 20th field (proc(5)).
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError):
        return now
    return now - max(age, 0.0)
