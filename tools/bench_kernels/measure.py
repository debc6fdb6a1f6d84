"""Times calls on a GPU by its own clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import torch

from .report import Timing

_WARM_UP = 3
_FEWEST, _MOST = 20, 200
_SECONDS = 0.1
# A slow call is timed less often.
_LIMIT_SECONDS = 1.0
# Keeps the GPU busy while the first calls are enqueued (some ms), so that what the host needs for a
# call is not counted.
_HEAD_START_CYCLES = 8_000_000
_COPIED = 2**28


def timing(call: Callable[[], object], device: str) -> Timing:
    """What a call takes."""
    return on_gpu(call) if device == "cuda" else on_cpu(call)


def on_gpu(call: Callable[[], object]) -> Timing:
    """Between events around each call, after calls that are not counted."""
    seconds = _between_events(call, 1)
    if seconds[0] > _LIMIT_SECONDS:
        return Timing.of(seconds)
    seconds = _between_events(call, _WARM_UP - 1)
    once = max(min(seconds), 1e-6)
    count = min(max(math.ceil(_SECONDS / once), _FEWEST), _MOST)
    if count * once > _LIMIT_SECONDS:
        count = max(int(_LIMIT_SECONDS / once), 1)
    return Timing.of(_between_events(call, count))


def _between_events(call: Callable[[], object], count: int) -> list[float]:
    events = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
        for _ in range(count)
    ]
    torch.cuda.synchronize()
    torch.cuda._sleep(_HEAD_START_CYCLES)  # pyright: ignore[reportPrivateUsage]
    for start, end in events:
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1e3 for start, end in events]


def on_cpu(call: Callable[[], object]) -> Timing:
    """On the CPU device, where the figures mean nothing."""
    seconds: list[float] = []
    for _ in range(2):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return Timing.of(seconds)


def copy_timing(device: str) -> tuple[Timing, int]:
    """A copy, the measure of all rows, and the bytes it reads and writes."""
    count = _COPIED if device == "cuda" else 2**16
    source = torch.ones(count, device=device)
    target = torch.empty_like(source)
    return timing(lambda: target.copy_(source), device), 2 * 4 * count
