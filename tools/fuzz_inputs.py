"""fuzz_inputs: damages programs, models, data files and command lines, and runs tools on them.

    python -m hirc.tools.fuzz_inputs --count=20000 --seed=1

Each input is made of a seed, a program of test/ or docs/, by a random generator that its number
starts, so `--only=N` runs input N again, and `--first=N` goes on from there. Everything is loaded
once; each input has a process of its own. A finding is a crash, an internal error, a traceback, a
hang, a file that should not be there, or a program that is refused without its line and column.

A kind of input is a function that makes one and a share of all, in `_KINDS`; how its files are
damaged is in damage.py.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch

from ..compiler import driver as _loads_the_compiler  # noqa: F401 # pyright: ignore[reportUnusedImport]
from ..compiler import interpreted_command as _loads_torch  # noqa: F401 # pyright: ignore[reportUnusedImport]
from . import hirc, hirc_opt, hirc_run
from . import hirc_opt_chunks as _loads_the_passes  # noqa: F401 # pyright: ignore[reportUnusedImport]
from .command import BUG, FAILED, Command
from .damage import (
    DEVICE_CALL,
    Seeds,
    damaged_archive,
    damaged_bytes,
    damaged_npy,
    damaged_tensors,
    damaged_text,
    damaged_words,
)

_ROOT = Path(__file__).resolve().parents[1]
_CPU = "--offload-arch=cpu"
# Of processor time, and of time where none of it is used: a machine may be busy with other things.
_SECONDS, _PATIENCE = 60, 600
_MEMORY = 8 << 30
# What a program is compiled to: far enough for most of the compiler, without a link.
_OBJECT = ["--emit=object", _CPU]
_TARGETS = (
    _OBJECT,
    ["--emit=device-llvm", "--offload-arch=sm_90a"],
    ["--emit=llvm", "--offload-arch=sm_80"],
    ["--stop-after=device", _CPU],
)
_OUTPUT = "out"
_PLACE = re.compile(r"^[^\n:]+:\d+:\d+: error: ", re.MULTILINE)
# What hirc-run runs: an interpreter takes it too.
_RUN = """\
"hir.program"() ({
^bb0(%x: memref<2x3xf32>, %v: f32, %n: i64):
  %y = "hir.binary"(%x, %v) {kind = "add"} : (memref<2x3xf32>, f32) -> memref<2x3xf32>
  %m = arith.addi %n, %n : i64
  "hir.output"(%y) {name = "y"} : (memref<2x3xf32>) -> ()
  "hir.output"(%m) {name = "m"} : (i64) -> ()
}) {sym_name = "main", inputs = [{name = "x"}, {name = "v"}, {name = "n"}],
    function_type = (memref<2x3xf32>, f32, i64) -> (memref<2x3xf32>, i64)} : () -> ()
"""
_COMMAND = """\
func.func @main(%x: tensor<2x3xf32> {hir.name = "x"}, %v: f32 {hir.name = "v"},
                %n: i64 {hir.name = "n"})
    -> (tensor<2x3xf32> {hir.name = "y"}, i64 {hir.name = "m"}) {
  %s = tensor.splat %v : tensor<2x3xf32>
  %y = arith.addf %x, %s : tensor<2x3xf32>
  %m = arith.addi %n, %n : i64
  return %y, %m : tensor<2x3xf32>, i64
}
"""
_ARGUMENT = re.compile(r"%\w+\s*:\s*(memref<[^<>]*>|\w+)")
_PROGRAM = re.compile(r'"hir\.program"\(\) \(\{\s*\^bb0\(([^()]*)\)')
# What a program may do for ever, if it says so.
_LOOPS = (b"hir.for", b"scf.for")
_COMMAND_WORDS = (
    ["--input=x.npy", "--input=1.5", "--input=3", "--output=y=out"],
    ["--input=x=2x3xf32=@random:7", "--input=v=-inf", "--input=n=7", "--print"],
    ["--input=x=1,2,3,4,5,6", "--input", "0.5", "--input=1", "--output=out", "--repeat=2"],
    ["--input=@iota", "--input=nan", "--input=1", "--time", "--repeat=3", "--help"],
)


@dataclass(frozen=True)
class Input:
    """What is run: a tool or the compiled command, its words, and the files it finds."""

    kind: str
    tool: str
    words: list[str]
    files: dict[str, bytes]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the inputs and prints the findings. Returns 1 where there are some."""
    parser = argparse.ArgumentParser(prog="fuzz_inputs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how many inputs (1000)")
    parser.add_argument("--seed", type=int, default=1, help="what the inputs are made of (1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input (0)")
    parser.add_argument("--only", type=int, help="run the input of this number alone")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", type=Path, help="a folder for the inputs of findings")
    parser.add_argument("--tree", type=Path, default=_ROOT, help="the checkout with the seeds")
    values = parser.parse_args(arguments)
    print(f"seed {values.seed}, {values.count} inputs, {values.jobs} at a time")
    numbers = range(values.first, values.count) if values.only is None else [values.only]
    with tempfile.TemporaryDirectory(prefix="fuzz-inputs-") as folder:
        run = Run(values.seed, Path(folder), Seeds.read(values.tree), values.keep)
        run.prepare()
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, run.end)
        findings = run.all(numbers, values.jobs)
    for kind, count in sorted(run.counts.items()):
        print(f"{count:7}  {kind}")
    print(f"{len(findings)} findings in {sum(run.counts.values())} inputs")
    return 1 if findings else 0


class Run:
    """All inputs of a seed, and what became of them."""

    def __init__(self, seed: int, folder: Path, seeds: Seeds, keep: Path | None) -> None:
        self.seed = seed
        self.folder = folder
        self.seeds = seeds
        self.keep = keep
        self.counts: Counter[str] = Counter()
        self.findings: list[str] = []
        self.is_asked_to_end = False

    def end(self, *_: object) -> None:
        """Starts no further input: what was found so far is told of."""
        self.is_asked_to_end = True

    def prepare(self) -> None:
        """Compiles the command whose arguments are damaged, and loads what the tools load late."""
        source, output = self.folder / "command.mlir", self.folder / "command"
        source.write_text(_COMMAND)
        for words in ([_CPU, "-o", str(output)], *([*each, "-o", os.devnull] for each in _TARGETS)):
            if hirc.main([str(source), *words]) != 0:
                raise SystemExit("the command does not compile")
        hirc_opt.main([str(source), "-o", os.devnull])
        # A child has no other threads than the one that forks.
        torch.set_num_threads(1)
        model, weights = self.folder / "model.pt2", self.folder / "weights.safetensors"
        model.write_bytes(self.seeds.model)
        weights.write_bytes(self.seeds.tensors)
        words = [str(model), f"--weights-from={weights}", *_OBJECT, "-o", os.devnull]
        if hirc.main(words) != 0:
            raise SystemExit("the model does not compile")
        # The children share the memory of what stays.
        gc.collect()
        gc.freeze()

    def all(self, numbers: Sequence[int], jobs: int) -> list[str]:
        """Runs inputs, some at a time; the findings."""
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        running: dict[int, tuple[int, float]] = {}
        waiting = iter(numbers)
        number = next(waiting, None)
        while running or (number is not None and not self.is_asked_to_end):
            while number is not None and len(running) < jobs and not self.is_asked_to_end:
                running[self._start(number)] = number, time.monotonic()
                number = next(waiting, None)
            signal.sigtimedwait([signal.SIGCHLD], 1)
            for child, (place, begin) in list(running.items()):
                ended, status = os.waitpid(child, os.WNOHANG)
                if not ended and _is_hanging(child, time.monotonic() - begin):
                    os.killpg(child, signal.SIGKILL)
                    ended, status = os.waitpid(child, 0)
                if ended:
                    del running[child]
                    self._judge(place, os.waitstatus_to_exitcode(status))
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return self.findings

    def input(self, number: int) -> Input:
        """Input `number`."""
        random = Random(f"{self.seed}:{number}")
        shares = [share for share, _ in _KINDS.values()]
        kind = random.choices(list(_KINDS), shares)[0]
        tool, words, files = _KINDS[kind][1](self.seeds, random)
        return Input(kind, tool, words, files)

    def _place(self, number: int) -> Path:
        return self.folder / str(number)

    def _start(self, number: int) -> int:
        """Starts an input in a process of its own."""
        given, place = self.input(number), self._place(number)
        (place / "files").mkdir(parents=True)
        (place / "temporary").mkdir()
        for name, data in given.files.items():
            (place / "files" / name).write_bytes(data)
        sys.stdout.flush()
        child = os.fork()
        if child:
            return child
        os.setpgid(0, 0)
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(place / "files")
        tempfile.tempdir = os.environ["TMPDIR"] = str(place / "temporary")
        for number_, name in ((1, "output"), (2, "errors")):
            os.dup2(os.open(place / name, os.O_WRONLY | os.O_CREAT, 0o600), number_)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = 125
        try:
            status = self._work(given)
        finally:
            os._exit(status)

    def _work(self, given: Input) -> int:
        if given.tool == "command":
            os.execv(self.folder / "command", ["command", *given.words])
        tools: dict[str, Callable[[Sequence[str]], int]] = {
            "hirc": hirc.main,
            "hirc-opt": hirc_opt.main,
        }
        if given.tool == "hirc-run":
            # It has a process of its own when it is the command.
            sys.argv = [given.tool, *given.words]
            return hirc_run.main()
        main = tools[given.tool]
        status, _ = Command(given.tool, given.words).watched(lambda: main(given.words))
        return status

    def _judge(self, number: int, status: int) -> None:
        """Notes what became of an input; keeps it where that is a finding."""
        given, place = self.input(number), self._place(number)
        errors = (place / "errors").read_bytes().decode(errors="replace")
        wrong = self.what_is_wrong(given, place, status, errors)
        self.counts[f"{given.kind}: {wrong or ('accepted' if status == 0 else 'refused')}"] += 1
        if wrong is not None:
            said = next((line for line in errors.splitlines() if "rror" in line), errors[:100])
            line = f"input {number} ({given.tool} {' '.join(given.words)}): {wrong}: {said}"
            self.findings.append(line)
            print(line, flush=True)
            if self.keep is not None:
                shutil.copytree(place, self.keep / str(number), dirs_exist_ok=True)
        shutil.rmtree(place)

    @staticmethod
    def what_is_wrong(given: Input, place: Path, status: int, errors: str) -> str | None:
        """Why a run is a finding; None for one that is as it should be."""
        if status == -signal.SIGKILL:
            may_go_on = given.kind.startswith("interpreted") and any(
                each in given.files["in"] for each in _LOOPS
            )
            return None if may_go_on else "hang"
        if status < 0:
            return f"silent signal {-status}"
        if status == BUG:
            return "crash" if " crashed: " in errors else "internal error"
        if "Traceback" in errors:
            return "traceback"
        runs = given.tool in ("command", "hirc-run")
        if status not in (0, FAILED, 2 if runs else FAILED):
            return f"status {status}"
        if status != 0 and "error: " not in errors:
            return "no message"
        if status != 0 and given.kind == "text" and not _PLACE.search(errors):
            return "no place"
        # Words that are damaged may name other outputs.
        allowed = {*given.files, _OUTPUT} if status == 0 else set(given.files)
        left = set(os.listdir(place / "files")) - allowed
        if left and not (status == 0 and "words" in given.kind):
            return f"left {sorted(left)}"
        return (
            f"left {os.listdir(place / 'temporary')}" if os.listdir(place / "temporary") else None
        )


_Made = tuple[str, list[str], dict[str, bytes]]


def _compiled(random: Random) -> tuple[str, list[str]]:
    """hirc or hirc-opt, and its words for a program that is in the file `in`."""
    tool = random.choice(["hirc", "hirc-opt"])
    target = random.choice(_TARGETS) if tool == "hirc" else []
    return tool, ["in", *target, "-o", _OUTPUT]


def _text(seeds: Seeds, random: Random) -> _Made:
    text = damaged_text(random.choice(seeds.programs)[1], seeds, random)
    return *_compiled(random), {"in": text.encode()}


def _bytecode(seeds: Seeds, random: Random) -> _Made:
    data = seeds.bytecode(*random.choice(seeds.programs))
    return *_compiled(random), {"in": damaged_bytes(data, random)}


def _words(seeds: Seeds, random: Random) -> _Made:
    text = random.choice(seeds.programs)[1]
    tool, words = _compiled(random)
    return tool, damaged_words(words, random), {"in": text.encode()}


def _command_words(seeds: Seeds, random: Random) -> _Made:
    words = damaged_words(random.choice(_COMMAND_WORDS), random)
    return "command", words, {"x.npy": seeds.npy}


def _npy(seeds: Seeds, random: Random) -> _Made:
    return "command", _COMMAND_WORDS[0], {"x.npy": damaged_npy(seeds.npy, random)}


def _run_words(seeds: Seeds, random: Random) -> _Made:
    words = [random.choice(["--interpret", _CPU]), "in", *random.choice(_COMMAND_WORDS)]
    return "hirc-run", damaged_words(words, random), {"in": _RUN.encode(), "x.npy": seeds.npy}


def _interpreted(seeds: Seeds, random: Random) -> _Made:
    text = random.choice(seeds.host_programs)
    words = ["--interpret", "in", *_inputs(text)]
    return "hirc-run", words, {"in": damaged_text(text, seeds, random).encode()}


def _interpreted_words(seeds: Seeds, random: Random) -> _Made:
    text = random.choice(seeds.host_programs)
    words = damaged_words(["--interpret", "in", *_inputs(text)], random)
    return "hirc-run", words, {"in": text.encode()}


def _inputs(text: str) -> list[str]:
    """Arguments for a host program: numbers that count, and for each scalar 3."""
    found = _PROGRAM.search(text)
    kinds = _ARGUMENT.findall(found[1]) if found is not None else []
    shapes = [kind[7:-1].partition(",")[0].replace("?", "4") for kind in kinds]
    return [
        f"--input={shape}=@iota" if kind.startswith("memref") else "--input=3"
        for kind, shape in zip(kinds, shapes, strict=True)
    ]


def _model(seeds: Seeds, random: Random) -> _Made:
    data = damaged_archive(seeds.model, random)
    return "hirc", ["model.pt2", *_OBJECT, "-o", _OUTPUT], {"model.pt2": data}


def _weights(seeds: Seeds, random: Random) -> _Made:
    name = "weights.safetensors"
    words = ["model.pt2", f"--weights-from={name}", *_OBJECT, "-o", _OUTPUT]
    data = damaged_tensors(seeds.tensors, random)
    return "hirc", words, {"model.pt2": seeds.model, name: data}


def _device_library(seeds: Seeds, random: Random) -> _Made:
    words = ["in", "--device-lib=library.bc", *random.choice(_TARGETS[:3]), "-o", _OUTPUT]
    data = damaged_bytes(seeds.device_library, random)
    return "hirc", words, {"in": DEVICE_CALL.encode(), "library.bc": data}


# A share of all inputs, and what makes one.
_KINDS: dict[str, tuple[int, Callable[[Seeds, Random], _Made]]] = {
    "text": (55, _text),
    "bytecode": (14, _bytecode),
    "words": (9, _words),
    "command words": (8, _command_words),
    "npy": (5, _npy),
    "run words": (2, _run_words),
    "interpreted": (5, _interpreted),
    "interpreted words": (2, _interpreted_words),
    "model": (2, _model),
    "weights": (1, _weights),
    "device library": (2, _device_library),
}


def _is_hanging(group: int, seconds: float) -> bool:
    """Returns whether a group of processes that began so long ago has used too much, or waits for
    ever.
    """
    if seconds < _SECONDS:
        return False
    return seconds > _PATIENCE or _processor_seconds(group) > _SECONDS


def _processor_seconds(group: int) -> float:
    """Returns what the processes of a group have used so far."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The second field, a name in brackets, may hold anything.
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
