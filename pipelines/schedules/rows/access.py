"""The elements of one row in a kernel: where they lie, loads, stores, and the loops' indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..cache_priority import read_policy
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..region import Point, Region
from ..size import ZERO
from ..space import Loop, part_index
from ..split_number import split_number
from ..work import Operand
from .shifted_load import load_shifted
from .space import RowSpace


class RowAccess:
    """One row, by its number. `point` gives what the region has that is uniform along the row.

    Vectors of operands whose numbers are in `scattered` are no single accesses: inputs are read in
    aligned pieces where those can be shifted into place, others element by element. Where the grid
    `is_tall`, the row's number may have more than 32 bits.
    """

    def __init__(
        self,
        space: RowSpace,
        region: Region,
        row: ir.Value,
        scattered: frozenset[int] = frozenset(),
        *,
        is_tall: bool = False,
    ) -> None:
        self.space = space
        self._scattered = scattered
        self._shifts: dict[int, ir.Value] = {}
        self.region = region
        self._parameters = region.parameters
        places: list[ir.Value] = []
        if space.rows:
            places = split_number(row, space.rows, self._parameters, is_narrow=not is_tall)
        self._row = places
        self._bases = {
            operand.number: self._moved(
                self._parameters.size(operand.offset), operand, space.rows, places
            )
            for operand in space.work.operands
            if space.is_used(operand)
        }
        self._operands = {operand.number: operand for operand in space.work.operands}
        self._areas: Mapping[int, ir.Value] = {}
        self.point = Point(region, frozenset(), self._load_uniform, self._row_index)

    def stage(self, areas: Mapping[int, ir.Value], row: ir.Value) -> None:
        """Says that operands' rows are in areas of shared memory, this one so many rows behind the
        first.
        """
        self._areas = areas
        start = arith.muli(row, self._parameters.size(self.space.length))
        self._bases.update(dict.fromkeys(areas, start))

    def fork(self) -> RowAccess:
        """The same row in a branch: what is computed there is not known outside of it."""
        made = copy(self)
        made.point = self.point.fork()
        return made

    def moved(self, columns: Sequence[ir.Value]) -> RowAccess:
        """The same row, whose elements are given by how far they lie behind those columns."""
        made = copy(self)
        made._bases = {
            number: self._moved(base, self._operands[number], self.space.columns, columns)
            for number, base in self._bases.items()
        }
        return made

    def places(self, vector: ir.Value, width: int) -> list[ir.Value]:
        """The index in each column loop of the first element of a vector."""
        columns = self.space.columns
        places = split_number(vector, columns, self._parameters, width)
        if width > 1:
            places[-1] = arith.muli(places[-1], index_constant(width))
        return places

    def pointers(self, places: Sequence[ir.Value]) -> dict[int, ir.Value]:
        """Returns where the vector at these places begins, for operands with neighbours along it,
        by their numbers; none where columns are of several loops.
        """
        space = self.space
        if len(space.columns) > 1:
            return {}
        contiguous = filter(space.is_contiguous, space.along)
        return {operand.number: self._address(operand, places) for operand in contiguous}

    def load(
        self,
        operand: Operand,
        places: Sequence[ir.Value],
        width: int,
        where: ir.Value | None = None,
        *,
        is_far: bool = False,
    ) -> list[ir.Value]:
        """A vector's elements, which are at `where`; one where they are all the same.

        One that `is_far` from the row's end can be read in pieces.
        """
        stride = self.space.stride(operand, self.space.inner)
        where = self._address(operand, places) if where is None else where
        if stride == ZERO:
            return load(where, operand.element, 1, 1)
        if self._is_whole(operand) or width == 1:
            policy: ir.Value | None = None
            if operand.number not in self._areas:
                policy = read_policy(self.space.work, operand, self._parameters)
            return load(where, operand.element, width, _alignment(operand, width), policy)
        if operand.number in self._shifts:
            if is_far:
                shift = self._shifts[operand.number]
                return load_shifted(where, operand.element, width, shift)
            return self._load_shifted(operand, places, width, where)
        values: list[ir.Value] = []
        for element in range(width):
            each = [*places[:-1], arith.addi(places[-1], index_constant(element))]
            values += load(self._address(operand, each), operand.element, 1, 1)
        return values

    def store(
        self,
        operand: Operand,
        places: Sequence[ir.Value],
        values: Sequence[ir.Value],
        where: ir.Value | None = None,
    ) -> None:
        """Writes a vector's elements, or the one that a row has."""
        if len(values) == 1 or self._is_whole(operand):
            where = self._address(operand, places) if where is None else where
            store(where, operand.element, values, _alignment(operand, len(values)))
            return
        for element, value in enumerate(values):
            each = [*places[:-1], arith.addi(places[-1], index_constant(element))]
            store(self._address(operand, each), operand.element, [value], 1)

    def index(self, number: int, places: Sequence[ir.Value], element: int) -> ir.Value:
        """The index of one of the operation's own loops, `element` past the first of a vector."""
        columns = self.space.columns
        for loop, at in zip(columns, places, strict=True):
            if number in loop.parts:
                if loop is columns[-1] and element:
                    at = arith.addi(at, index_constant(element))
                return part_index(self.space.work, loop, at, number, self._parameters)
        return self._row_index(number)

    def misalignment(self, operand: Operand, places: Sequence[ir.Value] = ()) -> ir.Value:
        """The bytes by which an element, the row's first, lies past an aligned address."""
        where = self._address(operand, places)
        i64 = ir.IntegerType.get_signless(64)
        bits = ir.Operation.create("llvm.ptrtoint", results=[i64], operands=[where]).results[0]
        index = arith.index_cast(ir.IndexType.get(), bits)
        return arith.andi(index, index_constant(ACCESS_BYTES - 1))

    def begin_vectors(self, start: ir.Value) -> None:
        """Says at which column vectors begin, so that scattered ones can be loaded in pieces."""
        for operand in self.space.along:
            number, is_input = operand.number, not operand.is_output
            is_contiguous = self.space.is_contiguous(operand)
            if number in self._scattered and is_input and is_contiguous and _has_words(operand):
                self._shifts[number] = self.misalignment(operand, [start])

    def _load_shifted(
        self, operand: Operand, places: Sequence[ir.Value], width: int, where: ir.Value
    ) -> list[ir.Value]:
        """A vector in aligned pieces, where those lie within the row."""
        size = element_bytes(operand.element)
        bytes_ = arith.muli(places[-1], index_constant(size))
        end = arith.addi(
            arith.subi(bytes_, self._shifts[operand.number]),
            index_constant(width * size + ACCESS_BYTES),
        )
        length = self._parameters.size(self.space.length)
        most = arith.muli(length, index_constant(size))
        is_safe = arith.cmpi(arith.CmpIPredicate.ule, end, most)
        shift = self._shifts[operand.number]
        return load_shifted(where, operand.element, width, shift, is_safe)

    def _is_whole(self, operand: Operand) -> bool:
        """Returns whether one access takes a vector."""
        return self.space.is_contiguous(operand) and operand.number not in self._scattered

    def _load_uniform(self, number: int) -> ir.Value:
        operand = self._operands[number]
        return load(self._address(operand, []), operand.element, 1, 1)[0]

    def _row_index(self, number: int) -> ir.Value:
        for loop, at in zip(self.space.rows, self._row, strict=True):
            if number in loop.parts:
                return part_index(self.space.work, loop, at, number, self._parameters)
        return index_constant(0)

    def _address(self, operand: Operand, places: Sequence[ir.Value]) -> ir.Value:
        pointer = self._areas.get(operand.number)
        if pointer is None:
            pointer = self._parameters.pointer(operand.buffer)
        pointer = address(pointer, operand.element, self._bases[operand.number])
        index = self._moved(index_constant(0), operand, self.space.columns, places)
        return address(pointer, operand.element, index)

    def _moved(
        self, index: ir.Value, operand: Operand, loops: Sequence[Loop], places: Sequence[ir.Value]
    ) -> ir.Value:
        for loop, at in zip(loops, places, strict=False):
            stride = self.space.stride(operand, loop)
            if stride != ZERO:
                index = arith.addi(index, arith.muli(at, self._parameters.size(stride)))
        return index


def _has_words(operand: Operand) -> bool:
    """Returns whether elements can be cut from words."""
    return element_bytes(operand.element) <= 8 and str(operand.element) != "i1"


def _alignment(operand: Operand, width: int) -> int:
    return min(ACCESS_BYTES, width * element_bytes(operand.element))
