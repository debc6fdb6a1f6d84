"""Compiles the tests' programs into the process and calls them on this machine's GPU.

    cd test && python -m compiler.in_process_on_gpu [--count N] [--jobs N] [--device cpu]

Needs hirc, torch and a GPU on one machine; with `--device cpu` the CPU device stands in. Every
program of test/host_ir/programs runs, and others that are drawn: programs of one operation for
every element type, products, and functions on tensors of the schedules' suites. Each is called in
the process and as the library that is saved of the same code, which has to give the same bits, some
as executables; results are compared with the interpreter's, or with torch's in float64. Tables of
how long a program takes to be ready follow (in_process_times.py). The exit status is 1 where
anything is wrong.
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
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

import hirc
from hirc.compiler.compile_program import load_program
from hirc.compiler.errors import HircError
from hirc.compiler.source import Source
from hirc.tools.hirc_arguments import parse_arguments

from .in_process_cases import Check, Command, Group, Opened, groups
from .in_process_times import print_times

# From there modules have their names.
_TESTS = Path(__file__).parents[1]
_GROUP_SECONDS = 180
# Of so many groups one is made into an executable too.
_EXECUTABLES = 6
_SHOWN = 12


@dataclass
class Report:
    """What was compiled and called, and what of it was wrong, in words."""

    programs: int = 0
    results: int = 0
    libraries: int = 0
    executables: int = 0
    wrong: list[str] = field(default_factory=list[str])

    def add(self, other: Report) -> None:
        self.programs += other.programs
        self.results += other.results
        self.libraries += other.libraries
        self.executables += other.executables
        self.wrong += other.wrong


def check_group(group: Group, device: str, *, makes_executable: bool) -> Report:
    """Compiles a group, and calls it in every way."""
    report = Report(programs=group.count)
    where = f"{group.kind} {group.name}"
    try:
        opened = group.open()
        with tempfile.TemporaryDirectory(prefix="hirc-test-") as folder:
            artifact = _compiled(opened.text, opened.flags, device, Path(folder))
            artifact.save(Path(folder) / "saved.so")
            saved = hirc.load(Path(folder) / "saved.so")
            for check in opened.checks:
                for found in _check(check, artifact, saved, device, report):
                    report.wrong.append(f"{where}: {check.name}: {found}")
            if makes_executable and opened.command is not None:
                report.executables += 1
                found = _run_executable(opened, opened.command, artifact, device, Path(folder))
                if found is not None:
                    report.wrong.append(f"{where}: executable: {found}")
    except Exception as error:  # noqa: BLE001
        what = f"{type(error).__name__}: {error}"
        report.wrong.append(f"{where}: {what}\n{traceback.format_exc()}")
    return report


def _compiled(text: str, flags: Sequence[str], device: str, folder: Path) -> hirc.Artifact:
    path = folder / "program.mlir"
    path.write_text(text)
    arch = "cpu" if device == "cpu" else "native"
    words = [str(path), "-o", "program.so", "--emit=shared", f"--offload-arch={arch}", *flags]
    options = parse_arguments(words).options
    return load_program(Source(str(path), text.encode()), options, cache=False)


def _check(
    check: Check, artifact: hirc.Artifact, saved: hirc.Library, device: str, report: Report
) -> Iterator[str]:
    """Yields what is wrong with a call in the process, and with the same one of the library."""
    outputs: list[list[torch.Tensor]] = []
    for how, library in (("in process", artifact), ("library", saved)):
        try:
            given = check.give(library, device)
            _finish(device)
        except (HircError, RuntimeError) as error:
            yield f"{how}: {type(error).__name__}: {error}"
            continue
        outputs.append(given)
        found = check.wrong(given)
        if found is not None:
            yield f"{how}: {found}"
    report.results += 1
    report.libraries += 1
    if len(outputs) == 2 and device != "cpu" and not all(map(same_bits, *outputs)):
        yield "the library gives other bits than the code in the process"


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Returns whether two tensors of the host have the same shape and the same bytes."""
    # Packed anew: a tensor of one element is contiguous whatever its strides.
    first, second = (
        each.clone(memory_format=torch.contiguous_format).flatten().view(torch.uint8).numpy()
        for each in (one, other)
    )
    return one.shape == other.shape and first.tobytes() == second.tobytes()


def _finish(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def _run_executable(
    opened: Opened, command: Command, artifact: hirc.Artifact, device: str, folder: Path
) -> str | None:
    """What is wrong with the outputs of a program as a command; None for nothing."""
    if command.text != opened.text:
        arch = "cpu" if device == "cpu" else "native"
        artifact = hirc.compile(command.text, target=arch, entry=command.entry, cache=False)
    artifact.executable(folder / "command")
    words: list[str] = []
    for number, value in enumerate(command.inputs):
        text = value
        if isinstance(value, torch.Tensor):
            text = str(folder / f"input{number}.npy")
            np.save(text, value.contiguous().numpy())
        words.append(f"--input={text}")
    files = [folder / f"output{number}.npy" for number in range(command.outputs)]
    words += [f"--output={path}" for path in files]
    done = subprocess.run(
        [folder / "command", *words], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode or done.stderr:
        return f"status {done.returncode}: {done.stderr}"
    return command.wrong([torch.from_numpy(np.load(path)) for path in files])


class _Worker:
    """A process that checks groups by their numbers; another one begins where it ends."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[str] | None = None

    def check(self, number: int, group: Group) -> Report:
        """Checks a group; that the process ended, or took too long, is wrong."""
        process = self._process
        if process is None:
            command = [sys.executable, "-m", "compiler.in_process_on_gpu", *self._words, "--worker"]
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=_TESTS)
            self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Timer(_GROUP_SECONDS, process.kill)
        late.start()
        try:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        late.cancel()
        if line:
            return Report(**json.loads(line))
        status = self.end()
        what = f"{group.kind} {group.name}: the process ended with status {status}"
        return Report(programs=group.count, wrong=[what])

    def end(self) -> int:
        """Lets the process end, if there is one. Returns its status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.communicate()
        return process.returncode


def _work(chosen: Sequence[Group], device: str) -> None:
    """Checks the groups whose numbers are read, a line each; what else prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        number = int(line)
        report = check_group(chosen[number], device, makes_executable=number % _EXECUTABLES == 0)
        answers.write(json.dumps(asdict(report)) + "\n")
        answers.flush()


def check_groups(
    chosen: Sequence[Group], device: str, *, jobs: int, seconds: float, words: Sequence[str]
) -> tuple[dict[str, Report], list[Group]]:
    """Returns the reports by kind, and the groups that were not begun in that time."""
    until = time.monotonic() + seconds
    reports: dict[str, Report] = {}
    left = list(enumerate(chosen))[::-1]
    undone: list[Group] = []
    lock = threading.Lock()

    def run() -> None:
        worker = _Worker(words) if jobs > 1 else None
        while True:
            with lock:
                if not left:
                    break
                number, group = left.pop()
                # The catalogue comes first, whatever the time.
                if time.monotonic() > until and group.kind != "catalogue":
                    undone.append(group)
                    continue
            if worker is not None:
                report = worker.check(number, group)
            else:
                makes = number % _EXECUTABLES == 0
                report = check_group(group, device, makes_executable=makes)
            with lock:
                reports.setdefault(group.kind, Report()).add(report)
        if worker is not None:
            worker.end()

    threads = [threading.Thread(target=run) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return reports, undone


def print_reports(reports: dict[str, Report], undone: Sequence[Group]) -> int:
    """Prints the summary; returns how much was wrong."""
    whole = Report()
    for kind, report in reports.items():
        whole.add(report)
        print(f"{kind}: {_counted(report)}")
    for text in whole.wrong[:_SHOWN]:
        print(f"  {text.strip()[:600]}".replace("\n", "\n    "))
    if len(whole.wrong) > _SHOWN:
        print(f"  and {len(whole.wrong) - _SHOWN} more")
    if undone:
        print(f"not begun in time: {sum(each.count for each in undone)} programs")
    print(f"in process: {_counted(whole)}", flush=True)
    return len(whole.wrong)


def _counted(report: Report) -> str:
    return (
        f"{report.programs} programs, {report.results} results in process, {report.libraries} of "
        f"libraries, {report.executables} executables, {len(report.wrong)} wrong"
    )


def main(words: Sequence[str]) -> int:
    """Runs the suite. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--count", type=int, default=1200, help="programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=170, help="none is begun after these")
    parser.add_argument("--rounds", type=int, default=9, help="of the times; 0: no times")
    parser.add_argument("--only", help="programs of this kind: catalogue, host-ir, ...")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    _find_libraries()
    chosen = groups(options.seed, options.count)
    if options.only:
        chosen = [group for group in chosen if group.kind == options.only]
    if options.worker:
        _work(chosen, options.device)
        return 0
    name = "the CPU device" if options.device == "cpu" else torch.cuda.get_device_name(0)
    print(f"{name}, seed {options.seed}, {len(chosen)} groups of programs", flush=True)
    wrong = 0
    if options.rounds:
        # Before the others, which take every processor.
        wrong += print_times(options.device, options.rounds)
    begun = time.monotonic()
    reports, undone = check_groups(
        chosen, options.device, jobs=options.jobs, seconds=options.seconds, words=words
    )
    wrong += print_reports(reports, undone)
    print(f"{time.monotonic() - begun:.0f} s")
    return int(wrong > 0)


def _find_libraries() -> None:
    """Names torch's cuBLASLt for commands, which have no torch in them that brings it."""
    folders: Any = Path(torch.__file__).parents[1]
    for path in folders.glob("nvidia/*/lib/libcublasLt.so.*"):
        os.environ.setdefault("HIRC_CUBLASLT", str(path))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
