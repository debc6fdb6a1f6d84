"""The interpreter: a module, what it needs from outside, and its programs' memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...dialects.mlir import ir
from .. import activity
from ..errors import InputError
from . import fault
from .buffer import Buffer
from .checks import check_end, check_results
from .frame import Frame
from .inputs import bind_inputs
from .memory import Counts, Memory
from .mesh_run import MeshRun
from .outline import Outline
from .outputs import bind_given, by_number
from .program_text import builder_name, named_programs, parsed
from .streams import Stream, Streams
from .team import Exchanges, Place, run_team
from .torch_import import torch

__all__ = ["Interpreter", "interpret", "interpret_team"]

HostFunctions = Mapping[str, Callable[..., Any]]


def interpret(
    program: object,
    inputs: Sequence[Any] | Mapping[str, Any],
    outputs: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    entry: str | None = None,
    host_functions: HostFunctions | None = None,
    device: str | torch.device | None = None,
) -> list[Any]:
    """Runs a Host IR program over torch tensors, op by op; its outputs, tensors or numbers.

    `program` is a builder's program, MLIR text, a path or an ir.Module. `inputs` and `outputs` come
    in order or by name; an output that is None is the program's to allocate. `host_functions` are
    what hir.host_call calls, by name. `entry` names the program to run: without it a builder's own,
    else `main`, or the only one. The device is the inputs', the CPU without tensors.

    Raises InputError for what is wrong in the program, its inputs, or while it runs.
    """
    runner = Interpreter(program, entry=entry, host_functions=host_functions, device=device)
    return runner.run(inputs, outputs)


def interpret_team(
    program: object,
    inputs: Sequence[Sequence[Any] | Mapping[str, Any]],
    *,
    entry: str | None = None,
    check_leaks: bool | None = None,
) -> list[list[Any]]:
    """Runs a program on as many devices as there are `inputs`; the outputs of each, in that order.

    All are the CPU. Raises InputError as `interpret` does, and where the devices wait for one
    another in vain.
    """
    exchanges = Exchanges(len(inputs))
    runs: list[Callable[[], list[Any]]] = []
    for rank, given in enumerate(inputs):
        runner = Interpreter(
            program, entry=entry, check_leaks=check_leaks, place=Place(rank, exchanges)
        )
        runs.append(partial(runner.run, given))
    return run_team(exchanges, runs)


class Interpreter:
    """A program that can be run, and the counts of what its runs allocated.

    `check_leaks` says which memory must have been freed, or be an output, when a program ends: with
    True all that it allocated, with None what some hir.deallocate of the program frees, on another
    path. A program without deallocations is one that hir-insert-deallocations has not seen yet.
    `place` is that of this run in a team of several (see `interpret_team`).
    """

    def __init__(
        self,
        program: object,
        *,
        entry: str | None = None,
        host_functions: HostFunctions | None = None,
        device: str | torch.device | None = None,
        check_leaks: bool | None = None,
        place: Place | None = None,
    ) -> None:
        activity.tell_of_crashes()
        # The session's context takes longer to make than most programs take to run.
        self.module, self._session = parsed(program)
        self.host_functions = dict(host_functions or {})
        self.check_leaks = check_leaks
        self.place = place
        self.memory = Memory()
        # Buffers of constants, by symbol.
        self.constants: dict[str, Buffer] = {}
        self._asked_device = torch.device(device) if device is not None else None
        self.device = self._asked_device or torch.device("cpu")
        self.streams = Streams(self.device)
        self._outlines = {name: Outline(op) for name, op in named_programs(self.module).items()}
        if entry is None:
            entry = builder_name(program) or "main"
            if entry not in self._outlines and len(self._outlines) == 1:
                (entry,) = self._outlines
        if entry not in self._outlines:
            names = ", ".join(f"@{name}" for name in self._outlines) or "none"
            raise InputError(
                f"there is no program @{entry}; the module has: {names}", stage=fault.STAGE
            )
        self.entry = self._outlines[entry]

    @property
    def counts(self) -> Counts:
        """What was allocated and freed so far."""
        return self.memory.counts

    def run(
        self,
        inputs: Sequence[Any] | Mapping[str, Any],
        outputs: Sequence[Any] | Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Runs the program once; its outputs, tensors or numbers."""
        return self.prepared(inputs, outputs)()

    def prepared(
        self,
        inputs: Sequence[Any] | Mapping[str, Any],
        outputs: Sequence[Any] | Mapping[str, Any] | None = None,
    ) -> Callable[[], list[Any]]:
        """Checks what a run is given; what then runs the program. Both raise InputError."""
        outline = self.entry
        names = [named.name for named in outline.inputs]
        values = by_number("input", names, inputs)
        wanted = by_number("output", outline.output_names, [] if outputs is None else outputs)
        parts = MeshRun.of(outline, self.place)
        if parts is not None:
            values = parts.wholes(values)
        self._choose_device(outline, values)
        bound = bind_inputs(outline, values, self.device)
        given = {} if parts else bind_given(outline, wanted, bound, self.device)

        def run() -> list[Any]:
            results = self.run_program(outline, bound, given, self.streams.caller())
            for stream in self.streams.known.values():
                stream.synchronize()
            tensors = [item.tensor if isinstance(item, Buffer) else item for item in results]
            return tensors if parts is None else parts.own(tensors, wanted)

        return run

    def program(self, name: str) -> Outline | None:
        """Returns a program of the module; None where the name is that of a function on tensors."""
        return self._outlines.get(name)

    def run_program(
        self, outline: Outline, inputs: Sequence[Any], given: dict[int, Buffer], stream: Stream
    ) -> list[Any]:
        """Runs a program of the module on bound inputs; the values of its outputs."""
        frame = Frame(self, outline, stream, given)
        before = len(self.memory.allocations)
        for argument, value in zip(outline.block.arguments, inputs, strict=True):
            frame.values[argument] = value
        collected = frame.run_block(outline.block)
        results = [values[0] for _, values in collected]
        check_results(outline, frame, results)
        check_end(outline, self.memory.allocations[before:], results, self.check_leaks)
        return results

    def _choose_device(self, outline: Outline, values: Sequence[Any]) -> None:
        tensors = [
            value
            for named, value in zip(outline.inputs, values, strict=True)
            if isinstance(value, torch.Tensor) and isinstance(named.type, ir.MemRefType)
        ]
        if self._asked_device is None and tensors:
            self.device = tensors[0].device
        if str(self.device) == "cuda":
            self.device = torch.device("cuda", torch.cuda.current_device())
        if self.streams.device != self.device:
            self.streams = Streams(self.device)
