"""The kernel of the transpose schedule: one block computes one tile of the outputs."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, gpu, ir, scf
from ...rewriting import index_constant
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..parameters import Parameters
from ..region import Point, Region
from ..shared import SharedMemory
from ..size import ONE, ZERO, Size
from ..space import part_index
from ..work import Operand
from .tiles import Spot, Tile, Tiles, constant_i32, plus, times

# What shared memory's banks take at once, in bytes, and one of them.
_BANKS_BYTES = 128
_BANK_BYTES = 4

# `width` vectors of `width` elements each.
_Square = list[list[ir.Value]]
# Elements of a vector of each operand by its number, or one that all of the vector's have.
_Loaded = dict[int, list[ir.Value]]


class TransposeKernel:
    """Emits the body. What it takes and needs can be seen after."""

    def __init__(self, tiles: Tiles, counts: tuple[Size, Size], parameters: Parameters) -> None:
        self.parameters = parameters
        self.shared = SharedMemory()
        self._tiles = tiles
        self._work = tiles.work
        self._region = Region(tiles.work, parameters)
        self._in_row = frozenset(tiles.row.parts)
        self._in_others = frozenset(
            part for loop in (tiles.column, *tiles.batch) for part in loop.parts
        )
        self._operands = {operand.number: operand for operand in tiles.work.operands}
        self._direct = [
            operand
            for operand in tiles.work.inputs
            if next(iter(tiles.work.block.arguments[operand.number].uses), None) is not None
            and operand not in tiles.across
        ]
        self._tile = Tile(tiles, counts, parameters)

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
        fixed = self._point(frozenset(), vectors[0], None, {}, 0)
        checked = [value for check in self._region.checks for value in check.operands]
        for value in [*self._region.yielded, *checked]:
            fixed.prepare(value, self._in_row | self._in_others)
        parts = list(zip(vectors, loaded, strict=True))
        if tile.is_always_whole:
            self._compute_all(parts, fixed)
            return
        choice = scf.IfOp(tile.is_whole, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            self._compute_all(parts, fixed)
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            for vector, values in parts:
                inside = scf.IfOp(tile.has(vector))
                with ir.InsertionPoint(inside.then_block):
                    self._compute(vector, fixed, values)
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
            squares.append(
                [load(row, operand.element, width, self._alignment(operand)) for row in rows]
            )
        return squares

    def _load_direct(self, vector: Spot) -> _Loaded:
        """The elements of the operands that need no turning, at one of the thread's vectors."""
        spot = self._tile.clamped(vector, 1)
        return {operand.number: self._load_vector(operand, spot) for operand in self._direct}

    def _load_vector(self, operand: Operand, spot: Spot) -> list[ir.Value]:
        tile, width = self._tile, self._tiles.width
        where = tile.address(operand, spot)
        stride = self._tiles.row.stride_of(self._work, operand.number)
        if stride == ZERO:
            return load(where, operand.element, 1, 1)
        if stride == ONE:
            return load(where, operand.element, width, self._alignment(operand))
        places = [tile.along_row(where, operand, element) for element in range(width)]
        return [load(place, operand.element, 1, 1)[0] for place in places]

    def _load_fixed(self, operand: Operand) -> ir.Value:
        """An element that no loop moves."""
        where = self.parameters.pointer(operand.buffer)
        index = self.parameters.size(operand.offset)
        return load(address(where, operand.element, index), operand.element, 1, 1)[0]

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
        unit_column = arith.shrui(column, constant_i32(width.bit_length() - 1))
        unit = arith.xori(row, self._swizzle(operand, unit_column))
        index = times(arith.addi(times(column, tiles.row_units), unit), width)
        where = address(area, operand.element, index)
        return load(where, operand.element, width, self._alignment(operand))

    def _swizzle(self, operand: Operand, unit_column: ir.Value) -> ir.Value:
        """What vectors' places in the row are changed by, exclusive or.

        It takes vectors that neighbouring threads write, one above the other, to different banks.
        """
        tiles = self._tiles
        unit = element_bytes(operand.element) * tiles.width
        in_banks = min(max(_BANKS_BYTES // unit, 1), tiles.row_units)
        step = max(_BANK_BYTES // unit, in_banks // tiles.column_units, 1)
        return arith.andi(times(unit_column, step), constant_i32(in_banks - 1))

    # Computing.

    def _compute_all(self, parts: list[tuple[Spot, _Loaded]], fixed: Point) -> None:
        for vector, values in parts:
            self._compute(vector, fixed, values)

    def _compute(self, vector: Spot, fixed: Point, values: _Loaded) -> None:
        """Computes and stores a vector of each output."""
        outside = self._point(self._in_others, vector, fixed, values, 0)
        results: list[list[ir.Value]] = []
        for element in range(self._tiles.width):
            point = self._point(self._in_row, vector, outside, values, element)
            for check in self._region.checks:
                point.check(check)
            results.append([point.value(value) for value in self._region.yielded])
        for number, operand in enumerate(self._work.outputs):
            elements = [result[number] for result in results]
            where = self._tile.address(operand, vector)
            store(where, operand.element, elements, self._alignment(operand))

    def _point(
        self,
        varying: frozenset[int],
        vector: Spot,
        outer: Point | None,
        values: _Loaded,
        element: int,
    ) -> Point:
        def pick(number: int) -> ir.Value:
            found = values.get(number)
            if found is None:
                return self._load_fixed(self._operands[number])
            return found[element] if len(found) > 1 else found[0]

        return Point(self._region, varying, pick, self._index_at(vector, element), outer)

    def _index_at(self, vector: Spot, element: int) -> Callable[[int], ir.Value]:
        """Gives the index of one of the operation's own loops."""
        tiles, tile = self._tiles, self._tile

        def index(number: int) -> ir.Value:
            kind = ir.IndexType.get()
            if number in tiles.row.parts:
                at = arith.index_castui(kind, plus(vector.row, element))
                return part_index(
                    self._work, tiles.row, arith.addi(tile.row, at), number, self.parameters
                )
            if number in tiles.column.parts:
                at = arith.addi(tile.column, arith.index_castui(kind, vector.column))
                return part_index(self._work, tiles.column, at, number, self.parameters)
            for loop, at in zip(tiles.batch, tile.batch, strict=True):
                if number in loop.parts:
                    return part_index(self._work, loop, at, number, self.parameters)
            return index_constant(0)

        return index

    def _alignment(self, operand: Operand) -> int:
        return min(ACCESS_BYTES, self._tiles.width * element_bytes(operand.element))
