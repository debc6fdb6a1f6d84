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
class WindowTable:
    """Windows: a thread takes at most `rows` rows, whose windows have so many `elements` in all.

    No sweep of them is on record.
    """

    threads: int = 256
    rows: int = 8
    elements: int = 320


@dataclass(frozen=True)
class SquareTable:
    """Transposes by tiles that threads turn in squares, in GB/s on an H200.

    A row of a tile has `row_bytes` in both directions, whole sectors and more of each row of memory
    that is touched, but at most `most_side` elements, for shared memory's sake: a block has
    `shared_bytes`, so that several fit. A tile of single elements has `single_elements`, so that a
    thread has 16 of an operand under way: of f32 3499, with 8 3112; of bf16 2372, with 16 in tiles
    of twice the size 1576. Tiles of fewer than `least_elements` are not worth blocks of their own,
    and fewer than `least_units` vectors along a side leave the memory's sectors half used.
    """

    threads: int = 256
    row_bytes: int = 256
    most_side: int = 128
    single_elements: int = 64 * 64
    shared_bytes: int = 48 * 1024
    least_elements: int = 1024
    least_units: int = 8


@dataclass(frozen=True)
class SkewedTable:
    """Transposes by skewed tiles, in GB/s on an H200.

    Copies are fastest in tiles of 128 by 128 elements (3558 of f32, 3457 in those of 64 by 64), of
    which so many `copying_blocks` fit a multiprocessor. Where threads read more, tiles of f32 are
    best smaller (3832), so that `computing_blocks` fit, and those of bf16 have twice the threads: a
    thread takes so many bytes of an operand, but that blocks have `least_threads`.
    """

    greatest_side: int = 128
    least_side: int = 64
    copying_blocks: int = 3
    computing_blocks: int = 4
    copying_bytes: int = 128
    computing_bytes: int = 64
    least_threads: int = 256


@dataclass(frozen=True)
class Tables:
    """All of them."""

    pointwise: PointwiseTable = PointwiseTable()
    windows: WindowTable = WindowTable()
    squares: SquareTable = SquareTable()
    skewed: SkewedTable = SkewedTable()
