"""Vectors of one row that a thread takes at once, and the region's values at their elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.mlir import arith, ir, scf
from ...rewriting import constant, index_constant
from ...walking import defining_operation
from ..conditional_load import finished_branch, load_if
from ..elements import (
    address,
    disguised,
    forgotten,
    words_of,
)
from ..region import Point, Region
from ..region_operations import cloned
from ..size import ZERO
from ..work import COLLECTIVES, Operand
from .access import RowAccess
from .kept_elements import KeptElements, Left, Widening
from .needs import needed_arguments
from .space import RowSpace


class RowVectors:
    """The vectors of the given numbers, of `width` elements each.

    `inside` says of each whether it is one of the row's; None where it certainly is. Of one that is
    not nothing is loaded, and the numbers of columns are those of `near`. `start` is the column at
    which vector 0 begins. Where it is known how many vectors they are `apart` from the first one,
    addresses are computed of that alone, and before it is asked which ones are of the row. With a
    `widening` elements of bf16 are extended by that. One that `skips` vectors computes nothing of
    those beyond the row; what its region has that is uniform must be known then. Those that
    `are_far` from the row's end can be read in pieces.
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
        widening: Widening | None = None,
        skips: bool = False,
        are_far: bool = False,
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
        self._widening, self._skips, self._are_far = widening, skips, are_far
        self._points = [
            [self._point(place, element) for element in range(width)]
            for place in range(len(numbers))
        ]

    def __len__(self) -> int:
        return len(self._points)

    @property
    def are_there(self) -> bool:
        """Whether all are certainly the row's."""
        return all(inside is None for inside in self.inside)

    def fetch(self, values: Sequence[ir.Value], places: Sequence[int] | None = None) -> None:
        """Loads what values of the region need of operands with elements along the row.

        For the vectors of some places, or for all.
        """
        for operand in operands_of(self.access.space, self.access.region, values):
            self._fetch(operand, range(len(self)) if places is None else places)

    def pin(self) -> None:
        """Keeps the loads so far where they are, before a loop."""
        for loaded in self._loaded:
            loaded.update({number: list(map(disguised, each)) for number, each in loaded.items()})

    def value(self, vector: int, element: int, value: ir.Value) -> ir.Value:
        """A value of the region at an element of a vector."""
        return self._points[vector][element].value(value)

    def know(self, vector: int, element: int, value: ir.Value, found: ir.Value) -> None:
        """Makes a value of the region known at an element of a vector."""
        self._points[vector][element].known[value] = found

    def left(
        self, values: Sequence[ir.Value], known: Sequence[ir.Value], *, as_loaded: bool = False
    ) -> tuple[list[Left], list[ir.Value]]:
        """What there is of elements and values of the region need, as values that a branch gives.

        Values that are `known` are not asked for. Others are computed anew if elements are to stay
        `as_loaded`.
        """
        region, varying = self.access.region, self.access.space.varying
        left: list[Left] = []
        for vector, points in enumerate(self._points):
            waiting, seen = list(values), set[ir.Value](known)
            while waiting:
                value = waiting.pop()
                if value in seen or not region.varies(value) & varying:
                    continue
                seen.add(value)
                number = region.argument_number(value)
                if number is not None:
                    if number in self._loaded[vector]:
                        loaded = self._loaded[vector][number]
                        left.append(Left(vector, number, len(loaded), loaded[0].type))
                    continue
                op = defining_operation(value)
                is_known = value in points[0].known and op.name != "linalg.index"
                if is_known and not as_loaded:
                    left.append(Left(vector, value, self.width, value.type))
                elif op.name not in COLLECTIVES:
                    waiting += region.needs(value)
        return left, self.given(left)

    def given(self, left: Sequence[Left]) -> list[ir.Value]:
        """The values that a branch is to leave."""
        found: list[ir.Value] = []
        for each in left:
            if isinstance(each.what, int):
                loaded = self._loaded[each.vector][each.what]
                found += words_of(loaded) if each.is_in_words else loaded
            else:
                found += [
                    self.value(each.vector, element, each.what) for element in range(each.count)
                ]
        return found

    def resume(self, kept: KeptElements) -> None:
        """Begins with what there is of the elements."""
        widening = self._widening
        assert widening is not None
        self._loaded = [
            {number: left.elements(values, widening) for number, (left, values) in loaded.items()}
            for loaded in kept.loaded
        ]
        for points, own in zip(self._points, kept.known, strict=True):
            for point, known in zip(points, own, strict=True):
                point.known.update(known)
        for place, loaded in enumerate(self._loaded):
            for number in loaded:
                self._widen(place, number)

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

        def emit() -> list[ir.Value]:
            values = [self.value(vector, element, value) for element in range(self.width)]
            return [tree(values, combine)]

        return self.reduced(vector, emit, neutral)[0]

    def reduced(
        self, vector: int, emit: Callable[[], list[ir.Value]], neutral: ir.Value
    ) -> list[ir.Value]:
        """What `emit` gives of a vector: first what its elements are reduced to, `neutral` where it
        lies beyond the row; then values that mean nothing there.
        """
        inside = self.inside[vector]
        if inside is None or not self._skips:
            found, *others = emit()
            return [self.masked(vector, found, neutral), *others]
        before = self._points[vector]
        self._points[vector] = [point.fork() for point in before]
        draft = scf.IfOp(inside)
        with ir.InsertionPoint(draft.then_block):
            found = emit()
        self._points[vector] = before
        others = [constant(value.type, 0) for value in found[1:]]
        return finished_branch(draft, found, [neutral, *others])

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
                self._widen(place, operand.number)

    def _widen(self, place: int, number: int) -> None:
        """Makes what extends elements of bf16 known: each is the upper half of a word."""
        elements = self._loaded[place][number]
        is_bf16 = isinstance(elements[0].type, ir.BF16Type)
        if self._widening is None or not is_bf16 or len(elements) % 2:
            return
        argument = self.access.space.work.block.arguments[number]
        users = [use.owner.operation for use in argument.uses]
        results = [op.results[0] for op in users if op.name == "arith.extf"]
        results = [each for each in results if isinstance(each.type, ir.F32Type)]
        if not results:
            return
        wide = self._widening.floats(words_of(elements))
        for element, value in enumerate(wide):
            for result in results:
                self.know(place, element, result, value)

    def _load(self, operand: Operand, place: int) -> list[ir.Value]:
        is_there, places = self.inside[place], self._places[place]

        def read() -> list[ir.Value]:
            where = self._where(operand, place)
            return self.access.load(operand, places, self.width, where, is_far=self._are_far)

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
