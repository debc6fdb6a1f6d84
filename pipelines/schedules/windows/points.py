"""The elements that a thread's windows cover: which they are, their loads, and the region there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product as each_of

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ...walking import defining_operation, is_used
from ..conditional_load import load_if
from ..contraction.form import Guard, read_padded
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ONE, ZERO, Size
from ..space import Loop, part_index
from ..work import Operand, Work

# The row and the column of a result in a tile.
Element = tuple[int, int]
# How far an element lies from the tile's first one: open sizes and how often each, in order of the
# sizes, and so many elements.
_Sizes = tuple[tuple[tuple[int, ...], int], ...]
_Distance = tuple[_Sizes, int]


@dataclass(frozen=True)
class Tile:
    """The results of a thread: `width` along the last loop, in `rows` along the one before."""

    work: Work
    loops: tuple[Loop, ...]
    width: int
    rows: int
    padded: tuple[PaddedRead, ...] = ()

    @property
    def counts(self) -> list[int]:
        """How many results along each loop."""
        counts = [1] * len(self.loops)
        counts[-1] = self.width
        if len(counts) > 1:
            counts[-2] = self.rows
        return counts

    @property
    def row(self) -> Tile:
        """The same with one row alone."""
        return replace(self, rows=1)

    @property
    def elements(self) -> list[Element]:
        return list(each_of(range(self.rows), range(self.width)))

    def is_read(self, operand: Operand) -> bool:
        if operand.number < 0:
            return True
        argument = self.work.block.arguments[operand.number]
        return is_used(argument)

    def is_wide(self, operand: Operand) -> bool:
        """Returns whether elements of a tile or its windows are neighbours in memory."""
        inner = self.loops[-1].stride_of(self.work, operand.number)
        near = [operand.strides[loop] for loop in self.work.collective]
        return ONE in (inner, *near)

    def steps(self, operand: Operand) -> list[Size]:
        """Returns what the places of an operand's accesses differ by, of all tiles.

        Multiples of the width, where vectors of that many elements are to be aligned.
        """
        work = self.work
        strides = [loop.stride_of(work, operand.number) for loop in self.loops]
        steps = [stride * Size(count) for stride, count in zip(strides, self.counts, strict=True)]
        within = [*strides[-2:], *(operand.strides[loop] for loop in work.collective)]
        if len(strides) > 1:
            steps.append(strides[-2])  # Rows that are taken one by one.
        return [*steps, *(stride for stride in within if not stride.is_known)]


@dataclass(frozen=True, eq=False)
class PaddedRead:
    """A read of a padded tensor in the region: `operand` stands for it, with a number below 0.

    The first iteration's element lies behind the operand's first, by the sum of `offsets`.
    """

    result: ir.Value
    operand: Operand
    offsets: tuple[Size, ...]
    guards: tuple[Guard, ...]
    padding: ir.Value


def read_padding(work: Work) -> tuple[Work, tuple[PaddedRead, ...]]:
    """The work with an operand for each padded tensor that it reads.

    Without any where it reads something else under conditions, which stay as they are.
    """
    found: list[PaddedRead] = []
    for op in [each.operation for each in work.block]:
        if not len(op.regions):
            continue
        read = read_padded(work, op)
        if read is None:
            return work, ()
        factor, number = read.factor, -1 - len(found)
        is_output, is_assumed = False, read.is_assumed
        operand = Operand(
            number, factor.buffer, factor.element, factor.strides, ZERO, is_output, is_assumed
        )
        found.append(PaddedRead(op.results[0], operand, read.offsets, factor.guards, read.padding))
    operands = (*work.operands, *(each.operand for each in found))
    return replace(work, operands=operands), tuple(found)


class WindowPoints:
    """The region at the elements of a tile's windows, in code; each operand's are loaded at once.

    `place` is where the tile begins, an index for each loop. Elements of padded tensors may not be
    there where the tile `is_guarded`.
    """

    def __init__(
        self,
        tile: Tile,
        place: Sequence[ir.Value],
        parameters: Parameters,
        *,
        is_guarded: bool = False,
        loads: bool = True,
    ) -> None:
        self._tile = tile
        self._is_guarded = is_guarded
        self._place = list(place)
        self._parameters = parameters
        self.region = Region(tile.work, parameters)
        iterations: list[tuple[int, ...]] = list(
            each_of(*(range(tile.work.extents[loop].known) for loop in tile.work.collective))
        )
        self._bases: dict[Guard, ir.Value] = {}
        self._padded: dict[tuple[int, _Distance, tuple[int, ...]], ir.Value] = {}
        self._loaded: dict[int, dict[_Distance, ir.Value]] = {}
        if is_guarded:
            self._load_padded(iterations)
        for operand in tile.work.inputs if loads else []:
            if tile.is_read(operand) and not (is_guarded and operand.number < 0):
                wanted = {
                    self._distance(operand, element, iteration)
                    for element in tile.elements
                    for iteration in iterations
                }
                self._loaded[operand.number] = self._load(operand, wanted)

    def at(self, element: Element, iteration: tuple[int, ...] | None) -> Point:
        """The region at one iteration of a result's window, or past them all."""
        operands = {operand.number: operand for operand in self._tile.work.operands}
        first = iteration or (0,) * len(self._tile.work.collective)

        def value(number: int) -> ir.Value:
            return self._loaded[number][self._distance(operands[number], element, first)]

        point = Point(
            self.region,
            frozenset(range(len(self._tile.work.extents))),
            value,
            lambda number: self._index(number, element, first),
        )
        for read in self._tile.padded:
            if iteration is None:
                break
            if self._is_guarded:
                point.known[read.result] = self._padded[self._key(read, element, first)]
            else:
                point.known[read.result] = value(read.operand.number)
        return point

    @staticmethod
    def inside(tile: Tile, place: Sequence[ir.Value], parameters: Parameters) -> ir.Value:
        """Returns whether no window of a tile reaches into the padding of what it reads."""
        found = WindowPoints(tile, place, parameters, loads=False)._is_inside()
        assert found is not None
        return found

    def _is_inside(self) -> ir.Value | None:
        tile = self._tile
        result: ir.Value | None = None
        below = arith.CmpIPredicate.ult
        iterations = [range(tile.work.extents[loop].known) for loop in tile.work.collective]
        corners = [(each[0], each[-1]) for each in iterations]
        for read in tile.padded:
            for guard in read.guards:
                moved = [
                    self._moved(guard, element, iteration)
                    for element in each_of((0, tile.rows - 1), (0, tile.width - 1))
                    for iteration in each_of(*corners)
                ]
                for most in (min(moved), max(moved)):
                    at = self._tested(guard, most)
                    holds = arith.cmpi(below, at, self._parameters.size(guard.bound))
                    result = holds if result is None else arith.andi(result, holds)
        return result

    def _load_padded(self, iterations: Sequence[tuple[int, ...]]) -> None:
        """Loads each element of padded tensors where it is there."""
        below = arith.CmpIPredicate.ult
        tests: dict[tuple[Guard, int], ir.Value] = {}
        for read in self._tile.padded:
            padding = defining_operation(read.padding).clone().results[0]
            for element, iteration in each_of(self._tile.elements, iterations):
                key = self._key(read, element, iteration)
                if key in self._padded:
                    continue
                holds: ir.Value | None = None
                for guard, moved in zip(read.guards, key[2], strict=True):
                    if (guard, moved) not in tests:
                        size = self._parameters.size(guard.bound)
                        tests[guard, moved] = arith.cmpi(below, self._tested(guard, moved), size)
                    test = tests[guard, moved]
                    holds = test if holds is None else arith.andi(holds, test)
                assert holds is not None
                emit = partial(self._load_one, read.operand, key[1])
                (self._padded[key],) = load_if(holds, [padding], emit)

    def _load_one(self, operand: Operand, distance: _Distance) -> list[ir.Value]:
        where = self._address(operand, *distance, {})
        return load(where, operand.element, 1, element_bytes(operand.element))

    def _key(
        self, read: PaddedRead, element: Element, iteration: tuple[int, ...]
    ) -> tuple[int, _Distance, tuple[int, ...]]:
        """Returns what tells an element of a padded tensor from others."""
        moved = tuple(self._moved(guard, element, iteration) for guard in read.guards)
        return read.operand.number, self._distance(read.operand, element, iteration), moved

    def _moved(self, guard: Guard, element: Element, iteration: tuple[int, ...]) -> int:
        """Returns how far what a guard tests is from the tile's."""
        work, loops = self._tile.work, self._tile.loops
        steps = list(zip(work.collective, iteration, strict=True))
        # Loops that guards depend on are not made into one with others.
        steps += [(loops[-1].parts[-1], element[1])]
        if len(loops) > 1:
            steps += [(loops[-2].parts[-1], element[0])]
        return sum(guard.factors.get(loop, 0) * by for loop, by in steps)

    def _tested(self, guard: Guard, moved: int) -> ir.Value:
        """The number that a guard tests, so far from the tile's."""
        if guard not in self._bases:
            none = (0,) * len(self._tile.work.collective)
            base = index_constant(guard.constant)
            for loop, factor in guard.factors.items():
                if loop not in self._tile.work.collective:
                    at = self._index(loop, (0, 0), none)
                    base = arith.addi(base, arith.muli(at, index_constant(factor)))
            self._bases[guard] = base
        return arith.addi(self._bases[guard], index_constant(moved))

    def store(self, operand: Operand, values: Mapping[Element, ir.Value]) -> None:
        """Writes a tile's results."""
        first = (0,) * len(self._tile.work.collective)
        found = {self._distance(operand, each, first): value for each, value in values.items()}
        rows: dict[_Sizes, ir.Value] = {}
        for rest, start, count in self._accesses(operand, set(found)):
            elements = [found[rest, start + number] for number in range(count)]
            where = self._address(operand, rest, start, rows)
            store(where, operand.element, elements, count * element_bytes(operand.element))

    def _load(self, operand: Operand, wanted: set[_Distance]) -> dict[_Distance, ir.Value]:
        found: dict[_Distance, ir.Value] = {}
        rows: dict[_Sizes, ir.Value] = {}
        for rest, start, count in self._accesses(operand, wanted):
            where = self._address(operand, rest, start, rows)
            size = count * element_bytes(operand.element)
            for number, value in enumerate(load(where, operand.element, count, size)):
                found[rest, start + number] = value
        return found

    def _accesses(self, operand: Operand, wanted: set[_Distance]) -> list[tuple[_Sizes, int, int]]:
        """Aligned runs of neighbouring elements, of a power of two, that are all wanted."""
        widest = self._tile.width if self._tile.is_wide(operand) else 1
        widest = min(widest, ACCESS_BYTES // element_bytes(operand.element))
        accesses: list[tuple[_Sizes, int, int]] = []
        left = sorted(wanted)
        while left:
            rest, start = left[0]
            count = widest
            while start % count or any((rest, start + each) not in wanted for each in range(count)):
                count //= 2
            accesses.append((rest, start, count))
            taken = {(rest, start + each) for each in range(count)}
            left = [each for each in left if each not in taken]
        return accesses

    def _distance(
        self, operand: Operand, element: Element, iteration: tuple[int, ...]
    ) -> _Distance:
        work, loops = self._tile.work, self._tile.loops
        steps = [(element[1], loops[-1].stride_of(work, operand.number))]
        if len(loops) > 1:
            steps.append((element[0], loops[-2].stride_of(work, operand.number)))
        steps += [
            (at, operand.strides[loop]) for loop, at in zip(work.collective, iteration, strict=True)
        ]
        for read in self._tile.padded:
            if read.operand.number == operand.number:
                steps += [(1, offset) for offset in read.offsets]
        found: dict[tuple[int, ...], int] = {}
        for count, stride in steps:
            found[stride.open] = found.get(stride.open, 0) + count * stride.known
        near = found.pop((), 0)
        return tuple(sorted(each for each in found.items() if each[1])), near

    def _address(
        self, operand: Operand, rest: _Sizes, near: int, rows: dict[_Sizes, ir.Value]
    ) -> ir.Value:
        """Where an element lies, from where others of the operand's `rows` begin on, if they do."""
        if rest not in rows:
            rows[rest] = self._row(operand, rest, rows)
        where = rows[rest]
        return address(where, operand.element, index_constant(near)) if near else where

    def _row(self, operand: Operand, rest: _Sizes, rows: Mapping[_Sizes, ir.Value]) -> ir.Value:
        for before, where in reversed(list(rows.items())):
            step = _step(before, rest)
            if step is not None:
                return address(where, operand.element, self._parameters.size(step))
        strides = [loop.stride_of(self._tile.work, operand.number) for loop in self._tile.loops]
        steps = list(zip(self._place, strides, strict=True))
        index = self._parameters.place(operand.offset, steps)
        for open_, known in rest:
            index = arith.addi(index, self._parameters.size(Size(known, open_)))
        return address(self._parameters.pointer(operand.buffer), operand.element, index)

    def _index(self, number: int, element: Element, iteration: tuple[int, ...]) -> ir.Value:
        """The index of one of the operation's own loops."""
        work, loops = self._tile.work, self._tile.loops
        if number in work.collective:
            return index_constant(iteration[work.collective.index(number)])
        for loop, at in zip(loops, self._place, strict=True):
            if number in loop.parts:
                by = 0
                if loop is loops[-1]:
                    by = element[1]
                elif loop is loops[-2]:
                    by = element[0]
                moved = arith.addi(at, index_constant(by)) if by else at
                return part_index(work, loop, moved, number, self._parameters)
        return index_constant(0)


def _step(before: _Sizes, after: _Sizes) -> Size | None:
    """Returns by how much one distance exceeds another in a single open size; None if not so."""
    one, other = dict(before), dict(after)
    moved = [each for each in {**one, **other} if one.get(each) != other.get(each)]
    if len(moved) != 1:
        return None
    by = other.get(moved[0], 0) - one.get(moved[0], 0)
    return Size(by, moved[0]) if by > 0 else None
