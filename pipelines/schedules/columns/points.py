"""The region's values for one thread of the column schedule: a vector of columns, in iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....dialects.mlir import arith, ir
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..collective import Collective
from ..parameters import Parameters
from ..region import Point, Region
from ..size import ONE
from ..work import Operand
from .access import ColumnAccess
from .checks import checked_along, is_along, loads_by_index
from .plan import ColumnPlan
from .sweep import Sweep, chosen


@dataclass
class ColumnIteration:
    """One collective iteration, loaded: a point for each element of the vector.

    `valid` says whether it is one to count; None where it is.
    """

    number: ir.Value
    valid: ir.Value | None
    points: list[Point]


class ColumnPoints:
    """Points of the vector: what is fixed, each column, and each column's iterations.

    Made at a place that all code using it comes after.
    """

    def __init__(self, plan: ColumnPlan, parameters: Parameters, access: ColumnAccess) -> None:
        self._plan = plan
        self._parameters = parameters
        self._work = plan.space.work
        self._region = Region(self._work, parameters)
        self._operands = {operand.number: operand for operand in self._work.operands}
        self._across = frozenset(self._work.parallel)
        self._along = frozenset(self._work.collective)
        self.access = access
        self._fixed = Point(
            self._region,
            frozenset(),
            lambda number: self.access.load_fixed(self._operands[number])[0],
            lambda _: index_constant(0),
        )
        self.columns = [self._column(element) for element in range(plan.width)]

    @property
    def yielded(self) -> list[ir.Value]:
        """What the outputs take, in their order."""
        return self._region.yielded

    @property
    def checks_first(self) -> bool:
        """Whether assertions about columns are checked before reductions."""
        return loads_by_index(self._plan.space, self._region)

    @property
    def checked_along(self) -> Sequence[ir.Value]:
        """What assertions about single iterations take."""
        return checked_along(self._plan.space, self._region)

    def check(self) -> None:
        """Emits the assertions about columns, those about all columns once."""
        for op in self._region.checks:
            if is_along(self._plan.space, self._region, op):
                continue
            loops = frozenset[int]().union(*map(self._region.varies, op.operands))
            for point in self.columns if loops else [self._fixed]:
                point.check(op)

    def check_iterations(self, iterations: Sequence[ColumnIteration]) -> None:
        """Emits the assertions about single iterations."""
        for op in self._region.checks:
            if is_along(self._plan.space, self._region, op):
                for iteration in iterations:
                    for point in iteration.points:
                        point.check(op)

    def know(self, level: Sequence[Collective], totals: Sequence[ir.Value]) -> None:
        """Makes results of collectives known: running values of each, for each column."""
        rest = list(totals)
        for each in level:
            for element, point in enumerate(self.columns):
                running, rest = rest[: len(each.types)], rest[len(each.types) :]
                for result, value in each.results(running).items():
                    point.known[result] = value
                    if element == 0 and not self._region.varies(result):
                        self._fixed.known[result] = value

    def prepare(self, values: Sequence[ir.Value]) -> None:
        """Computes here what does not vary along the collective loops."""
        for value in values:
            self._fixed.prepare(value, self._across | self._along)
            for point in self.columns:
                point.prepare(value, self._along)

    def loaded(self, values: Sequence[ir.Value]) -> list[Operand]:
        """The operands that values take from memory in each iteration."""
        found: dict[int, Operand] = {}
        seen: set[ir.Value] = set()
        rest = list(values)
        while rest:
            value = rest.pop()
            if value in seen or not self._region.varies(value) & self._along:
                continue
            seen.add(value)
            number = self._region.argument_number(value)
            if number is not None:
                found[number] = self._operands[number]
            rest += self._region.needs(value)
        return [found[number] for number in sorted(found)]

    def iterations(
        self,
        operands: Sequence[Operand],
        numbers: Sequence[ir.Value],
        valid: Sequence[ir.Value | None],
    ) -> list[ColumnIteration]:
        """Several iterations, each a step past the one before; all loads come first."""
        loaded = {
            operand.number: self.access.load_all(operand, numbers, valid) for operand in operands
        }
        found: list[ColumnIteration] = []
        for place, number in enumerate(numbers):
            own = {key: each[place] for key, each in loaded.items()}
            found.append(self.iteration(number, valid[place], own))
        return found

    def iteration(
        self, number: ir.Value, valid: ir.Value | None, loaded: Mapping[int, list[ir.Value]]
    ) -> ColumnIteration:
        """One iteration, with the vector's elements of each operand by its number."""
        points = [self._at(number, element, loaded) for element in range(self._plan.width)]
        return ColumnIteration(number, valid, points)

    def starts(self, level: Sequence[Collective]) -> list[ir.Value]:
        """A level's running values before any iteration, each collective's columns in turn."""
        width = self._plan.width
        return [start for each in level for _ in range(width) for start in each.start()]

    def reduced(
        self, level: Sequence[Collective], sweep: Sweep, *, checks: bool = False
    ) -> list[ir.Value]:
        """The thread's running values of a level after its iterations, which it also `checks`."""
        values = [each.operand for each in level]
        if checks:
            values += self.checked_along
        operands = self.loaded(values)
        self.access.begin(operands)

        def step(
            numbers: list[ir.Value], valid: list[ir.Value | None], running: list[ir.Value]
        ) -> list[ir.Value]:
            iterations = self.iterations(operands, numbers, valid)
            if checks:
                self.check_iterations(iterations)
            for iteration in iterations:
                running = self.merged(level, iteration, running)
            return running

        return sweep.go(self._plan.unroll, self.starts(level), step)

    def merged(
        self, level: Sequence[Collective], iteration: ColumnIteration, running: list[ir.Value]
    ) -> list[ir.Value]:
        """The running values with one more iteration, if it is one."""
        found: list[ir.Value] = []
        for each in level:
            is_ordered = each.is_find and self.is_in_order(each)
            for point in iteration.points:
                so_far = running[len(found) : len(found) + len(each.types)]
                new = [point.value(each.operand)]
                if each.is_find:
                    new.append(self.place(each, iteration))
                both = each.merged(so_far, new, ascending=is_ordered)
                found += chosen(iteration.valid, both, so_far)
        return found

    def store_fixed(self) -> None:
        """Writes the outputs that have one element a column."""
        full = self._plan.space.full_outputs
        for place, operand in enumerate(self._work.outputs):
            if place not in full:
                values = [point.value(self.yielded[place]) for point in self.columns]
                self.access.store_fixed(operand, values)

    def is_in_order(self, each: Collective) -> bool:
        """Returns whether iterations are numbered as the places that a search gives."""
        parts = [part for loop in self._plan.space.collective for part in loop.parts]
        return parts == [loop for loop in each.loops if self._work.extents[loop] != ONE]

    def place(self, each: Collective, iteration: ColumnIteration) -> ir.Value:
        """The number of an iteration as a search counts them, an i32."""
        i32 = ir.IntegerType.get_signless(32)
        if self.is_in_order(each):
            return arith.index_castui(i32, iteration.number)
        place = index_constant(0)
        for loop in each.loops:
            extent = self._parameters.size(self._work.extents[loop])
            index = self.access.index(loop, iteration.number, 0)
            place = arith.addi(arith.muli(place, extent), index)
        return arith.index_castui(i32, place)

    def _column(self, element: int) -> Point:
        def pick(number: int) -> ir.Value:
            return _element(self.access.load_fixed(self._operands[number]), element)

        def index(number: int) -> ir.Value:
            return self.access.index(number, None, element)

        return Point(self._region, self._across, pick, index, self._fixed)

    def _at(self, iteration: ir.Value, element: int, loaded: Mapping[int, list[ir.Value]]) -> Point:
        def pick(number: int) -> ir.Value:
            return _element(loaded[number], element)

        def index(number: int) -> ir.Value:
            return self.access.index(number, iteration, element)

        return Point(self._region, self._along, pick, index, self.columns[element])


def _element(values: Sequence[ir.Value], element: int) -> ir.Value:
    return values[element] if len(values) > 1 else values[0]
