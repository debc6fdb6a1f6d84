"""How often Python looks for objects that only each other refer to."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

# Of objects made since the last look: a compiler's mostly stay until it ends.
_SELDOM = 100_000


@contextmanager
def seldom_collected() -> Generator[None]:
    """Collects cycles seldom in the block; often, it costs a tenth of a compilation."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _SELDOM) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
