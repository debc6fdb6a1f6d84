"""Shared memory for tests: aligned, and swizzled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def aligned(size: int, alignment: int) -> NDArray[np.uint8]:
    """Zeros in memory."""
    raw = np.zeros(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + size]


def swizzled_chunk(row: int, chunk: int, width: int) -> int:
    """Where the swizzle puts a chunk of 16 bytes of a row: PTX ISA's figures of the modes."""
    match width:
        case 128:
            return chunk ^ row % 8
        case 64:
            return chunk ^ row // 2 % 4
        case 32:
            return chunk ^ row // 4 % 2
        case _:
            return chunk
