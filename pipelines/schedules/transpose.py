"""The transpose schedule: pointwise work with an operand that lies across the outputs.

Two loops matter: the outer one of the outputs' memory where the other is the inner one, and the
other way round in the *transposed* operands. A block takes a tile of both, reads transposed
operands along the loop in which they are contiguous, and passes them through shared memory to the
threads that write along the outputs' (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in
CUDA", 2009). The other loops are the grid's.
"""

from __future__ import annotations

from ...dialects.mlir import arith, ir
from ..rewriting import index_constant
from .alternatives import Alternative, Conditions
from .device import Device
from .elements import ACCESS_BYTES, element_bytes
from .kernels import Kernels
from .launch import emit_launch, operation_name
from .parameters import Parameters
from .size import ONE, ZERO, OpenNumbers, Size, product
from .space import Loop, collapsed, in_memory_order
from .transpose_kernel import TransposeKernel
from .transpose_tiles import Tiles
from .work import Layout, Operand, Work

# Bytes of a tile's row, in both directions: whole sectors and more of each row of memory that is
# touched. Tiles of small elements are smaller, for shared memory's sake.
_ROW_BYTES = 256
_MOST_ELEMENTS = 128
_THREADS = 256
# Of a tile that moves single elements, in both directions.
_SINGLE_ELEMENTS = 64
_SINGLE_THREADS = 512
# Shared memory of a block, so that several blocks fit a multiprocessor.
_SHARED_BYTES = 48 * 1024
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
    sizes = [element_bytes(operand.element) for operand in work.operands]
    width = ACCESS_BYTES // max(sizes)
    side = min(_ROW_BYTES // max(sizes), _MOST_ELEMENTS)
    kinds = [
        _fitting(work, (row, column, *batch), across, side, width, _THREADS) if width > 1 else None,
        _fitting(work, (row, column, *batch), across, _SINGLE_ELEMENTS, 1, _SINGLE_THREADS),
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
    side: int,
    width: int,
    threads: int,
) -> Tiles | None:
    """Tiles of about `side` by `side` elements in vectors of `width`, or as large as fit.

    A loop that is known to be short gets a short side, and the other a long one. `loops` are the
    row, the column, and the others. None where even small tiles of all operands are too much.
    """
    row, column, *batch = loops
    element = sum(element_bytes(operand.element) for operand in across)
    while side * side * element > _SHARED_BYTES:
        side //= 2
    units = side // width
    if units < _LEAST_UNITS:
        return None
    columns = _side(column.extent, units, width)
    rows = _side(row.extent, units * units // columns, width)
    return Tiles(work, row, column, tuple(batch), across, width, rows, columns, threads)


def _side(extent: Size, units: int, width: int) -> int:
    """How many vectors of a tile lie along a loop: a power of two."""
    if extent.is_known:
        while units > 1 and (units // 2) * width >= extent.known:
            units //= 2
    return units


def _alternative(tiles: Tiles, kernels: Kernels) -> Alternative:
    work, width = tiles.work, tiles.width
    blocks: list[Size] = []

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
        blocks.append(_blocks(tiles, work.open))
        found.require_at_most(blocks[-1], _MOST_BLOCKS)

    return conditions, lambda: _launch(tiles, blocks[-1], kernels)


def _blocks(tiles: Tiles, open_: OpenNumbers) -> Size:
    """One for each tile."""
    counts = [loop.extent for loop in tiles.batch]
    for loop, side in ((tiles.row, tiles.row_side), (tiles.column, tiles.column_side)):
        if loop.extent.is_known:
            counts.append(Size(-(-loop.extent.known // side)))
        else:
            number = arith.ceildivui(open_.value(loop.extent), index_constant(side))
            counts.append(open_.size_of(number))
    return product(counts)


def _launch(tiles: Tiles, blocks: Size, kernels: Kernels) -> None:
    work = tiles.work
    made: list[TransposeKernel] = []

    def emit(entry: ir.Block) -> None:
        made.append(TransposeKernel(tiles, Parameters(entry, work.open)))
        made[0].emit()

    name = f"{operation_name(work.op)}_transposed"
    kernel = kernels.build(name, tiles.threads, emit, work.op.location)
    emit_launch(
        kernel,
        work.open.value(blocks),
        tiles.threads,
        made[0].parameters.arguments(),
        made[0].shared.bytes,
    )
