"""Times calls on a GPU by its own clock: several calls in turns, so that none has a better time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from .report import Timing

_WARM_UP = 3
_MOST = 200
# A slow call is timed less often.
_LIMIT_SECONDS = 1.0
# Keeps the GPU busy while calls are enqueued, so that what the host needs for a call is not
# counted: for the first one (about 1 ms), and for each.
_HEAD_START_CYCLES, _CYCLES_A_CALL = 2_000_000, 60_000
_COPIED = 2**28


@dataclass(frozen=True)
class Effort:
    """How long a contender is timed: for `seconds`, `fewest` calls at least, in so many turns."""

    seconds: float
    fewest: int
    turns: int


FULL = Effort(0.1, 20, 8)


@dataclass
class Contender:
    """A call that is timed `count` times in turns, and the seconds of those that were."""

    call: Callable[[], object]
    count: int
    turns: int
    seconds: list[float] = field(default_factory=list[float])

    def take_turn(self, turn: int, device: str) -> None:
        """Times its calls of one turn."""
        count = self._in_turn(turn)
        if device != "cuda":
            self.seconds += [_on_host(self.call) for _ in range(count)]
        elif count > 1:
            # The first one finds in the cache what another contender left there.
            self.seconds += _between_events(self.call, 1 + count)[1:]
        elif count:
            self.seconds += _between_events(self.call, 1)

    def timing(self) -> Timing:
        return Timing.of(self.seconds)

    def _in_turn(self, turn: int) -> int:
        return (turn + 1) * self.count // self.turns - turn * self.count // self.turns


def warmed_up(call: Callable[[], object], device: str, effort: Effort = FULL) -> Contender:
    """Returns a contender whose call has run already."""
    if device != "cuda":
        # Where the figures mean nothing.
        return Contender(call, 2, effort.turns)
    (once,) = _between_events(call, 1)
    if once > _LIMIT_SECONDS:
        return Contender(call, 0, effort.turns, [once])
    once = max(min(_between_events(call, _WARM_UP - 1)), 1e-6)
    count = min(max(math.ceil(effort.seconds / once), effort.fewest), _MOST)
    if count * once > _LIMIT_SECONDS:
        count = max(int(_LIMIT_SECONDS / once), 1)
    return Contender(call, count, effort.turns)


def turns(names: Sequence[str], effort: Effort = FULL) -> Iterator[tuple[int, str]]:
    """Yields each turn's number, and whose it is: in a turn each has its own, in changing order.

    Each comes about as often after every other one: the rows of a Latin square that is balanced
    for neighbours (Williams, 1949), forwards and backwards.
    """
    zigzag = [place // 2 if place % 2 == 0 else -(place + 1) // 2 for place in range(len(names))]
    for turn in range(effort.turns):
        for step in zigzag if turn % 2 == 0 else reversed(zigzag):
            yield turn, names[(turn // 2 + step) % len(names)]


def timing(call: Callable[[], object], device: str) -> Timing:
    """Returns what a call takes that is timed alone."""
    alone = warmed_up(call, device)
    for turn, _ in turns(["alone"]):
        alone.take_turn(turn, device)
    return alone.timing()


def copy_timing(device: str) -> tuple[Timing, int]:
    """Returns a copy, the measure of all rows, and the bytes it reads and writes."""
    count = _COPIED if device == "cuda" else 2**16
    source = torch.ones(count, device=device)
    target = torch.empty_like(source)
    return timing(lambda: target.copy_(source), device), 2 * 4 * count


def _between_events(call: Callable[[], object], count: int) -> list[float]:
    events = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
        for _ in range(count)
    ]
    torch.cuda.synchronize()
    cycles = _HEAD_START_CYCLES + count * _CYCLES_A_CALL
    torch.cuda._sleep(cycles)  # pyright: ignore[reportPrivateUsage]
    for start, end in events:
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1e3 for start, end in events]


def _on_host(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
