"""What a run found, and whether it is what each row has to reach."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from .row import BUILDS, DYNAMIC, STATIC, Row

EAGER, INDUCTOR, MAX_AUTOTUNE = "eager", "inductor", "max-autotune"
# Of attention alone: eager by cuDNN's kernel. Eager itself takes another.
CUDNN = "cudnn"
PEERS = (EAGER, INDUCTOR, MAX_AUTOTUNE, CUDNN)
CONTENDERS = (*BUILDS, *PEERS)
# What a program of any size may lose against one with its sizes in it.
_DYNAMIC_SHARE = 0.97
# What most drawn rows reach of the best peer, and what all do.
DRAWN_SHARE, LEAST_SHARE = 0.97, 0.8
# Of an error in the table; the JSON has it in full.
_SHOWN = 100
# Of ratios, which are judged as they are printed.
_DIGITS = 2


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median, the first and last decile, and of how many."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        ordered = sorted(seconds)
        tenth = len(ordered) // 10
        return cls(statistics.median(ordered), ordered[tenth], ordered[-1 - tenth], len(ordered))


@dataclass
class Line:
    """A row with what was measured, by contender, and what was not, with why."""

    row: Row
    timings: dict[str, Timing] = field(default_factory=dict[str, Timing])
    problems: dict[str, str] = field(default_factory=dict[str, str])

    def rate(self, contender: str) -> float | None:
        """GB/s, or TFLOP/s of a matrix product."""
        timing = self.timings.get(contender)
        if timing is None:
            return None
        work = self.row.flops / 1e12 if self.row.flops else self.row.bytes / 1e9
        return work / timing.median

    @property
    def build(self) -> str:
        """Which of hirc's programs is compared: a drawn row has only one."""
        return DYNAMIC if self.row.is_open else STATIC

    def best_peer(self) -> float | None:
        """Returns the rate of the fastest peer that was measured."""
        return max((rate for peer in PEERS if (rate := self.rate(peer)) is not None), default=None)

    def ratio(self) -> float | None:
        """Ours to the best peer's."""
        ours, theirs = self.rate(self.build), self.best_peer()
        return ours / theirs if ours is not None and theirs is not None else None


@dataclass
class Report:
    """A run: the machine, what a copy takes there, and the lines."""

    machine: dict[str, str] = field(default_factory=dict[str, str])
    copy_bytes: int = 0
    copy: Timing | None = None
    lines: list[Line] = field(default_factory=list[Line])

    @property
    def copy_rate(self) -> float | None:
        """GB/s of a copy."""
        return self.copy_bytes / 1e9 / self.copy.median if self.copy else None

    def share(self, line: Line, contender: str) -> float | None:
        """Returns a rate as a share of the copy's; of torch's own speed for a matrix product."""
        rate = line.rate(contender)
        whole = line.rate(EAGER) if line.row.flops else self.copy_rate
        return rate / whole if rate is not None and whole else None

    def shortfalls(self, line: Line) -> list[str]:
        """Why a line fails; empty where it reaches its bar. What was not measured is not judged."""
        found = [f"{name}: {line.problems[name]}" for name in BUILDS if name in line.problems]
        rate = line.rate(line.build)
        if rate is None:
            return found or [f"{line.build}: not measured"]
        ratio, row = line.ratio(), line.row
        if row.label:
            slow = ratio is not None and round(ratio, _DIGITS) < DRAWN_SHARE
            return [*found, f"{ratio:.2f} of the best peer"] if slow else found
        share = self.share(line, STATIC)
        reaches_figure = 0 < row.figure <= rate
        if share is not None and not reaches_figure and round(share, _DIGITS) < row.share:
            found.append(f"{share:.2f} of {'torch' if row.flops else 'a copy'}, not {row.share}")
        if ratio is not None and not row.flops and round(ratio, _DIGITS) < 1:
            found.append(f"{ratio:.2f} of the best peer")
        dynamic = line.rate(DYNAMIC)
        if dynamic is not None and round(dynamic / rate, _DIGITS) < _DYNAMIC_SHARE:
            found.append(f"dynamic: {dynamic / rate:.2f} of static")
        return found

    @staticmethod
    def is_far_below(line: Line) -> bool:
        """Whether a line is farther below the best peer than any drawn row should be."""
        ratio = line.ratio()
        return ratio is not None and round(ratio, _DIGITS) < LEAST_SHARE

    def table(self) -> str:
        """Returns the lines for people."""
        shown = [
            c for c in CONTENDERS if any(c in ln.timings or c in ln.problems for ln in self.lines)
        ]
        width = max((len(line.row.name) for line in self.lines), default=3)
        titles = [*shown, "share", "ratio", "bar", "verdict"]
        text = [
            "GB/s; TFLOP/s of matrix products. share: of a copy's rate (products: of eager's); "
            "ratio: to the best peer.",
            f"{'row':<{width}} " + " ".join(f"{title:>8}" for title in titles[:-1]) + "  verdict",
        ]
        text += [f"{line.row.name:<{width}} " + self._cells(line, shown) for line in self.lines]
        passed = sum(not self.shortfalls(line) for line in self.lines)
        text.append(f"{passed} of {len(self.lines)} rows reach their bar")
        return "\n".join([*text, *self._by_kind()])

    def _by_kind(self) -> list[str]:
        """Returns what is said of drawn rows: means of their ratios to the best peer."""
        drawn = [line for line in self.lines if line.row.label]
        if not drawn:
            return []
        kinds = dict.fromkeys(line.row.operation for line in drawn)
        groups = {kind: [ln for ln in drawn if ln.row.operation == kind] for kind in kinds}
        found: list[str] = []
        for name, lines in (*groups.items(), ("all", drawn)):
            ratios = [ratio for line in lines if (ratio := line.ratio()) is not None]
            wrong = sum(line.build in line.problems for line in lines)
            text = f"{name:<14} {len(lines):>4} drawn, {wrong:>3} not built or not right"
            if ratios:
                mean = statistics.geometric_mean(ratios)
                reached = sum(round(each, _DIGITS) >= DRAWN_SHARE for each in ratios)
                low = sum(self.is_far_below(line) for line in lines)
                text += (
                    f"; geometric mean {mean:.3f}, least {min(ratios):.2f}, "
                    f"{reached / len(ratios):.0%} at {DRAWN_SHARE}, {low} below {LEAST_SHARE}"
                )
            found.append(text)
        return found

    def progress(self, line: Line) -> str:
        """Returns a line on its own, as soon as it is measured."""
        cells = [f"{name} {self._rate_cell(line, name)}" for name in line.timings | line.problems]
        share, verdict = self.share(line, STATIC), "; ".join(self.shortfalls(line)) or "pass"
        shown = f", {share:.3f}" if share is not None else ""
        return f"{line.row.name}: {', '.join(cells)}{shown}: {verdict}"

    def _cells(self, line: Line, shown: Sequence[str]) -> str:
        cells = [self._rate_cell(line, contender) for contender in shown]
        share, ratio = self.share(line, STATIC), line.ratio()
        cells.append("-" if share is None else f"{share:.3f}")
        cells.append("-" if ratio is None else f"{ratio:.3f}")
        cells.append(f"{line.row.share:.2f}" if line.row.share else "-")
        verdict = "; ".join(_short(text) for text in self.shortfalls(line)) or "pass"
        peers = [
            f"{name}: {_short(line.problems[name])}" for name in PEERS if name in line.problems
        ]
        notes = f"  ({'; '.join(peers)})" if peers else ""
        return " ".join(f"{cell:>8}" for cell in cells) + f"  {verdict}{notes}"

    @staticmethod
    def _rate_cell(line: Line, contender: str) -> str:
        rate = line.rate(contender)
        if rate is None:
            return "error" if contender in line.problems else "-"
        return f"{rate:.1f}" if rate < 1000 else f"{rate:.0f}"

    def to_json(self) -> dict[str, Any]:
        """Returns all of it, the judged figures too."""
        return {
            "machine": self.machine,
            "copy": {
                "bytes": self.copy_bytes,
                "seconds": asdict(self.copy) if self.copy else None,
                "rate": self.copy_rate,
            },
            "rows": [self._line_json(line) for line in self.lines],
        }

    def _line_json(self, line: Line) -> dict[str, Any]:
        return {
            "row": line.row.to_json(),
            "seconds": {name: asdict(timing) for name, timing in line.timings.items()},
            "rates": {name: line.rate(name) for name in line.timings},
            "problems": line.problems,
            "share": self.share(line, STATIC),
            "ratio": line.ratio(),
            "shortfalls": self.shortfalls(line),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        copy = fields["copy"]
        lines = [
            Line(
                Row.from_json(line["row"]),
                {name: Timing(**timing) for name, timing in line["seconds"].items()},
                line["problems"],
            )
            for line in fields["rows"]
        ]
        seconds = Timing(**copy["seconds"]) if copy["seconds"] else None
        return cls(fields["machine"], copy["bytes"], seconds, lines)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
