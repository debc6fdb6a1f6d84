"""Where a compilation's time goes: nested phases, for --time-report."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter


@dataclass
class Timer:
    """Adds up wall-clock seconds by phase, in order of first use.

    `remarks` are lines that the report ends with: what else was measured of the programs.
    """

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    remarks: list[str] = field(default_factory=list[str])
    started: float = field(default_factory=perf_counter)

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin

    def report(self) -> str:
        """A table of phases: seconds and their share of all time since the timer was made."""
        total = perf_counter() - self.started
        lines = ["===== time report (seconds, share of the whole) ====="]
        for name, seconds in self.seconds.items():
            lines.append(f"{seconds:8.3f}  {seconds / total:6.1%}  {name}")
        other = total - sum(self.seconds.values())
        lines.append(f"{other:8.3f}  {other / total:6.1%}  other")
        lines.append(f"{total:8.3f}  100.0%  total")
        return "\n".join([*lines, *self.remarks])
