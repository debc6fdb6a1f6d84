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
from ..space import Loop, collapsed, in_memory_order
from ..work import Layout, Operand, Work
from .kernel import TransposeKernel
from .tiles import Tiles

# Bytes of a tile's row, in both directions: whole sectors and more of each row of memory that is
# touched. Tiles of small elements are smaller, for shared memory's sake.
_ROW_BYTES = 256
_MOST_ELEMENTS = 128
_THREADS = 256
# Of a tile that moves single elements: so many bytes, for each thread to have enough under way, but
# no fewer elements than make a row of 64 in both directions.
_SINGLE_BYTES = 16 * 1024
_LEAST_SINGLES = 64 * 64
_SINGLE_THREADS = 512
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
    del device
    kinds = _tiles(work)
    if not kinds:
        return None
    if any(operand.is_assumed for operand in work.operands):
        # Tiles of single elements of any rows do for packed ones too.
        kinds = [
            *(tiles for tiles in kinds if tiles.width > 1),
            *_tiles(work.in_layout(Layout.ROWS)),
        ]
    return [_alternative(tiles, kernels) for tiles in kinds]


def _tiles(work: Work) -> list[Tiles]:
    """Tiles of wide and of single accesses, none where nothing lies across the outputs."""
    if work.collectives or not work.outputs:
        return []
    loops = collapsed(work, in_memory_order(work, work.parallel))
    if len(loops) < 2:
        return []
    row = loops[-1]
    column = _column(work, loops)
    if column is None or any(row.stride_of(work, each.number) != ONE for each in work.outputs):
        return []
    across = tuple(operand for operand in _read(work) if _is_across(work, operand, row, column))
    batch = [loop for loop in loops if loop not in (row, column)]
    size = max(
        element_bytes(operand.element)
        for operand in work.operands
        if ZERO not in (row.stride_of(work, operand.number), column.stride_of(work, operand.number))
    )
    width, side = ACCESS_BYTES // size, min(_ROW_BYTES // size, _MOST_ELEMENTS)
    singles = max(_SINGLE_BYTES // size, _LEAST_SINGLES)
    loops_in_turn = (row, column, *batch)
    kinds = [
        _fitting(work, loops_in_turn, across, side * side, width, _THREADS) if width > 1 else None,
        _fitting(work, loops_in_turn, across, singles, 1, _SINGLE_THREADS),
    ]
    return [tiles for tiles in kinds if tiles is not None]


def _read(work: Work) -> list[Operand]:
    """The inputs that the region uses."""
    arguments = work.block.arguments
    return [
        operand
        for operand in work.inputs
        if next(iter(arguments[operand.number].uses), None) is not None
    ]


def _is_across(work: Work, operand: Operand, row: Loop, column: Loop) -> bool:
    return column.stride_of(work, operand.number) == ONE and row.stride_of(
        work, operand.number
    ) not in (ZERO, ONE)


def _column(work: Work, loops: list[Loop]) -> Loop | None:
    """The loop in which most bytes of the operands that lie across the last one are contiguous."""

    def weight(column: Loop) -> int:
        return sum(
            element_bytes(operand.element)
            for operand in _read(work)
            if _is_across(work, operand, loops[-1], column)
        )

    best = max(loops[:-1], key=weight)
    return best if weight(best) else None


def _fitting(
    work: Work,
    loops: tuple[Loop, ...],
    across: tuple[Operand, ...],
    elements: int,
    width: int,
    threads: int,
) -> Tiles | None:
    """Tiles of so many elements in vectors of `width`, or as many as fit.

    They are squares, or twice as long along the row: what is written lies together. A loop that is
    known to be short gets a short side, and the other a long one. `loops` are the row, the column,
    and the others. None where tiles are too small, or too much together.
    """
    row, column, *batch = loops
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
    return Tiles(work, row, column, tuple(batch), across, width, rows, columns, threads)


def _side(extent: Size, units: int, width: int) -> int:
    """How many vectors of a tile lie along a loop: a power of two."""
    if extent.is_known:
        while units > 1 and (units // 2) * width >= extent.known:
            units //= 2
    return units


def _alternative(tiles: Tiles, kernels: Kernels) -> Alternative:
    work, width = tiles.work, tiles.width
    counts: list[tuple[Size, Size]] = []

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        if width > 1:
            found.require_multiple(tiles.row.extent, width)
            found.require_multiple(tiles.column.extent, width)
            for operand in [*_read(work), *work.outputs]:
                contiguous = tiles.column if operand in tiles.across else tiles.row
                if contiguous.stride_of(work, operand.number) != ONE:
                    continue
                found.require_aligned(operand, width * element_bytes(operand.element))
                for loop in (tiles.row, tiles.column, *tiles.batch):
                    if loop is not contiguous:
                        found.require_multiple(loop.stride_of(work, operand.number), width)
        rows = _count(tiles.row, tiles.row_side, work.open)
        counts.append((rows, _count(tiles.column, tiles.column_side, work.open)))
        found.require_at_most(_blocks(tiles, counts[-1]), _MOST_BLOCKS)

    return conditions, lambda: _launch(tiles, counts[-1], kernels)


def _count(loop: Loop, side: int, open_: OpenNumbers) -> Size:
    """How many tiles lie along a loop."""
    if loop.extent.is_known:
        return Size(-(-loop.extent.known // side))
    return open_.size_of(arith.ceildivui(open_.value(loop.extent), index_constant(side)))


def _blocks(tiles: Tiles, counts: tuple[Size, Size]) -> Size:
    """One for each tile."""
    return product([*counts, *(loop.extent for loop in tiles.batch)])


def _launch(tiles: Tiles, counts: tuple[Size, Size], kernels: Kernels) -> None:
    work = tiles.work
    made: list[TransposeKernel] = []

    def emit(entry: ir.Block) -> None:
        made.append(TransposeKernel(tiles, counts, Parameters(entry, work.open)))
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
