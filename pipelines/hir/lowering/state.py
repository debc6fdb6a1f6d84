"""Where the lowering of a program stands: the current stream, and the values found so far."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ....dialects.mlir import ir
from ...host.emitter import Emitter
from .origins import Origins
from .signature import Signature


@dataclass
class Frame:
    """A block: the stream that is current in it, its outputs so far, and the events recorded."""

    stream: ir.Value
    outputs: list[ir.Value] = field(default_factory=list[ir.Value])
    events: list[ir.Value] = field(default_factory=list[ir.Value])


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
    `kept` are lowered operations to erase at the end.
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
        self.frame = Frame(outer.stream)
        try:
            yield self.frame
        finally:
            self.frame = outer
