"""The kernel of skewed tiles: rows of any length are read and written in aligned accesses."""

from __future__ import annotations

from ....dialects.mlir import arith, gpu, ir, scf
from ...i32 import i32_constant
from ...rewriting import index_constant
from ..async_copies import commit_copies, wait_for_copies
from ..cache_priority import read_policy
from ..elements import ACCESS_BYTES, load, store
from ..parameters import Parameters
from ..shared import SharedMemory
from ..size import ZERO, Size
from ..space import Loop
from ..work import Operand
from .block_tile import Spot
from .pieces import Pieces
from .points import Loaded, TilePoints
from .skewed_tiles import SkewedTile, SkewedTiles, Vector

# Elements of direct operands that a thread of a tile at an edge has under way.
_EDGE_ELEMENTS = 4


class SkewedKernel:
    """Emits the body. What it takes and needs can be seen after."""

    def __init__(
        self, tiles: SkewedTiles, counts: tuple[Size, Size], parameters: Parameters
    ) -> None:
        self.parameters = parameters
        self.shared = SharedMemory()
        self._tiles, self._work = tiles, tiles.work
        self._tile = SkewedTile(tiles, counts, parameters)
        self._points = TilePoints(tiles, self._tile)
        self._pieces = [Pieces(tiles, self._tile, operand, self.shared) for operand in tiles.across]

    def emit(self) -> None:
        """Tiles in the midst go by vectors, those at an edge by single elements."""
        for operand in (*self._points.direct, *self._work.outputs):
            self._tile.start(operand)
        self._points.prepare(Spot(self._tile.row_0, self._tile.column_0))
        choice = scf.IfOp(self._is_inner(), has_else=True)
        with ir.InsertionPoint(choice.then_block):
            self._emit_inner()
            scf.YieldOp([])
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            self._emit_edge()
            scf.YieldOp([])

    def _is_inner(self) -> ir.Value:
        """Returns whether all segments, and all pieces that cover their rows, lie in the operands.

        A piece may begin in the row before, or end in the next one, where rows lie packed.
        """
        tiles, tile, kind = self._tiles, self._tile, arith.CmpIPredicate
        rows = self.parameters.size(tiles.row.extent)
        columns = self.parameters.size(tiles.column.extent)
        below = arith.addi(tile.row, index_constant(tiles.row_side))
        end = arith.addi(tile.column, index_constant(tiles.column_side))
        beyond = arith.addi(end, index_constant(tiles.width))
        zero = index_constant(0)
        is_between = arith.andi(
            arith.cmpi(kind.ne, tile.column, zero), arith.cmpi(kind.ule, beyond, columns)
        )
        wide = index_constant(tiles.column_side + tiles.width)
        has_next = arith.andi(
            arith.cmpi(kind.ult, below, rows), arith.cmpi(kind.uge, columns, wide)
        )
        is_packed = arith.andi(has_next, arith.cmpi(kind.ule, end, columns))
        for operand in tiles.across:
            stride = tiles.row.stride_of(self._work, operand.number)
            if stride != tiles.column.extent:
                same = arith.cmpi(kind.eq, self.parameters.size(stride), columns)
                is_packed = arith.andi(is_packed, same)
        # The rows before that a skewed tile needs are fewer than a tile's.
        in_rows = arith.andi(arith.cmpi(kind.ne, tile.row, zero), arith.cmpi(kind.ule, below, rows))
        return arith.andi(in_rows, arith.ori(is_between, is_packed))

    # Tiles in the midst.

    def _emit_inner(self) -> None:
        for pieces in self._pieces:
            pieces.copy()
        vectors = [self._tile.vector(number) for number in range(self._tiles.rounds)]
        loaded = [
            {operand.number: self._load(operand, vector) for operand in self._points.direct}
            for vector in vectors
        ]
        commit_copies()
        wait_for_copies(0)
        gpu.barrier()
        for vector, values in zip(vectors, loaded, strict=True):
            for operand, pieces in zip(self._tiles.across, self._pieces, strict=True):
                values[operand.number] = pieces.vector(vector)
            spot = Spot(vector.row, vector.column)
            results = self._points.results(spot, values, self._tiles.width)
            for operand, elements in zip(self._work.outputs, results, strict=True):
                store(self._address(operand, vector), operand.element, elements, ACCESS_BYTES)

    def _load(self, operand: Operand, vector: Vector) -> list[ir.Value]:
        """The elements of a direct operand at a vector."""
        where, width = self._address(operand, vector), self._tiles.width
        if self._stride(operand) == ZERO:
            return load(where, operand.element, 1, 1)
        if operand in self._tiles.aligned:
            policy = read_policy(self._work, operand, self.parameters)
            return load(where, operand.element, width, ACCESS_BYTES, policy)
        places = [self._tile.along_row(where, operand, element) for element in range(width)]
        return [load(place, operand.element, 1, 1)[0] for place in places]

    def _address(self, operand: Operand, vector: Vector) -> ir.Value:
        """Where a vector of an operand begins."""
        places = [
            (self._tiles.row, _index(vector.row)),
            (self._tiles.column, _index(self._tile.column_0)),
        ]
        first = self._tile.moved(self._tile.start(operand), operand, places)
        return self._tile.along_column(first, operand, vector.column_step)

    def _stride(self, operand: Operand) -> Size:
        return self._tiles.row.stride_of(self._work, operand.number)

    # Tiles at an edge.

    def _emit_edge(self) -> None:
        tiles = self._tiles
        for pieces in self._pieces:
            pieces.copy_guarded()
        commit_copies()
        wait_for_copies(0)
        gpu.barrier()
        elements = tiles.row_side * tiles.column_side // tiles.threads
        at_once = min(_EDGE_ELEMENTS, elements) if self._points.direct else 1
        zero, step = index_constant(0), index_constant(at_once)
        loop = scf.ForOp(zero, index_constant(elements), step)
        with ir.InsertionPoint(loop.body):
            number = arith.index_castui(i32_constant(0).type, loop.induction_variable)
            spots = [self._spot(number, place) for place in range(at_once)]
            loaded = [self._load_near(spot) for spot in spots]
            for spot, values in zip(spots, loaded, strict=True):
                self._compute_element(spot, values)
            scf.YieldOp([])

    def _spot(self, number: ir.Value, after: int) -> Spot:
        """The element that comes so many after a number of the thread's."""
        tiles, thread = self._tiles, self._tile.thread
        number = arith.addi(number, i32_constant(after)) if after else number
        place = arith.addi(arith.muli(number, i32_constant(tiles.threads)), thread)
        row = arith.andi(place, i32_constant(tiles.row_side - 1))
        column = arith.shrui(place, i32_constant(tiles.row_side.bit_length() - 1))
        return Spot(arith.subi(row, self._tile.skew(column)), column)

    def _load_near(self, spot: Spot) -> Loaded:
        """The elements of the direct operands at a spot, or the nearest ones."""
        tiles, tile = self._tiles, self._tile
        values: Loaded = {}
        for operand in self._points.direct:
            places = [
                (tiles.row, self._near(tiles.row, tile.row, spot.row)),
                (tiles.column, self._near(tiles.column, tile.column, spot.column)),
            ]
            where = tile.moved(tile.start(operand), operand, places)
            values[operand.number] = load(where, operand.element, 1, 1)
        return values

    def _near(self, loop: Loop, first: ir.Value, place: ir.Value) -> ir.Value:
        """The place of an index that exists, from a tile's first one on."""
        last = arith.subi(self.parameters.size(loop.extent), index_constant(1))
        index = arith.addi(first, _index(place))
        near = arith.minsi(arith.maxsi(index, index_constant(0)), last)
        return arith.subi(near, first)

    def _compute_element(self, spot: Spot, values: Loaded) -> None:
        tiles, tile, below = self._tiles, self._tile, arith.CmpIPredicate.ult
        row = arith.addi(tile.row, _index(spot.row))
        column = arith.addi(tile.column, _index(spot.column))
        exists = arith.andi(
            arith.cmpi(below, row, self.parameters.size(tiles.row.extent)),
            arith.cmpi(below, column, self.parameters.size(tiles.column.extent)),
        )
        choice = scf.IfOp(exists)
        with ir.InsertionPoint(choice.then_block):
            for operand, pieces in zip(tiles.across, self._pieces, strict=True):
                values[operand.number] = [pieces.element(spot.row, spot.column)]
            results = self._points.results(spot, values, 1)
            places = [(tiles.row, _index(spot.row)), (tiles.column, _index(spot.column))]
            for operand, elements in zip(self._work.outputs, results, strict=True):
                where = tile.moved(tile.start(operand), operand, places)
                store(where, operand.element, elements, 1)
            scf.YieldOp([])


def _index(value: ir.Value) -> ir.Value:
    """A number that may be negative as an index."""
    return arith.index_cast(ir.IndexType.get(), value)
