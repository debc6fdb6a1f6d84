"""A tile of an operand in shared memory, as it lies in memory: in aligned pieces of 16 bytes.

Rows need not be aligned. They are read as the pieces that cover them, and put into shared memory
unshifted: rows there are as far apart as in memory, modulo 16 bytes, so that the element of a row
and a column lies at `shift + row * pitch + column * size` all over the tile.
"""

from __future__ import annotations

from ....dialects.mlir import arith, ir, scf
from ...i32 import i32, i32_constant
from ...rewriting import index_constant
from ..async_copies import copy_async
from ..elements import ACCESS_BYTES, address, elements_of_words, load, store
from ..shared import SharedMemory
from ..work import Operand
from .block_tile import plus, times
from .skewed_tiles import SkewedTile, SkewedTiles, Vector, address_number

_WORD_BYTES = 4
_WORDS = ACCESS_BYTES // _WORD_BYTES


class Pieces:
    """The tile's rows of one operand across, `skew` of them before its first row."""

    def __init__(
        self, tiles: SkewedTiles, tile: SkewedTile, operand: Operand, shared: SharedMemory
    ) -> None:
        self._tiles, self._tile, self._operand = tiles, tile, operand
        parameters, row = tile.parameters, [(tiles.row, index_constant(-tiles.skew))]
        stride = tiles.row.stride_of(tiles.work, operand.number)
        first = tile.moved(tile.start(operand), operand, row)
        self._shift = arith.andi(
            arith.trunci(i32(), address_number(first)), i32_constant(ACCESS_BYTES - 1)
        )
        back = arith.subi(index_constant(0), arith.index_castui(ir.IndexType.get(), self._shift))
        self._first = address(first, _byte(), back)
        bytes_ = arith.muli(parameters.size(stride), index_constant(tiles.element))
        self._stride = arith.index_cast(_i64(), bytes_)
        least = tiles.least_pitch
        rest = arith.andi(arith.trunci(i32(), self._stride), i32_constant(ACCESS_BYTES - 1))
        self._pitch = plus(rest, least)
        if stride.is_known:
            self._pitch = i32_constant(least + stride.known * tiles.element % ACCESS_BYTES)
        self._area = shared.area(tiles.area_bytes)
        self._offsets: list[ir.Value] = []

    # Reading.

    def copy(self) -> None:
        """Starts the thread's copies, of pieces that are all there."""
        count, threads = self._tiles.rows * self._tiles.pieces, self._tiles.threads
        for first in range(0, count, threads):
            number = plus(self._tile.thread, first)
            if first + threads <= count:
                self._copy_piece(number)
                continue
            exists = arith.cmpi(arith.CmpIPredicate.ult, number, i32_constant(count))
            choice = scf.IfOp(exists)
            with ir.InsertionPoint(choice.then_block):
                self._copy_piece(number)
                scf.YieldOp([])

    def copy_guarded(self) -> None:
        """The same of what is there: nothing else is read."""
        tiles, tile, index = self._tiles, self._tile, ir.IndexType.get()
        parameters = tile.parameters
        columns = parameters.size(tiles.column.extent)
        thread = arith.index_castui(index, tile.thread)
        count = index_constant(tiles.rows * tiles.pieces)
        loop = scf.ForOp(thread, count, index_constant(tiles.threads))
        with ir.InsertionPoint(loop.body):
            row, piece = self._split(arith.index_castui(i32(), loop.induction_variable))
            place = arith.index_cast(index, plus(row, -tiles.skew))
            at_row = arith.addi(tile.row, place)
            rows = parameters.size(tiles.row.extent)
            exists = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, at_row, rows))
            with ir.InsertionPoint(exists.then_block):
                start = arith.addi(self._shift, arith.muli(row, self._pitch))
                past = arith.andi(start, i32_constant(ACCESS_BYTES - 1))
                bytes_ = arith.subi(times(piece, ACCESS_BYTES), past)
                size = i32_constant(tiles.element.bit_length() - 1)
                within = arith.index_cast(index, arith.shrsi(bytes_, size))
                first = arith.addi(tile.column, within)
                signed, zero = arith.CmpIPredicate, index_constant(0)
                end = arith.addi(first, index_constant(tiles.width))
                is_whole = arith.andi(
                    arith.cmpi(signed.sge, first, zero), arith.cmpi(signed.sle, end, columns)
                )
                choice = scf.IfOp(is_whole, has_else=True)
                with ir.InsertionPoint(choice.then_block):
                    copy_async(*self._addresses(row, piece))
                    scf.YieldOp([])
                assert choice.else_block is not None
                with ir.InsertionPoint(choice.else_block):
                    self._copy_elements(self._addresses(row, piece)[0], place, first)
                    scf.YieldOp([])
                scf.YieldOp([])
            scf.YieldOp([])

    def _copy_elements(self, to: ir.Value, row: ir.Value, first: ir.Value) -> None:
        """Copies a row's elements from a column on; the nearest one for those that are not."""
        tiles, tile, operand = self._tiles, self._tile, self._operand
        last = arith.subi(tile.parameters.size(tiles.column.extent), index_constant(1))
        values: list[ir.Value] = []
        for element in range(tiles.width):
            column = arith.addi(first, index_constant(element))
            near = arith.minsi(arith.maxsi(column, index_constant(0)), last)
            within = arith.subi(near, tile.column)
            places = [(tiles.row, row), (tiles.column, within)]
            where = tile.moved(tile.start(operand), operand, places)
            values += load(where, operand.element, 1, 1)
        store(to, operand.element, values, ACCESS_BYTES)

    def _copy_piece(self, number: ir.Value) -> None:
        copy_async(*self._addresses(*self._split(number)))

    def _split(self, number: ir.Value) -> tuple[ir.Value, ir.Value]:
        """A piece's row and its place there."""
        row = arith.divui(number, i32_constant(self._tiles.pieces))
        return row, arith.subi(number, times(row, self._tiles.pieces))

    def _addresses(self, row: ir.Value, piece: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Where a piece lies in shared memory, and in memory."""
        place = times(piece, ACCESS_BYTES)
        here = arith.addi(self._shift, arith.muli(row, self._pitch))
        here = arith.addi(arith.andi(here, i32_constant(-ACCESS_BYTES)), place)
        there = arith.muli(arith.extui(_i64(), row), self._stride)
        there = arith.addi(there, arith.extui(_i64(), self._shift))
        there = arith.andi(there, arith.constant(_i64(), -ACCESS_BYTES))
        there = arith.addi(there, arith.extui(_i64(), place))
        return self._shared(here), address(self._first, _byte(), there)

    # What was read. All of it must be there, and the block have met.

    def vector(self, vector: Vector) -> list[ir.Value]:
        """The elements of a vector along the row.

        Each column of a warp's begins with another word of the vector: the words that threads read
        at once then lie in different banks where rows are an odd number of elements.
        """
        tiles = self._tiles
        start = arith.addi(self._thread_start(), self._rows(vector.row_step))
        start = plus(start, vector.column_step * tiles.element)
        start = arith.subi(start, arith.muli(vector.skew, self._pitch))
        in_word = _WORD_BYTES // tiles.element
        words = [
            self._word(arith.addi(start, offset), in_word) for offset in self._word_offsets(in_word)
        ]
        # The word k was read as that of k - turn.
        by_one, by_two = (self._has_turn(bit) for bit in (1, 2))
        for step, is_on in ((1, by_one), (2, by_two)):
            words = [
                arith.select(is_on, words[(place - step) % _WORDS], words[place])
                for place in range(_WORDS)
            ]
        return elements_of_words(words, self._operand.element)

    def element(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """One element; the row counts from the tile's first."""
        place = arith.muli(plus(row, self._tiles.skew), self._pitch)
        place = arith.addi(place, times(column, self._tiles.element))
        where = self._shared(arith.addi(self._shift, place))
        return load(where, self._operand.element, 1, 1)[0]

    def _word(self, where: ir.Value, count: int) -> ir.Value:
        """`count` elements, one below the other, as one word."""
        bits = 8 * self._tiles.element
        part, found = ir.IntegerType.get_signless(bits), None
        for number in range(count):
            at = arith.addi(where, self._rows(number)) if number else where
            value = load(self._shared(at), part, 1, 1)[0]
            if bits < 32:
                value = arith.extui(i32(), value)
            if number:
                value = arith.shli(value, i32_constant(number * bits))
            found = value if found is None else arith.ori(found, value)
        assert found is not None
        return found

    def _word_offsets(self, in_word: int) -> list[ir.Value]:
        """Returns offsets from a vector's start of the words that a thread reads, in order."""
        if not self._offsets:
            turned = [
                arith.andi(plus(self._tile.turn, number), i32_constant(_WORDS - 1))
                for number in range(_WORDS)
            ]
            self._offsets = [arith.muli(times(each, in_word), self._pitch) for each in turned]
        return self._offsets

    def _has_turn(self, bit: int) -> ir.Value:
        kept = arith.andi(self._tile.turn, i32_constant(bit))
        return arith.cmpi(arith.CmpIPredicate.ne, kept, i32_constant(0))

    def _thread_start(self) -> ir.Value:
        """Where the thread's first vector would begin without a skew."""
        row = arith.muli(plus(self._tile.row_0, self._tiles.skew), self._pitch)
        column = times(self._tile.column_0, self._tiles.element)
        return arith.addi(self._shift, arith.addi(row, column))

    def _rows(self, count: int) -> ir.Value:
        """The bytes of so many rows."""
        return arith.muli(i32_constant(count), self._pitch)

    def _shared(self, offset: ir.Value) -> ir.Value:
        return address(self._area, _byte(), offset)


def _byte() -> ir.Type:
    return ir.IntegerType.get_signless(8)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
