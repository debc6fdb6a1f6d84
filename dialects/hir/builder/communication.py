"""Communication among devices in a program's builder."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...mlir import ir
from ..layout import DYNAMIC, buffer_type
from ..spread import parse_spread
from .buffer import Buffer
from .communicator import Communicator
from .errors import BuildError
from .scalar import Scalar
from .sizes import Extent, Size, divide
from .stream import Event, Stream
from .streaming import Streaming

if TYPE_CHECKING:
    from .emitter import Scope
    from .program import Program


class Request:
    """A communication under way."""

    def __init__(self, program: Program, value: ir.Value, scope: Scope) -> None:
        self.program = program
        self.value = value
        self.scope = scope

    def wait(self) -> None:
        """Orders the current stream after it."""
        self.program.wait(self)


class Communication(Streaming):
    """Begins communications among devices and waits for them."""

    def communicator(self, team: Sequence[int], backend: str | None = None) -> Communicator:
        """Returns the devices `team`, over `backend` ("nccl" without it)."""
        return self._communicator({"team": self.integers(team)}, [team], backend)

    def communicators(
        self, teams: Sequence[Sequence[int]], backend: str | None = None
    ) -> Communicator:
        """Returns the one of several teams, all of one size, that the device is of."""
        rows = ir.ArrayAttr.get([self.integers(team) for team in teams], self.context)
        return self._communicator({"teams": rows}, teams, backend)

    def _communicator(
        self,
        attributes: dict[str, ir.Attribute],
        teams: Sequence[Sequence[int]],
        backend: str | None,
    ) -> Communicator:
        if backend is not None:
            attributes["backend"] = self.string(backend)
        value = self.value("hir.communicator", [], self.type("!hir.communicator_t"), attributes)
        devices = tuple(tuple(team) for team in teams)
        return Communicator(self._program(), value, self.scope, devices)

    def rank(self, communicator: Communicator) -> Size:
        """Returns the place of the device that runs the program in the team; -1 where it is not of
        it.
        """
        operands = [self.own(communicator, "the communicator")]
        value = self.value("hir.rank", operands, self.index)
        return self.new_size("rank", self.scope, lambda: value)

    def shares_memory(self, communicator: Communicator) -> Scalar:
        """Returns whether the devices of the team reach each other's memory, by hir.put and get."""
        operands = [self.own(communicator, "the communicator")]
        value = self.value("hir.shares_memory", operands, self.type("i1"))
        return Scalar(self._program(), value, self.scope)

    def communicate(
        self,
        kind: str,
        source: Buffer,
        out: Buffer,
        communicator: Communicator,
        root: int | None = None,
        reduction: str | None = None,
        to: Sequence[int] | None = None,
        peers: Sequence[Extent] | None = None,
    ) -> Request:
        """Begins a communication; `root`, `reduction`, `to` are there where the kind has them.

        `peers` are places in the team that the run may compute: the root in place of `root`, or
        those that a send-recv sends to and receives from (-1: nobody).
        """
        self.refuse_spread("a communication")
        operands = [
            self.buffer_value(source, "the source"),
            self.buffer_value(out, "out"),
            self.own(communicator, "the communicator"),
            *(self.extent_value(peer) for peer in peers or ()),
        ]
        attributes = {"kind": self.string(kind)}
        if root is not None:
            attributes["root"] = self.integer(root)
        if reduction is not None:
            attributes["reduction"] = self.string(reduction)
        if to is not None:
            attributes["to"] = self.integers(to)
        value = self.value("hir.communicate", operands, self.type("!hir.request_t"), attributes)
        return Request(self._program(), value, self.scope)

    @contextmanager
    def coalesce(self) -> Generator[Request, None, None]:
        """The communications in the `with` begin as one group, which the request stands for."""
        op = self.emit("hir.coalesce", [], [self.type("!hir.request_t")], regions=1)
        request = Request(self._program(), op.results[0], self.scope)
        block = ir.Block.create_at_start(op.regions[0], [], [])
        with self.writing(op), self.inside(block, "the group of communications"):
            yield request

    def put(self, source: Buffer, target: Buffer, peer: Extent, signal: bool = False) -> Request:
        """Begins to copy into a peer's part of `target`, a view of symmetric memory of a team.

        `peer` is a place in the team, -1: nobody. With `signal` the peer waits by `wait_signal`.
        """
        attributes = {"signal": self.unit()} if signal else {}
        return self._moved("hir.put", source, target, peer, attributes)

    def get(self, source: Buffer, target: Buffer, peer: Extent) -> Request:
        """Begins to copy a peer's part of `source`, a view of symmetric memory of a team."""
        return self._moved("hir.get", source, target, peer, {})

    def _moved(
        self,
        name: str,
        source: Buffer,
        target: Buffer,
        peer: Extent,
        attributes: dict[str, ir.Attribute],
    ) -> Request:
        self.refuse_spread("a communication")
        operands = [
            self.buffer_value(source, "the source"),
            self.buffer_value(target, "the target"),
            self.extent_value(peer),
        ]
        value = self.value(name, operands, self.type("!hir.request_t"), attributes)
        return Request(self._program(), value, self.scope)

    def wait_signal(self, buffer: Buffer, peer: Extent) -> None:
        """Orders the current stream after the peer's next put with a signal into the buffer."""
        self.refuse_spread("a communication")
        self.emit("hir.wait_signal", [self.buffer_value(buffer), self.extent_value(peer)])

    def barrier(self, buffer: Buffer) -> None:
        """Orders the current stream after all that is before on those of the buffer's team."""
        self.refuse_spread("a communication")
        self.emit("hir.barrier", [self.buffer_value(buffer)])

    def wait(self, awaited: Request | Event | Stream) -> None:
        """Orders the current stream after a communication, an event, or what is in a stream now."""
        if isinstance(awaited, Event):
            self.wait_event(awaited)
        elif isinstance(awaited, Stream):
            self.wait_stream(self.current_stream(), awaited)
        else:
            self.emit("hir.wait", [self.own(awaited, "what is waited for")])

    def spread(self, x: Buffer, spreads: Sequence[str]) -> Buffer:
        """Returns a copy of `x`, in a program over a mesh, that is spread so: one spread for each
        axis.
        """
        self.refuse_spread("spreading over a mesh")
        declared = buffer_type(x.type.shape, x.type.element_type)
        attributes = {"spread": self._program().spreads(spreads, declared)}
        value = self.value("hir.set", [self.buffer_value(x)], declared, attributes)
        return self.new_buffer(value, x.shape)

    def reshard(
        self,
        x: Buffer,
        before: str | Sequence[str],
        after: str | Sequence[str],
        team: Sequence[int],
        to_team: Sequence[int] | None = None,
        out: Buffer | None = None,
        mesh: Sequence[int] | None = None,
    ) -> Buffer:
        """`x`, spread over `team` as `before` says, spread over `to_team` as `after` says.

        A spread is "whole", "partial:sum" (or another reduction) or "axis:N". Without `to_team` the
        devices stay the same. Over a `mesh`, the sizes of its axes, both are lists of spreads, one
        for each axis; the devices are the team's in row-major order.
        """
        self.refuse_spread("resharding")
        to_team = team if to_team is None else to_team
        attributes: dict[str, ir.Attribute] = {
            "from": self._spread(before),
            "to": self._spread(after),
            "from_team": self.integers(team),
            "to_team": self.integers(to_team),
        }
        if mesh is not None:
            attributes["mesh"] = self.integers(mesh)
        value = self.buffer_value(x)
        if out is not None:
            self.emit("hir.reshard", [value, self.buffer_value(out, "out")], [], attributes)
            return out
        sizes: list[Extent] = list(x.shape)
        teams = (mesh, mesh) if mesh is not None else ((len(team),), (len(to_team),))
        for given, shape, sign in zip((before, after), teams, (1, -1), strict=True):
            texts = [given] if isinstance(given, str) else list(given)
            if isinstance(given, str) == (mesh is not None) or len(texts) != len(shape):
                wanted = "one spread" if mesh is None else f"a list of {len(shape)} spreads"
                raise BuildError(f"{wanted} is expected, not {given!r}")
            for text, devices in zip(texts, shape, strict=True):
                spread = parse_spread(text, x.rank)
                if isinstance(spread, str):
                    raise BuildError(f"the spread is {text!r}: {spread}")
                if spread.axis is not None:
                    size = sizes[spread.axis]
                    sizes[spread.axis] = (
                        size * devices if sign > 0 else divide(self, "ceildiv", size, devices)
                    )
        # What is open in the operand's type is open in the result's.
        shape = [
            DYNAMIC if known == DYNAMIC or isinstance(size, Size) else size
            for known, size in zip(x.type.shape, sizes, strict=True)
        ]
        result = buffer_type(shape, x.type.element_type)
        return self.new_buffer(self.value("hir.reshard", [value], result, attributes), sizes)

    def _spread(self, given: str | Sequence[str]) -> ir.Attribute:
        if isinstance(given, str):
            return self.string(given)
        return self.strings(given)
