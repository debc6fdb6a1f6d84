"""The process that runs rows on the device. What breaks it breaks nothing else.

It reads requests and writes events, a line of JSON each:

    {"do": "machine"}                        -> {"machine": {...}}
    {"do": "copy"}                           -> {"copy": {...}, "bytes": n}
    {"do": "row", "row", "programs", "contenders", "timed"}
        -> for each contender {"begin": name}, and {"problem": text} where it cannot be timed;
           for each turn of one {"begin": name}; for each that was timed
           {"timing": {...}, "of": name}; {"end": true} after all
    {"do": "profile", "row", "program"}      -> {"end": true}, after a call that a profiler sees
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from ...compiler.errors import HircError
from ...compiler.loader import Library, load
from . import drawn
from .arrays import difference, differences, empty, inputs_of, poison
from .measure import FULL, Contender, Effort, copy_timing, turns, warmed_up
from .operations import FUNCTIONS, eager, exact
from .report import CUDNN, EAGER, INDUCTOR, MAX_AUTOTUNE
from .row import BUILDS, Row

_SAID_LENGTH = 200
# What a program says that gives a part of its own memory.
_ALLOCATES = "no memory can be handed in"


def serve(folder: Path, device: str, words: Sequence[str]) -> None:
    """Answers requests until there are no more; programs were built with these words for hirc."""
    # Whatever else is printed in this process goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runner: _Runner | None = None
    for line in sys.stdin:
        request = json.loads(line)
        runner = runner or _Runner(folder, device, words)
        for event in runner.answer(request):
            answers.write(json.dumps(event) + "\n")
            answers.flush()


class _Runner:
    def __init__(self, folder: Path, device: str, words: Sequence[str]) -> None:
        self.folder = folder
        self.device = device
        self.libraries: dict[Path, Library] = {}
        # As hirc's programs do, torch multiplies in tf32 or not.
        self.rounds = "--float32-products=tf32" in words
        torch.backends.cudnn.benchmark = True

    def answer(self, request: dict[str, Any]) -> Any:
        """Yields the events of a request."""
        if request["do"] == "machine":
            yield {"machine": self._machine()}
        elif request["do"] == "copy":
            taken, moved = copy_timing(self.device)
            yield {"copy": asdict(taken), "bytes": moved}
        else:
            row = Row.from_json(request["row"])
            if request["do"] == "profile":
                self._profile(row, request["program"])
            else:
                yield from self._row(row, request)
            if self.device == "cuda":
                torch.cuda.empty_cache()
            yield {"end": True}

    def _row(self, row: Row, request: dict[str, Any]) -> Any:
        rounds = row.element == "tf32" or self.rounds
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = rounds
        if INDUCTOR in request["contenders"] or MAX_AUTOTUNE in request["contenders"]:
            torch.compiler.reset()
        inputs = inputs_of(row, self.device)
        outs = [empty(each, self.device) for each in row.outputs]
        effort = Effort(**request["effort"]) if "effort" in request else FULL
        ready: dict[str, Contender] = {}
        expected = None
        for name in request["contenders"]:
            yield {"begin": name}
            if name in BUILDS:
                call = self._program(request["programs"][name], inputs, outs)
                if isinstance(call, str):
                    yield {"problem": call}
                    continue
                if expected is None:
                    expected = self._expected(row, inputs)
                for out in outs:
                    poison(out)
                wrong = self._first_call(call) or _wrong(row, inputs, outs, expected)
                if wrong:
                    yield {"problem": wrong}
                    continue
            else:
                # Ours are checked: what that took is free for the peers.
                expected = None
                try:
                    call = self._peer(row, name, inputs, outs)
                except Exception as error:  # noqa: BLE001 - what the peer cannot do
                    yield {"problem": f"{type(error).__name__}: {str(error)[:_SAID_LENGTH]}"}
                    continue
            if request["timed"]:
                ready[name] = warmed_up(call, self.device, effort)
        for turn, name in turns(list(ready), effort):
            yield {"begin": name}
            ready[name].take_turn(turn, self.device)
        for name, contender in ready.items():
            yield {"timing": asdict(contender.timing()), "of": name}

    def _profile(self, row: Row, program: dict[str, str]) -> None:
        """Calls a program twice, the second time seen by a profiler, after a marker."""
        inputs = inputs_of(row, self.device)
        call = self._program(program, inputs, [empty(each, self.device) for each in row.outputs])
        if isinstance(call, str):
            raise HircError(call)
        if self.device != "cuda":
            return
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        torch.cuda._sleep(1)  # pyright: ignore[reportPrivateUsage] # the kernel counters.MARKER
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()

    def _program(
        self, program: dict[str, str], inputs: list[Tensor], outs: list[Tensor]
    ) -> Callable[[], object] | str:
        """Returns a call of hirc's program, or why there is none."""
        if "error" in program:
            return program["error"]
        name, path = program["program"], self.folder / program["library"]
        library = self.libraries.get(path)
        if library is None:
            try:
                library = self.libraries[path] = load(path)
            except HircError as error:
                return str(error)
        if name not in library.programs:
            return f"{path.name} has no program '{name}'"
        run = library.programs[name]
        out = outs[0] if len(outs) == 1 else tuple(outs)
        try:
            run(*inputs, out=out)
        except HircError as error:
            # A view of what the program computes: that it allocates.
            if _ALLOCATES not in str(error):
                return str(error)

            def allocating() -> None:
                results = run(*inputs)
                outs[:] = results if isinstance(results, tuple) else (results,)

            return allocating
        return lambda: run(*inputs, out=out)

    def _expected(self, row: Row, inputs: list[Tensor]) -> list[Tensor]:
        """Returns what is right, in float64."""
        if not row.label:
            return [exact(row.operation, inputs)]
        function = drawn.function_of(row)
        wide = [each.double() if each.dtype.is_floating_point else each for each in inputs]
        # Trying all algorithms for float64 takes longer than any saves.
        with torch.backends.cudnn.flags(enabled=True, benchmark=False):
            return [each.contiguous() for each in function(*wide)]

    def _first_call(self, call: Callable[[], Any]) -> str | None:
        try:
            call()
        except HircError as error:
            return str(error)
        if self.device == "cuda":
            torch.cuda.synchronize()
        return None

    def _peer(
        self, row: Row, contender: str, inputs: list[Tensor], outs: list[Tensor]
    ) -> Callable[[], object]:
        function = drawn.function_of(row) if row.label else FUNCTIONS[row.operation]
        if contender == EAGER:
            if not row.label:
                return eager(row.operation, inputs, outs[0])
            function(*inputs)
            return lambda: function(*inputs)
        if contender == CUDNN:
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                function(*inputs)

            def by_cudnn() -> object:
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    return function(*inputs)

            return by_cudnn
        mode = "max-autotune-no-cudagraphs" if contender == MAX_AUTOTUNE else "default"
        compiled = torch.compile(function, dynamic=False, mode=mode)
        compiled(*inputs)
        return lambda: compiled(*inputs)

    def _machine(self) -> dict[str, str]:
        found = {
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "torch": torch.__version__,
            "cuda": str(torch.version.cuda),
            "python": platform.python_version(),
            "chip": platform.processor() or platform.machine(),
        }
        if self.device == "cuda":
            found["chip"] = torch.cuda.get_device_name(0)
            found["driver"] = _driver()
        return found


def _wrong(
    row: Row, inputs: list[Tensor], outs: list[Tensor], expected: list[Tensor]
) -> str | None:
    """Returns what of the results is wrong, or None."""
    if not row.label:
        return difference(row, outs[0], expected[0])
    return differences(row, inputs, outs, expected)


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"
