"""Streams and events at run time: torch's on a GPU, names alone on the CPU."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .torch_import import torch


@dataclass(frozen=True, eq=False)
class Stream:
    """A queue of device work; on the CPU everything runs at once, in the program's order."""

    name: str
    handle: torch.cuda.Stream | None = None

    @contextmanager
    def current(self) -> Generator[None]:
        """Puts torch's work into this stream."""
        if self.handle is None:
            yield
            return
        with torch.cuda.stream(self.handle):
            yield

    def wait_for(self, other: Stream) -> None:
        """What comes into this stream from now on starts after all that is in `other`."""
        if self.handle is not None and other.handle is not None:
            self.handle.wait_stream(other.handle)

    def record(self) -> Event:
        """Returns an event after all that is in the stream now."""
        return Event(self.handle.record_event() if self.handle is not None else None)

    def synchronize(self) -> None:
        """Waits for all that is in the stream."""
        if self.handle is not None:
            self.handle.synchronize()


@dataclass(frozen=True, eq=False)
class Event:
    """A point in a stream."""

    handle: Any = None

    def hold_up(self, stream: Stream) -> None:
        """What comes into `stream` from now on starts after the event."""
        if self.handle is not None and stream.handle is not None:
            stream.handle.wait_event(self.handle)

    def synchronize(self) -> None:
        """Waits for the event."""
        if self.handle is not None:
            self.handle.synchronize()


@dataclass
class Streams:
    """The streams of one interpretation, by name."""

    device: torch.device
    known: dict[str, Stream] = field(default_factory=dict[str, Stream])

    def caller(self) -> Stream:
        """Returns the stream that is current where the program is run."""
        if self.device.type != "cuda":
            return Stream("the caller's")
        return Stream("the caller's", torch.cuda.current_stream(self.device))

    def named(self, name: str) -> Stream:
        if name not in self.known:
            on_gpu = self.device.type == "cuda"
            self.known[name] = Stream(name, torch.cuda.Stream(self.device) if on_gpu else None)
        return self.known[name]

    def numbered(self, number: int, pool: int) -> Stream:
        """Number `number` modulo `pool`."""
        return self.named(f"#{number % pool}")
