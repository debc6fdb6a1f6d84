"""Which operations skewed tiles take, how large the tiles are, and what must hold at run time."""

from __future__ import annotations

from ..alternatives import Conditions
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, Size
from ..work import Operand
from .crossing import Crossing, read_inputs
from .skewed_tiles import SkewedTiles, fits

# The first chips that copy to shared memory asynchronously (PTX ISA, "cp.async"). Reading through
# registers instead an H200 moves 2784 GB/s of bf16 instead of 3361.
_FIRST_CAPABILITY = 80
_ELEMENT_BYTES = (1, 2, 4)
# On an H200 copies are fastest in tiles of 128 by 128 elements (3558 GB/s of f32, 3457 in those of
# 64 by 64), three of which fit a multiprocessor. Where threads read more, tiles of f32 are best
# smaller (3832 GB/s), and those of bf16 have twice the threads.
_GREATEST_SIDE, _LEAST_SIDE = 128, 64
_COPYING_BLOCKS, _COMPUTING_BLOCKS = 3, 4
# What a thread takes of an operand, but that blocks are no smaller.
_COPYING_BYTES, _COMPUTING_BYTES = 128, 64
_LEAST_THREADS = 256


def skewed_tiles(crossing: Crossing, device: Device) -> SkewedTiles | None:
    """The tiles, or None where others are better, or elements differ in size."""
    work, across = crossing.work, crossing.across
    element = element_bytes(across[0].element)
    if device.capability < _FIRST_CAPABILITY or element not in _ELEMENT_BYTES:
        return None
    if any(element_bytes(each.element) != element for each in (*across, *work.outputs)):
        return None
    # Rows that are read backwards have no packed ones after them.
    if any(crossing.row.stride_of(work, each.number).known < 0 for each in across):
        return None
    width = ACCESS_BYTES // element
    is_copy = len(read_inputs(work)) == 1
    most = device.shared_bytes // (_COPYING_BLOCKS if is_copy else _COMPUTING_BLOCKS)
    each_thread = _COPYING_BYTES if is_copy else _COMPUTING_BYTES
    side = _GREATEST_SIDE
    while side >= _LEAST_SIDE and fits(side, side, width):
        threads = max(side * side * element // each_thread, _LEAST_THREADS)
        tiles = SkewedTiles(
            work,
            crossing.row,
            crossing.column,
            crossing.batch,
            across,
            width,
            side,
            side,
            min(threads, side * side // width),
            element,
            _aligned(crossing, element),
        )
        extents = (crossing.row.extent, crossing.column.extent)
        is_short = any(each.is_known and each.known <= side // 2 for each in extents)
        if not is_short and len(across) * tiles.area_bytes <= most:
            return tiles
        side //= 2
    return None


def require_skewed(found: Conditions, tiles: SkewedTiles) -> None:
    """Adds that all that is read or written in vectors is aligned where the first output is."""
    first, *others = tiles.work.outputs
    for operand in (*others, *tiles.aligned):
        found.require_same_alignment(first, operand, ACCESS_BYTES)
        for loop in (tiles.column, *tiles.batch):
            one, other = (loop.stride_of(tiles.work, each.number) for each in (first, operand))
            found.require_same_rest(one, other, tiles.width)


def _aligned(crossing: Crossing, element: int) -> tuple[Operand, ...]:
    """The direct operands that may be read in vectors; others are read element by element."""
    work, first = crossing.work, crossing.work.outputs[0]

    def stride(operand: Operand) -> Size:
        return crossing.column.stride_of(work, operand.number)

    return tuple(
        operand
        for operand in read_inputs(work)
        if operand not in crossing.across
        and element_bytes(operand.element) == element
        and crossing.row.stride_of(work, operand.number) == ONE
        and (stride(operand) != ZERO or stride(first).is_multiple_of(ACCESS_BYTES // element))
    )
