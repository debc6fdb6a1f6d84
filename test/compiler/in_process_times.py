"""How long a small program takes until it is ready in the process, by stages.

    cd test && python -m compiler.in_process_times cubin --device cpu --rounds 9

A process for each column: `cubin` compiles without a cache, `ptx` does so without ptxas, so that
the driver compiles, and `cache` finds the code on disk. After the imports and a first program, of
which the time is printed too, each round compiles another program of the same form, and calls it
twice.
Times are medians in milliseconds, of HIRC_TRACE's stages without those within them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import torch

_PROGRAM = """
"hir.program"() ({{
^bb0(%x: memref<?x256xf32>):
  %k = arith.constant {number} : f32
  %t = "hir.binary"(%x, %k) {{kind = "mul"}} : (memref<?x256xf32>, f32) -> memref<?x256xf32>
  %e = "hir.unary"(%t) {{kind = "exp"}} : (memref<?x256xf32>) -> memref<?x256xf32>
  %y = "hir.reduce"(%e) {{kind = "sum", axes = array<i64: 1>}}
      : (memref<?x256xf32>) -> memref<?xf32>
  "hir.output"(%y) {{name = "y"}} : (memref<?xf32>) -> ()
}}) {{sym_name = "main", inputs = [{{name = "x"}}],
    function_type = (memref<?x256xf32>) -> memref<?xf32>}} : () -> ()
"""
_ENDS = ("first call", "second call", "ready")
# From there modules have their names.
_TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class _Span:
    name: str
    began: float
    seconds: float

    @property
    def end(self) -> float:
        return self.began + self.seconds


def stage_seconds(lines: Sequence[str], process: int, thread: int) -> dict[str, float]:
    """Returns the seconds of each stage of a thread in a trace, without those of stages within it.

    What other threads and processes do meanwhile is in the stage that waits for it.
    """
    spans: list[_Span] = []
    for line in lines:
        event = json.loads(line.rstrip().rstrip(",")) if line.startswith("{") else {}
        where = event.get("pid"), event.get("tid")
        if event.get("cat") == "stage" and where == (process, thread):
            spans.append(_Span(event["name"], event["ts"] / 1e6, event["dur"] / 1e6))
    # One that holds another comes first.
    spans.sort(key=lambda span: (span.began, -span.seconds))
    found: dict[str, float] = {}
    around: list[_Span] = []
    for span in spans:
        while around and around[-1].end < span.end:
            around.pop()
        if around:
            found[around[-1].name] -= span.seconds
        found[span.name] = found.get(span.name, 0.0) + span.seconds
        around.append(span)
    return found


def measure(column: str, device: str, rounds: int, trace: Path) -> dict[str, Any]:
    """Compiles and calls the programs. Returns the medians by stage, and the first one's times."""
    import hirc
    from hirc.compiler.toolchain import Cuda

    # What is imported is not to be timed.
    import_module("hirc.compiler.compile_code")
    if column == "ptx":
        Cuda.ptxas = property(lambda self: self.root / "no-ptxas")  # pyright: ignore
    x = torch.linspace(-1, 1, 64 * 256, device=device).view(64, 256)
    begun = time.time_ns() % 10**6
    every: list[dict[str, float]] = []
    for number in range(rounds + 1):
        factor = 1 + (begun + number) / 2**24
        text = _PROGRAM.format(number=f"{factor:.9f}")
        target = "cpu" if device == "cpu" else "native"
        if column == "cache":
            hirc.compile(text, target=target)
        skipped = len(trace.read_text().splitlines()) if trace.exists() else 0
        start = time.perf_counter()
        artifact = hirc.compile(text, target=target, cache=column == "cache")
        compiled = time.perf_counter()
        calls: list[float] = []
        for _ in range(2):
            before = time.perf_counter()
            y = artifact(x)
            if device != "cpu":
                torch.cuda.synchronize()
            calls.append(time.perf_counter() - before)
            torch.testing.assert_close(y, torch.exp(x * factor).sum(1))
        lines = trace.read_text().splitlines()[skipped:]
        stages = stage_seconds(lines, os.getpid(), threading.get_native_id())
        stages["other"] = compiled - start - sum(stages.values())
        ends = (calls[0], calls[1], compiled - start + calls[0])
        every.append({**stages, **dict(zip(_ENDS, ends, strict=True))})
    names = list(dict.fromkeys(name for each in every[1:] for name in each))
    later = {name: 1e3 * median(each.get(name, 0.0) for each in every[1:]) for name in names}
    return {"first": 1e3 * every[0]["ready"], "later": later}


def print_times(device: str, rounds: int) -> int:
    """Prints the table, of a process for each column. Returns how many of these failed."""
    columns = ["cubin", "ptx", "cache"] if device != "cpu" else ["no cache", "cache"]
    found: dict[str, dict[str, Any]] = {}
    failed = 0
    for column in columns:
        with tempfile.TemporaryDirectory(prefix="hirc-test-") as folder:
            output = Path(folder) / "times.json"
            words = [column, "--device", device, "--rounds", str(rounds), "--output", str(output)]
            # Of the driver's own cache nothing is to come.
            apart = {"HIRC_TRACE": str(Path(folder) / "trace.json"), "CUDA_CACHE_DISABLE": "1"}
            command = [sys.executable, "-m", "compiler.in_process_times", *words]
            done = subprocess.run(
                command, env={**os.environ, **apart}, cwd=_TESTS, timeout=240, check=False
            )
            if done.returncode:
                failed += 1
                print(f"times, {column}: status {done.returncode}", flush=True)
            else:
                found[column] = json.loads(output.read_text())
    print(_table(found), flush=True)
    return failed


def _table(found: dict[str, dict[str, Any]]) -> str:
    stages = dict.fromkeys(name for each in found.values() for name in each["later"])
    rows = [name for name in stages if name not in _ENDS]
    lines = ["| until a small program is ready, ms | " + " | ".join(found) + " |"]
    lines.append("| --- |" + " ---: |" * len(found))
    for name in (*rows, *_ENDS):
        values = [f"{each['later'].get(name, 0.0):.2f}" for each in found.values()]
        if name in _ENDS or any(float(value) >= 0.1 for value in values):
            lines.append(f"| {name} | " + " | ".join(values) + " |")
    firsts = [f"{each['first']:.2f}" for each in found.values()]
    lines.append("| ready, the process's first | " + " | ".join(firsts) + " |")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Measures one column, and writes what was found to a file. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("column", choices=["cubin", "no cache", "ptx", "cache"])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, default=Path("/dev/stdout"))
    options = parser.parse_args(words)
    trace = Path(os.environ["HIRC_TRACE"])
    measured = measure(options.column, options.device, options.rounds, trace)
    options.output.write_text(json.dumps(measured) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
