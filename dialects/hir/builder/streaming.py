"""Streams of a program's builder."""

from __future__ import annotations

from .errors import BuildError
from .sizes import Extent, Size
from .stream import Event, Stream
from .values import Values


class Streaming(Values):
    """Names streams, changes the current one, and orders work among them."""

    def stream(self, which: str | Extent, pool: int | None = None) -> Stream:
        """Returns the stream of a name, or a number's modulo `pool` (8 without it).

        `with p.stream("side"):` makes it the current one.
        """
        if not isinstance(which, (str, int, Size)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"a stream has a name or a number, not {which!r}")
        attributes = {"name": self.string(which)} if isinstance(which, str) else {}
        operands = [] if isinstance(which, str) else [self.extent_value(which)]
        if pool is not None:
            attributes["pool"] = self.integer(pool)
        value = self.value("hir.stream", operands, self.type("!hir.stream_t"), attributes)
        return Stream(self._program(), value, self.scope)

    def current_stream(self) -> Stream:
        """Returns the stream that operations go to here."""
        value = self.value("hir.current_stream", [], self.type("!hir.stream_t"))
        return Stream(self._program(), value, self.scope)

    def set_stream(self, stream: Stream) -> None:
        """What follows in this block goes to `stream`."""
        self.emit("hir.set_stream", [self.own(stream, "the stream")])

    def wait_stream(self, waiter: Stream, signaller: Stream) -> None:
        """What is put into `waiter` from now on starts after all that is in `signaller` now."""
        operands = [self.own(waiter, "the waiter"), self.own(signaller, "the signaller")]
        self.emit("hir.wait_stream", operands)

    def record(self, stream: Stream | None = None) -> Event:
        """Returns an event at this point of a stream, by default the current one."""
        operands = [] if stream is None else [self.own(stream, "the stream")]
        value = self.value("hir.record", operands, self.type("!hir.event_t"))
        return Event(self._program(), value, self.scope)

    def wait_event(self, event: Event, stream: Stream | None = None) -> None:
        """A stream, by default the current one, goes on after the event."""
        operands = [self.own(event, "the event")]
        if stream is not None:
            operands.append(self.own(stream, "the stream"))
        self.emit("hir.wait_event", operands)

    def synchronize(self, awaited: Stream | Event | None = None) -> None:
        """The host waits for a stream or an event, by default for the current stream."""
        operands = [] if awaited is None else [self.own(awaited, "what is waited for")]
        self.emit("hir.synchronize", operands)
