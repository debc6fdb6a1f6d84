"""Which operations skewed tiles take, how large the tiles are, and what must hold at run time."""

from __future__ import annotations

from ..alternatives import Conditions
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, Size
from ..space import total
from ..work import Layout, Operand
from .configuration import Kind, TransposeConfiguration
from .crossing import Crossing, read_inputs
from .skewed_tiles import SkewedTiles, fits

# The first chips that copy to shared memory asynchronously (PTX ISA, "cp.async"). Reading through
# registers instead an H200 moves 2784 GB/s of bf16 instead of 3361.
_FIRST_CAPABILITY = 80
_ELEMENT_BYTES = (1, 2, 4)


def choose_skewed(
    crossing: Crossing, device: Device, layout: Layout
) -> TransposeConfiguration | None:
    """The configuration, or None where others are better, or elements differ in size."""
    if _refusal(crossing, device) is not None:
        return None
    across, table = crossing.across, device.tables.skewed
    element = element_bytes(across[0].element)
    width = ACCESS_BYTES // element
    is_copy = len(read_inputs(crossing.work)) == 1
    blocks = table.copying_blocks if is_copy else table.computing_blocks
    each_thread = table.copying_bytes if is_copy else table.computing_bytes
    side = table.greatest_side
    while side >= table.least_side and fits(side, side, width):
        threads = max(side * side * element // each_thread, table.least_threads)
        threads = min(threads, side * side // width)
        made = TransposeConfiguration(Kind.SKEWED, width, side, side, threads, layout)
        extents = (crossing.row.extent, crossing.column.extent)
        is_short = any(each.is_known and each.known <= side // 2 for each in extents)
        is_left_idle = side > table.least_side and _are_few(crossing, side, device)
        bytes_ = len(across) * skewed_tiles(crossing, made).area_bytes
        if not is_short and not is_left_idle and bytes_ <= device.shared_bytes // blocks:
            return made
        side //= 2
    return None


def _are_few(crossing: Crossing, side: int, device: Device) -> bool:
    """Returns whether there are certainly fewer tiles than multiprocessors."""
    tiles = total(crossing.batch)
    for extent in (crossing.row.extent, crossing.column.extent):
        tiles = tiles * (Size(-(-extent.known // side)) if extent.is_known else extent)
    return tiles.is_known and tiles.known < device.multiprocessors


def refuse_skewed(crossing: Crossing, made: TransposeConfiguration, device: Device) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can."""
    refusal = _refusal(crossing, device)
    if refusal is not None:
        return f"'kernel' is squares where {refusal}"
    tiles = skewed_tiles(crossing, made)
    if made.width != ACCESS_BYTES // tiles.element:
        return f"'width' is {ACCESS_BYTES // tiles.element} where 'kernel' is skewed"
    if not fits(made.row_side, made.column_side, made.width):
        return (
            "warps of vectors fill tiles of 'row_side' 8 times 'width', and 'column_side' 4 times"
        )
    if len(crossing.across) * tiles.area_bytes > device.shared_bytes:
        return f"a tile has at most {device.shared_bytes} bytes of shared memory"
    return None


def _refusal(crossing: Crossing, device: Device) -> str | None:
    """Why tiles cannot be skewed."""
    work, across = crossing.work, crossing.across
    element = element_bytes(across[0].element)
    if device.capability < _FIRST_CAPABILITY:
        return "chips do not copy to shared memory asynchronously"
    if element not in _ELEMENT_BYTES:
        return f"elements have {element} bytes"
    if any(element_bytes(each.element) != element for each in (*across, *work.outputs)):
        return "elements differ in size"
    # Rows that are read backwards have no packed ones after them.
    if any(crossing.row.stride_of(work, each.number).known < 0 for each in across):
        return "rows are read backwards"
    return None


def skewed_tiles(crossing: Crossing, made: TransposeConfiguration) -> SkewedTiles:
    """The tiles of a configuration."""
    element = element_bytes(crossing.across[0].element)
    return SkewedTiles(
        crossing.work,
        crossing.row,
        crossing.column,
        crossing.batch,
        crossing.across,
        made,
        element,
        _aligned(crossing, element),
    )


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
