"""Finds the best configurations for a program's operations by timing them on this machine.

    python -m hirc.tools.tune softmax.mlir -o tuning.json --offload-arch=native -- --input=@random:1
    hirc softmax.mlir -o softmax --offload-arch=sm_90a --tuning=tuning.json

The program is a command (docs/hirc-run.md), built once for each configuration that is tried, and
what comes after `--` is what it is run with. Of each class of operations so many configurations are
drawn from all of which kernels can be made; the fastest stays if it takes less time than the
compiler's own by more than noise. Results are not compared: test/schedules/test_configurations.py
does that.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..compiler.errors import HircError, InputError
from ..compiler.native import native_targets
from ..compiler.output import replacing, scratch_folder
from ..compiler.target import Target
from ..compiler.tuning import FORMAT
from ..dialects.mlir import ir
from ..dialects.records import dataclass
from ..pipelines.passes.hir_list_configurations import CLASS, LISTED
from ..pipelines.schedules.configuration import Value, values_of
from ..pipelines.walking import operations_where

Configurations = dict[str, dict[str, Value]]
# What a configuration must win, of the time of the whole program.
_NOISE = 0.02
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIME = re.compile(r"^\s*device\s+median ([\d.e+-]+) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Search:
    """What is timed, and where it is built."""

    program: Path
    arch: str
    flags: tuple[str, ...]
    inputs: tuple[str, ...]
    repeat: int
    folder: Path

    def classes(self) -> dict[str, list[dict[str, Value]]]:
        """Returns what operations of each class may ask for; the compiler's own choice is first."""
        text = self._hirc("--stop-after=compute", "-o", "-")
        chip = Target.parse(self.arch).chip
        words = ["hirc.tools.hirc_opt", "-", "-p", f"hir-list-configurations{{chips={chip}}}"]
        listed = _run([sys.executable, "-m", *words], text)
        found: dict[str, list[dict[str, Value]]] = {}
        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            context.enable_multithreading(False)
            module = ir.Module.parse(listed)
            for op in operations_where(module.operation, lambda op: CLASS in op.attributes):
                lists = [
                    values_of(ir.DictAttr(each)) for each in ir.ArrayAttr(op.attributes[LISTED])
                ]
                if lists:
                    found[ir.StringAttr(op.attributes[CLASS]).value] = lists
        return found

    def seconds(self, configurations: Configurations) -> float:
        """Returns how long the program takes on the device with these. Raises InputError."""
        tuning, built = self.folder / "tuning.json", self.folder / "program"
        tuning.write_text(json.dumps(document(self.arch, _entries(configurations))))
        self._hirc(f"--tuning={tuning}", "-o", str(built))
        said = _run([str(built), *self.inputs, "--time", f"--repeat={self.repeat}"])
        found = _TIME.search(said)
        if found is None:
            raise InputError(f"the program printed no time: {said.strip()[-200:]}")
        return float(found[1]) * _UNITS[found[2]]

    def _hirc(self, *words: str) -> str:
        given = [str(self.program), f"--offload-arch={self.arch}", *self.flags, *words]
        return _run([sys.executable, "-m", "hirc.tools.hirc", *given])


def document(arch: str, entries: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Returns what a tuning's file holds."""
    return {"format": FORMAT, "arch": arch, "hirc": __version__, **more, "entries": entries}


def tune(search: Search, most: int, seed: int) -> dict[str, Any]:
    """Returns the entries of classes for which there are better configurations than the chosen."""
    best: Configurations = {}
    entries: dict[str, Any] = {}
    fastest = search.seconds(best)
    for name, listed in sorted(search.classes().items()):
        others = listed[1:]
        drawn = random.Random(f"{seed}:{name}").sample(others, min(most, len(others)))
        chosen, found = fastest, None
        for configuration in drawn:
            seconds = search.seconds({**best, name: configuration})
            print(f"{seconds * 1e6:10.2f} us  {name}: {configuration}", file=sys.stderr)
            if seconds < fastest * (1 - _NOISE):
                fastest, found = seconds, configuration
        if found is not None:
            best[name] = found
            entries[name] = {
                "configuration": found,
                "seconds": fastest,
                "chosen_seconds": chosen,
                "tried": len(drawn),
            }
    return entries


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _main(words)
    except HircError as error:
        print(f"tune: error: {error}", file=sys.stderr)
        return 1


def _main(words: list[str]) -> int:
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="python -m hirc.tools.tune", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("program", type=Path)
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--offload-arch", default="native", help="the chip of this machine")
    parser.add_argument("--most", type=int, default=24, help="configurations tried of a class (24)")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn (1)")
    parser.add_argument("--repeat", type=int, default=50, help="runs that are timed (50)")
    values, flags = parser.parse_known_args(words[:split])
    arch = values.offload_arch
    if arch == "native":
        arch = native_targets()[0].arch
    with scratch_folder() as folder:
        inputs = tuple(words[split + 1 :])
        search = Search(values.program, arch, tuple(flags), inputs, values.repeat, folder)
        entries = tune(search, values.most, values.seed)
    command = ["python", "-m", "hirc.tools.tune", *words]
    more = {"command": command, "seed": values.seed, "device": _device(arch)}
    with replacing(values.output) as path:
        path.write_text(json.dumps(document(arch, entries, **more), indent=1) + "\n")
    return 0


def _entries(configurations: Configurations) -> dict[str, Any]:
    return {name: {"configuration": each} for name, each in configurations.items()}


def _device(arch: str) -> str:
    """Returns what the chip is called, by its driver."""
    if Target.parse(arch).is_cpu:
        return platform.processor() or platform.machine()
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return _run(query).splitlines()[0]
    except (HircError, OSError):
        return "unknown"


def _run(words: Sequence[str], given: str = "") -> str:
    """Returns what a command prints. Raises InputError where it fails."""
    done = subprocess.run(words, input=given, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"{' '.join(words[:4])} failed: {done.stderr.strip()[-600:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
