"""The transpose schedule: pointwise work with an operand that lies across the outputs.

Two loops matter: the outer one of the outputs' memory where the other is the inner one, and the
other way round in the *transposed* operands. A block takes a tile of both, reads transposed
operands along the loop in which they are contiguous, and passes them through shared memory to the
threads that write along the outputs' (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in
CUDA", 2009). The other loops are the grid's.
"""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..size import ONE, ZERO, OpenNumbers, Size, product
from ..space import Loop
from ..work import Layout, Work
from .block_tile import TileShape
from .crossing import Crossing, find_crossing, read_inputs
from .kernel import TransposeKernel
from .skewed_choice import require_skewed, skewed_tiles
from .skewed_kernel import SkewedKernel
from .skewed_tiles import SkewedTiles
from .tiles import Tiles

# Bytes of a tile's row, in both directions: whole sectors and more of each row of memory that is
# touched. Tiles of small elements are smaller, for shared memory's sake.
_ROW_BYTES = 256
_MOST_ELEMENTS = 128
_THREADS = 256
# Of a tile that moves single elements. Each thread has 16 of an operand under way: with 8 an H200
# moves 3112 GB/s of f32 instead of 3499, with 16 in tiles of twice the size, of bf16, 1576 instead
# of 2372.
_SINGLE_ELEMENTS = 64 * 64
# Shared memory of a block, so that several blocks fit a multiprocessor.
_SHARED_BYTES = 48 * 1024
# Smaller tiles, of two short loops, are not worth blocks of their own: neighbouring elements of the
# outputs then lie near one another in all operands.
_LEAST_ELEMENTS = 1024
# Fewer vectors than this along a tile's side leave the memory's sectors half used.
_LEAST_UNITS = 8
_MOST_BLOCKS = 2**31 - 1


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Tiles of wide and of single accesses, or None where nothing lies across the outputs."""
    kinds = _kinds(work, device)
    if not kinds:
        return None
    if any(operand.is_assumed for operand in work.operands):
        # Tiles of any rows do for packed ones too.
        wide = [tiles for tiles in kinds if isinstance(tiles, Tiles) and tiles.width > 1]
        kinds = [*wide, *_kinds(work.in_layout(Layout.ROWS), device)]
    return [_alternative(tiles, kernels) for tiles in kinds]


def _kinds(work: Work, device: Device) -> list[Tiles | SkewedTiles]:
    """Tiles of accesses that are wide for certain rows, wide for any, and of single elements."""
    crossing = find_crossing(work)
    if crossing is None:
        return []
    moves = (crossing.row, crossing.column)
    size = max(
        element_bytes(operand.element)
        for operand in work.operands
        if ZERO not in (loop.stride_of(work, operand.number) for loop in moves)
    )
    width, side = ACCESS_BYTES // size, min(_ROW_BYTES // size, _MOST_ELEMENTS)
    wide = _fitting(crossing, side * side, width) if width > 1 else None
    skewed = skewed_tiles(crossing, device)
    single = None
    if skewed is None or not skewed.is_for_any:
        single = _fitting(crossing, _SINGLE_ELEMENTS, 1)
    return [tiles for tiles in (wide, skewed, single) if tiles is not None]


def _fitting(crossing: Crossing, elements: int, width: int) -> Tiles | None:
    """Tiles of so many elements in vectors of `width`, or as many as fit.

    They are squares, or twice as long along the row: what is written lies together. A loop that is
    known to be short gets a short side, and the other a long one. None where tiles are too small,
    or too much together.
    """
    work, row, column, across = crossing.work, crossing.row, crossing.column, crossing.across
    element = sum(element_bytes(operand.element) for operand in across)
    while elements * element > _SHARED_BYTES:
        elements //= 2
    units = elements // (width * width)
    side = 1 << (units.bit_length() - 1) // 2
    if side < _LEAST_UNITS:
        return None
    columns = _side(column.extent, side, width)
    rows = _side(row.extent, units // columns, width)
    if rows * columns * width * width < _LEAST_ELEMENTS:
        return None
    threads = min(_THREADS, rows * columns)
    sides = rows * width, columns * width
    return Tiles(work, row, column, crossing.batch, across, width, *sides, threads)


def _side(extent: Size, units: int, width: int) -> int:
    """How many vectors of a tile lie along a loop: a power of two."""
    if extent.is_known:
        while units > 1 and (units // 2) * width >= extent.known:
            units //= 2
    return units


def _alternative(tiles: Tiles | SkewedTiles, kernels: Kernels) -> Alternative:
    work = tiles.work
    counts: list[tuple[Size, Size]] = []

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        if isinstance(tiles, SkewedTiles):
            require_skewed(found, tiles)
        elif tiles.width > 1:
            _require_wide(found, tiles)
        skew = tiles.skew if isinstance(tiles, SkewedTiles) else 0
        rows = _count(tiles.row, tiles.row_side, skew, work.open)
        counts.append((rows, _count(tiles.column, tiles.column_side, 0, work.open)))
        found.require_at_most(_blocks(tiles, counts[-1]), _MOST_BLOCKS)

    return conditions, lambda: _launch(tiles, counts[-1], kernels)


def _require_wide(found: Conditions, tiles: Tiles) -> None:
    """Adds that all vectors are aligned, and none reaches beyond the last row or column."""
    work, width = tiles.work, tiles.width
    found.require_multiple(tiles.row.extent, width)
    found.require_multiple(tiles.column.extent, width)
    for operand in [*read_inputs(work), *work.outputs]:
        contiguous = tiles.column if operand in tiles.across else tiles.row
        if contiguous.stride_of(work, operand.number) != ONE:
            continue
        found.require_aligned(operand, width * element_bytes(operand.element))
        for loop in (tiles.row, tiles.column, *tiles.batch):
            if loop is not contiguous:
                found.require_multiple(loop.stride_of(work, operand.number), width)


def _count(loop: Loop, side: int, skew: int, open_: OpenNumbers) -> Size:
    """How many tiles lie along a loop, of which each may begin up to `skew` elements earlier."""
    if loop.extent.is_known:
        return Size(-(-(loop.extent.known + skew) // side))
    extent = open_.value(loop.extent)
    count = arith.ceildivui(extent, index_constant(side))
    if skew:
        zero = index_constant(0)
        count = arith.ceildivui(arith.addi(extent, index_constant(skew)), index_constant(side))
        is_empty = arith.cmpi(arith.CmpIPredicate.eq, extent, zero)
        count = arith.select(is_empty, zero, count)
    return open_.size_of(count)


def _blocks(tiles: TileShape, counts: tuple[Size, Size]) -> Size:
    """One for each tile."""
    return product([*counts, *(loop.extent for loop in tiles.batch)])


def _launch(tiles: Tiles | SkewedTiles, counts: tuple[Size, Size], kernels: Kernels) -> None:
    work = tiles.work
    made: list[TransposeKernel | SkewedKernel] = []

    def emit(entry: ir.Block) -> None:
        parameters = Parameters(entry, work.open)
        if isinstance(tiles, SkewedTiles):
            made.append(SkewedKernel(tiles, counts, parameters))
        else:
            made.append(TransposeKernel(tiles, counts, parameters))
        made[0].emit()

    name = f"{operation_name(work.op)}_transposed"
    kernel = kernels.build(name, tiles.threads, emit, work.op.location)
    emit_launch(
        kernel,
        work.open.value(_blocks(tiles, counts)),
        tiles.threads,
        made[0].parameters.arguments(),
        made[0].shared.bytes,
    )
