"""Vectors of one row that a thread takes at once, and the region's values at their elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.mlir import arith, ir
from ...rewriting import constant, index_constant
from ..conditional_load import load_if
from ..elements import address, forgotten
from ..region import Point, Region
from ..region_operations import cloned
from ..size import ZERO
from ..work import Operand
from .access import RowAccess
from .needs import needed_arguments
from .space import RowSpace


class RowVectors:
    """The vectors of the given numbers, of `width` elements each.

    `inside` says of each whether it is one of the row's; None where it certainly is. Of one that is
    not nothing is loaded, and the numbers of columns are those of `near`. `start` is the column at
    which vector 0 begins. Where it is known how many vectors they are `apart` from the first one,
    addresses are computed of that alone, and before it is asked which ones are of the row.
    """

    def __init__(
        self,
        access: RowAccess,
        numbers: Sequence[ir.Value],
        width: int,
        *,
        inside: Sequence[ir.Value | None] | None = None,
        near: Sequence[ir.Value] | None = None,
        start: ir.Value | None = None,
        apart: Sequence[int] | None = None,
    ) -> None:
        self.access = access
        self.width = width
        self.inside: list[ir.Value | None] = list(inside or [None] * len(numbers))
        self._is_guarded = near is not None
        self._places = [_from(start, access.places(number, width)) for number in numbers]
        self._columns = self._places
        if near is not None:
            self._columns = [_from(start, access.places(number, width)) for number in near]
        self._apart = apart
        self._pointers = {} if apart is None else access.pointers(self._places[0])
        self._loaded: list[dict[int, list[ir.Value]]] = [{} for _ in numbers]
        self._points = [
            [self._point(place, element) for element in range(width)]
            for place in range(len(numbers))
        ]

    def __len__(self) -> int:
        return len(self._points)

    def fetch(self, values: Sequence[ir.Value], places: Sequence[int] | None = None) -> None:
        """Loads what values of the region need of operands with elements along the row.

        For the vectors of some places, or for all.
        """
        for operand in operands_of(self.access.space, self.access.region, values):
            self._fetch(operand, range(len(self)) if places is None else places)

    def value(self, vector: int, element: int, value: ir.Value) -> ir.Value:
        """A value of the region at an element of a vector."""
        return self._points[vector][element].value(value)

    def check(self, op: ir.Operation) -> None:
        """Emits an assertion of the region at each element that is one of the row's."""
        for inside, points in zip(self.inside, self._points, strict=True):
            for point in points:
                if inside is None:
                    point.check(op)
                    continue
                beyond = arith.xori(inside, constant(inside.type, -1))
                holds = op.operands[0]
                cloned(op, {holds: arith.ori(point.value(holds), beyond)})

    def column(self, vector: int, element: int, loops: Sequence[int]) -> ir.Value:
        """The number of an element among the iterations of the operation's `loops`; of one beyond
        the row any.
        """
        space, places = self.access.space, self._places[vector]
        if len(space.columns) == 1 and list(space.inner.parts) == list(loops):
            return arith.addi(places[-1], index_constant(element)) if element else places[-1]
        number = index_constant(0)
        for loop in loops:
            extent = self.access.region.parameters.size(space.work.extents[loop])
            index = self.access.index(loop, places, element)
            number = arith.addi(arith.muli(number, extent), index)
        return number

    def folded(
        self,
        vector: int,
        value: ir.Value,
        combine: Callable[[ir.Value, ir.Value], ir.Value],
        neutral: ir.Value,
    ) -> ir.Value:
        """A vector's elements combined, `neutral` where it lies beyond the row."""
        values = [self.value(vector, element, value) for element in range(self.width)]
        return self.masked(vector, tree(values, combine), neutral)

    def masked(self, vector: int, value: ir.Value, neutral: ir.Value) -> ir.Value:
        """`neutral` in place of the value of a vector beyond the row."""
        inside = self.inside[vector]
        return value if inside is None else arith.select(inside, value, neutral)

    def forget(self) -> None:
        """Forgets what was computed of elements of 16 bits, which take half the registers."""
        for place, loaded in enumerate(self._loaded):
            halves = [number for number, values in loaded.items() if _are_halves(values)]
            loaded.update({number: forgotten(loaded[number]) for number in halves})
            if halves:
                points = [self._point(place, element) for element in range(self.width)]
                self._points[place] = points

    def store(self, operand: Operand, vector: int, values: Sequence[ir.Value]) -> None:
        """Writes the elements of a vector, whether or not it lies beyond the row."""
        where = self._where(operand, vector)
        self.access.store(operand, self._places[vector], values, where)

    def _where(self, operand: Operand, vector: int) -> ir.Value | None:
        """Returns the address of a vector's first element; None where it is to be computed."""
        pointer = self._pointers.get(operand.number)
        if pointer is None or self._apart is None:
            return None
        elements = index_constant(self._apart[vector] * self.width)
        return address(pointer, operand.element, elements)

    def _point(self, vector: int, element: int) -> Point:
        access = self.access

        def load(number: int) -> ir.Value:
            if number not in self._loaded[vector]:
                operands = access.space.work.operands
                self._fetch(next(each for each in operands if each.number == number), [vector])
            found = self._loaded[vector][number]
            return found[element] if len(found) > 1 else found[0]

        def index(number: int) -> ir.Value:
            return access.index(number, self._columns[vector], element)

        return Point(access.region, access.space.varying, load, index, access.point)

    def _fetch(self, operand: Operand, places: Sequence[int]) -> None:
        for place in places:
            loaded = self._loaded[place]
            if operand.number not in loaded:
                loaded[operand.number] = self._load(operand, place)

    def _load(self, operand: Operand, place: int) -> list[ir.Value]:
        is_there, places = self.inside[place], self._places[place]

        def read() -> list[ir.Value]:
            return self.access.load(operand, places, self.width, self._where(operand, place))

        if is_there is None or not self._is_guarded:
            return read()
        is_same = self.access.space.stride(operand, self.access.space.inner) == ZERO
        none = constant(operand.element, 0)
        return load_if(is_there, [none] * (1 if is_same else self.width), read)


def _are_halves(values: Sequence[ir.Value]) -> bool:
    kind = values[0].type
    return len(values) > 1 and isinstance(kind, ir.FloatType) and kind.width == 16


def _from(start: ir.Value | None, places: list[ir.Value]) -> list[ir.Value]:
    return places if start is None else [*places[:-1], arith.addi(places[-1], start)]


def tree(values: Sequence[ir.Value], combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """All values combined, neighbours first."""
    rest = list(values)
    while len(rest) > 1:
        pairs = [combine(rest[place], rest[place + 1]) for place in range(0, len(rest) - 1, 2)]
        rest = pairs + rest[len(pairs) * 2 :]
    return rest[0]


def operands_of(space: RowSpace, region: Region, values: Sequence[ir.Value]) -> list[Operand]:
    """The inputs with elements along a row that values need, given what is reduced before."""
    numbers = needed_arguments(region, values)
    return [each for each in space.along if each.number in numbers]
