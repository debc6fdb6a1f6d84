"""Where the lowering of a program stands: the current stream, and the values found so far."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from dataclasses import field

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...host.emitter import Emitter
from ..index_arithmetic import Index
from .origins import Origins
from .signature import Signature


@dataclass(frozen=True)
class Memory:
    """The bytes of an allocation, and the sizes and strides of the buffer in it."""

    bytes: Index
    sizes: list[Index]
    strides: list[Index]


@dataclass
class Frame:
    """A block: the stream that is current in it, its outputs so far, and the events recorded.

    `stops` are the conditions that end a loop after this iteration; `planned` is the memory of
    allocations so far, by what they ask for; `outer` the block around.
    """

    stream: ir.Value
    outputs: list[ir.Value] = field(default_factory=list[ir.Value])
    events: list[ir.Value] = field(default_factory=list[ir.Value])
    stops: list[ir.Value] = field(default_factory=list[ir.Value])
    outer: Frame | None = None
    planned: dict[Hashable, Memory] = field(default_factory=dict[Hashable, Memory])

    def find_planned(self, asked: Hashable) -> Memory | None:
        """Returns the memory that was planned before, here or around."""
        frame: Frame | None = self
        while frame is not None:
            if asked in frame.planned:
                return frame.planned[asked]
            frame = frame.outer
        return None


@dataclass(frozen=True)
class LaunchedKernel:
    """The gpu.func of a launch, and what its hir.kernel says."""

    symbol: ir.Attribute
    name: str
    parameters: list[ir.Type]
    cluster: list[int]


@dataclass(frozen=True)
class LauncherFunction:
    """The function of a hir.launcher: its name, the values it is to be given, what it takes."""

    name: str
    declared: list[ir.Type]
    inputs: list[ir.Type]


@dataclass
class Tables:
    """What the programs of a module share.

    That is the table of each named stream, what is known of each kernel by its symbol, and the
    function of each launcher.
    """

    streams: dict[str, str] = field(default_factory=dict[str, str])
    kernels: dict[ir.Attribute, LaunchedKernel] = field(
        default_factory=dict[ir.Attribute, LaunchedKernel]
    )
    launchers: dict[str, LauncherFunction] = field(default_factory=dict[str, LauncherFunction])


@dataclass
class ProgramState:
    """The lowering of one program.

    `given` are the buffers that the caller may hand in, by the number of the output, and
    `output_names` how messages name the outputs; `signatures` are those of the module's programs;
    `results` is what calls and branches gave, by the
    !hir.results_t value that stands for it; `events` are all events so far;
    `kept` are lowered operations to erase at the end, `packs` those that make buffers of parts.
    """

    emit: Emitter
    origins: Origins
    tables: Tables
    frame: Frame
    output_names: list[str] = field(default_factory=list[str])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])
    given: dict[int, ir.Value] = field(default_factory=dict[int, ir.Value])
    results: dict[ir.Value, list[ir.Value]] = field(default_factory=dict[ir.Value, list[ir.Value]])
    events: set[ir.Value] = field(default_factory=set[ir.Value])
    kept: list[ir.Operation] = field(default_factory=list[ir.Operation])
    packs: list[ir.Operation] = field(default_factory=list[ir.Operation])

    @property
    def stream(self) -> ir.Value:
        return self.frame.stream

    @contextmanager
    def before(self, op: ir.Operation | ir.OpView) -> Generator[None, None, None]:
        """Emits before `op`, at its location, and afterwards where it was before."""
        previous = self.emit.op
        self.emit.at(op.operation)
        try:
            with ir.InsertionPoint(op.operation), op.location:
                yield
        finally:
            self.emit.at(previous)

    @contextmanager
    def block(self) -> Generator[Frame, None, None]:
        """A nested block, which begins with the stream that is current around it."""
        outer = self.frame
        self.frame = Frame(outer.stream, outer=outer)
        try:
            yield self.frame
        finally:
            self.frame = outer
