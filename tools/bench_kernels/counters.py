"""What the GPU's counters say of slow rows' kernels, read by Nsight Compute (`ncu`)."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SAID_LENGTH = 300
_DURATION = "gpu__time_duration.sum"
# Nsight Compute's names of what is in percent of the chip's peak, and hirc's.
_SHARES = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2",
    "l1tex__throughput.avg.pct_of_peak_sustained_active": "L1",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps",
}
# A kernel of torch's that the child launches before each row's.
MARKER = "spin_kernel"


class CountersError(Exception):
    """The counters cannot be read; says why."""


@dataclass
class Kernel:
    """A launch: its time in microseconds, and percents of the chip's peaks."""

    name: str
    grid: str
    block: str
    microseconds: float = 0.0
    shares: dict[str, float] = field(default_factory=dict[str, float])

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {percent:.0f} %" for name, percent in self.shares.items())
        return f"{self.microseconds:8.1f} us  {shares}  {self.name} {self.grid} x {self.block}"


def counters(
    requests: Sequence[Mapping[str, Any]],
    words: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    seconds: float,
) -> list[list[Kernel]]:
    """Returns the kernels of each request's program, which a child of these words runs once.

    Raises CountersError where there is no `ncu`, where it fails, or has not done in `seconds`.
    """
    tool = shutil.which("ncu")
    if tool is None:
        raise CountersError("there is no ncu (Nsight Compute) on the PATH")
    # Clocks stay as they are: locking them needs rights that few have.
    asked = ["--profile-from-start", "off", "--clock-control", "none", "--print-units", "base"]
    asked += ["--csv", "--metrics", ",".join([_DURATION, *_SHARES]), "--log-file", str(log)]
    try:
        done = subprocess.run(
            [tool, *asked, *words],
            input="".join(json.dumps(request) + "\n" for request in requests),
            capture_output=True,
            env=dict(environment),
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CountersError(f"ncu is not done in {seconds:g} s") from error
    text = log.read_text(errors="replace") if log.exists() else ""
    found = list(_rows(text))
    if done.returncode or len(found) != len(requests):
        said = (text if not found else "") + done.stderr
        last = (said.strip().splitlines() or ["it says nothing"])[-1]
        raise CountersError(f"ncu ended with status {done.returncode}: {last[-_SAID_LENGTH:]}")
    return found


def _rows(text: str) -> Iterator[list[Kernel]]:
    """Yields the kernels after each marker. A line of the text is a metric of a launch."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    launches: dict[str, Kernel] = {}
    for line in csv.DictReader(lines[start:]):
        kernel = launches.setdefault(
            line["ID"], Kernel(line["Kernel Name"], line["Grid Size"], line["Block Size"])
        )
        value = float(line["Metric Value"].replace(",", ""))
        if line["Metric Name"] == _DURATION:
            kernel.microseconds = value / 1e3
        else:
            kernel.shares[_SHARES[line["Metric Name"]]] = value
    row: list[Kernel] | None = None
    for kernel in launches.values():
        if MARKER in kernel.name:
            if row is not None:
                yield row
            row = []
        elif row is not None:
            row.append(kernel)
    if row is not None:
        yield row
