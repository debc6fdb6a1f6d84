"""Streams and events as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...mlir import ir

if TYPE_CHECKING:
    from .emitter import Scope
    from .program import Program


class Event:
    """A point of a stream."""

    def __init__(self, program: Program, value: ir.Value, scope: Scope) -> None:
        self.program = program
        self.value = value
        self.scope = scope

    def synchronize(self) -> None:
        """The host waits for it."""
        self.program.synchronize(self)


class Stream:
    """A queue of device work. `with stream:` puts what is in it there."""

    def __init__(self, program: Program, value: ir.Value, scope: Scope) -> None:
        self.program = program
        self.value = value
        self.scope = scope
        self._before: list[Stream] = []

    def __enter__(self) -> Stream:
        self._before.append(self.program.current_stream())
        self.program.set_stream(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        before = self._before.pop()
        if kind is None:
            self.program.set_stream(before)

    def wait(self, other: Stream | Event) -> None:
        """What is put here from now on starts after the event, or what is in the stream now."""
        if isinstance(other, Event):
            self.program.wait_event(other, self)
        else:
            self.program.wait_stream(self, other)

    def record(self) -> Event:
        """Returns an event at this point."""
        return self.program.record(self)

    def synchronize(self) -> None:
        """The host waits for all that is in it now."""
        self.program.synchronize(self)
