"""How compile time grows with a program: `python -m hirc.tools.bench_scale`.

Compiles programs of several shapes (bench_scale_programs.py) at several sizes. Of each: seconds of
processor time, of which the stages that take most, the most memory, and the exponent by which time
and memory grow from one size to the next: 1 is linear. A size whose program takes longer than
`--limit` seconds is the last of its shape.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .bench_scale_programs import KINDS

_ROW = re.compile(r"^ *([\d.]+) +[\d.]+% +(.+)$", re.MULTILINE)
_SHOWN = 4


@dataclass(frozen=True)
class Compiled:
    """One compilation: processor time, memory, the wall time of its stages, and how it ended."""

    count: int
    seconds: float
    megabytes: float
    stages: dict[str, float]
    status: int

    def row(self, before: Compiled | None) -> str:
        exponents = "    -     -"
        if before is not None and self.status == 0:
            step = math.log(self.count / before.count)
            time = math.log(self.seconds / before.seconds) / step
            memory = math.log(self.megabytes / before.megabytes) / step
            exponents = f"{time:5.2f} {memory:5.2f}"
        largest = sorted(self.stages.items(), key=lambda item: -item[1])[:_SHOWN]
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in largest)
        failed = f"  failed with status {self.status}" if self.status else ""
        used = f"{self.count:7} {self.seconds:8.1f} {self.megabytes:8.0f}"
        return f"{used} {exponents}  {stages}{failed}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints. Returns the exit status: 1 where a program was not compiled."""
    options = _parse(arguments)
    status = 0
    with tempfile.TemporaryDirectory(prefix="hirc-bench-") as folder:
        for kind in options.kinds or KINDS:
            print(f"\n{kind}\n  count  seconds       MB  time   mem  stages (seconds of the clock)")
            before: Compiled | None = None
            for count in options.counts:
                found = _compile(kind, count, options, Path(folder))
                print(found.row(before), flush=True)
                before, status = found, status or int(found.status != 0)
                if found.status != 0 or found.seconds > options.limit:
                    break
    return status


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench_scale", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--arch", default="cpu", help="--offload-arch (cpu)")
    parser.add_argument("--limit", type=float, default=60.0, metavar="SECONDS")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.kinds) - set(KINDS))
    if unknown:
        parser.error(f"no kind '{unknown[0]}'; there are: {', '.join(KINDS)}")
    return options


def _compile(kind: str, count: int, options: argparse.Namespace, folder: Path) -> Compiled:
    source = folder / "program.mlir"
    source.write_text(KINDS[kind](count))
    words = [str(source), f"--offload-arch={options.arch}", "--emit=object", "--time-report"]
    words += ["-o", str(folder / "program.o")]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([sys.executable, "-m", "hirc.tools.hirc", *words], stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        stages = {name: float(seconds) for seconds, name in _ROW.findall(errors.read())}
    stages.pop("total", None)
    seconds = used.ru_utime + used.ru_stime
    return Compiled(count, seconds, used.ru_maxrss / 1024, stages, child.returncode)


if __name__ == "__main__":
    sys.exit(main())
