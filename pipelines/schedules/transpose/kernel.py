"""The kernel of tiles that threads turn in squares: one block computes one tile of the outputs."""

from __future__ import annotations

from ....dialects.mlir import arith, gpu, ir, scf
from ...i32 import i32_constant
from ..cache_priority import read_policy
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..parameters import Parameters
from ..shared import SharedMemory
from ..size import ONE, ZERO, Size
from ..work import Operand
from .block_tile import Spot, plus, times
from .points import Loaded, TilePoints
from .tiles import Tile, Tiles

# What shared memory's banks take at once, in bytes, and one of them.
_BANKS_BYTES = 128
_BANK_BYTES = 4

# `width` vectors of `width` elements each.
_Square = list[list[ir.Value]]


class TransposeKernel:
    """Emits the body. What it takes and needs can be seen after."""

    def __init__(self, tiles: Tiles, counts: tuple[Size, Size], parameters: Parameters) -> None:
        self.parameters = parameters
        self.shared = SharedMemory()
        self._tiles = tiles
        self._work = tiles.work
        self._tile = Tile(tiles, counts, parameters)
        self._points = TilePoints(tiles, self._tile)

    def emit(self) -> None:
        """Loads everything, passes what lies across through shared memory, computes and stores.

        Beyond the last row or column threads repeat the last ones' loads, and store nothing.
        """
        tiles, tile = self._tiles, self._tile
        areas = [
            self.shared.area(tiles.row_side * tiles.column_side * element_bytes(operand.element))
            for operand in tiles.across
        ]
        for operand in self._work.outputs:
            tile.start(operand)
        squares = [self._load_squares(operand) for operand in tiles.across]
        vectors = [tile.vector(number) for number in range(tiles.rounds * tiles.width)]
        loaded = [self._load_direct(vector) for vector in vectors]
        for operand, area, own in zip(tiles.across, areas, squares, strict=True):
            self._put(operand, area, own)
        gpu.barrier()
        for number, values in enumerate(loaded):
            for operand, area in zip(tiles.across, areas, strict=True):
                values[operand.number] = self._get(operand, area, number)
        self._points.prepare(vectors[0])
        parts = list(zip(vectors, loaded, strict=True))
        if tile.is_always_whole:
            self._compute_all(parts)
            return
        choice = scf.IfOp(tile.is_whole, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            self._compute_all(parts)
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            for vector, values in parts:
                inside = scf.IfOp(tile.has(vector))
                with ir.InsertionPoint(inside.then_block):
                    self._compute(vector, values)
                    scf.YieldOp([])
            scf.YieldOp([])

    # Loads.

    def _load_squares(self, operand: Operand) -> list[_Square]:
        """The thread's squares of a transposed operand, as vectors along the column."""
        tile, width = self._tile, self._tiles.width
        squares: list[_Square] = []
        for number in range(self._tiles.rounds):
            where = tile.address(operand, tile.clamped(tile.square(number), width))
            rows = [tile.along_row(where, operand, row) for row in range(width)]
            policy = read_policy(self._work, operand, self.parameters)
            bytes_ = self._alignment(operand)
            squares.append([load(row, operand.element, width, bytes_, policy) for row in rows])
        return squares

    def _load_direct(self, vector: Spot) -> Loaded:
        """The elements of the operands that need no turning, at one of the thread's vectors."""
        spot = self._tile.clamped(vector, 1)
        return {operand.number: self._load_vector(operand, spot) for operand in self._points.direct}

    def _load_vector(self, operand: Operand, spot: Spot) -> list[ir.Value]:
        tile, width = self._tile, self._tiles.width
        where = tile.address(operand, spot)
        stride = self._tiles.row.stride_of(self._work, operand.number)
        if stride == ZERO:
            return load(where, operand.element, 1, 1)
        if stride == ONE:
            policy = read_policy(self._work, operand, self.parameters)
            return load(where, operand.element, width, self._alignment(operand), policy)
        places = [tile.along_row(where, operand, element) for element in range(width)]
        return [load(place, operand.element, 1, 1)[0] for place in places]

    # Shared memory: vectors along the row, `row_units` of them for each column.

    def _put(self, operand: Operand, area: ir.Value, squares: list[_Square]) -> None:
        """Stores squares, turned."""
        tiles, width = self._tiles, self._tiles.width
        for number, square in enumerate(squares):
            column, row = self._tile.split(number, tiles.column_units)
            unit = arith.xori(row, self._swizzle(operand, column))
            start = arith.addi(times(column, width * tiles.row_units), unit)
            for element in range(width):
                index = times(plus(start, element * tiles.row_units), width)
                values = [vector[element] for vector in square]
                where = address(area, operand.element, index)
                store(where, operand.element, values, self._alignment(operand))

    def _get(self, operand: Operand, area: ir.Value, number: int) -> list[ir.Value]:
        """The elements of a transposed operand at the thread's vector of a number."""
        tiles, width = self._tiles, self._tiles.width
        row, column = self._tile.split(number, tiles.row_units)
        unit_column = arith.shrui(column, i32_constant(width.bit_length() - 1))
        unit = arith.xori(row, self._swizzle(operand, unit_column))
        index = times(arith.addi(times(column, tiles.row_units), unit), width)
        where = address(area, operand.element, index)
        return load(where, operand.element, width, self._alignment(operand))

    def _swizzle(self, operand: Operand, unit_column: ir.Value) -> ir.Value:
        """Returns what vectors' places in the row are changed by, exclusive or.

        It takes vectors that neighbouring threads write, one above the other, to different banks.
        """
        tiles = self._tiles
        unit = element_bytes(operand.element) * tiles.width
        in_banks = min(max(_BANKS_BYTES // unit, 1), tiles.row_units)
        step = max(_BANK_BYTES // unit, in_banks // tiles.column_units, 1)
        return arith.andi(times(unit_column, step), i32_constant(in_banks - 1))

    # Computing.

    def _compute_all(self, parts: list[tuple[Spot, Loaded]]) -> None:
        for vector, values in parts:
            self._compute(vector, values)

    def _compute(self, vector: Spot, values: Loaded) -> None:
        """Computes and stores a vector of each output."""
        results = self._points.results(vector, values, self._tiles.width)
        for operand, elements in zip(self._work.outputs, results, strict=True):
            where = self._tile.address(operand, vector)
            store(where, operand.element, elements, self._alignment(operand))

    def _alignment(self, operand: Operand) -> int:
        return min(ACCESS_BYTES, self._tiles.width * element_bytes(operand.element))
