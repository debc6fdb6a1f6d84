"""Numbers that choosers decide by and that no formula gives, a table for each family.

Each says what it is from. A chip that was measured may have tables of its own (`device.py`).
"""

from __future__ import annotations

from ...dialects.records import dataclass


@dataclass(frozen=True)
class PointwiseTable:
    """Pointwise kernels on an H200, in GB/s moved.

    A thread takes one vector: additions 4378, with two or four vectors 4344 and 4309; threads that
    go on to further ones move 3962 of 4266 in a copy. Where the loads of vectors wait for that of
    an index, one alone leaves the memory idle (4105): a thread takes `gathered` (4405; four 4370).
    `singles` single elements have as many bytes under way as vectors of four f32 and twice of bf16.
    """

    threads: int = 256
    gathered: int = 2
    singles: int = 8


@dataclass(frozen=True)
class Tables:
    """All of them."""

    pointwise: PointwiseTable = PointwiseTable()
