"""What the bodies of kernels on rows share: the team's row, its stages, and the stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, ir, scf
from ..rewriting import index_constant
from .elements import element_bytes
from .parameters import Parameters
from .region import Region
from .row_access import RowAccess
from .row_collectives import Collective, State
from .row_plan import RowPlan
from .row_stages import StagePlan, plan_stages
from .row_vectors import RowVectors, operands_of
from .team import Team
from .work import Operand

# Places in rows that are no longer than this are counted in 32 bits.
_MOST_IN_32_BITS = 2**31 - 1


class RowBody:
    """The team of the executing thread and its row."""

    def __init__(self, plan: RowPlan, parameters: Parameters, *, merge: bool) -> None:
        self.plan = plan
        self.space = plan.space
        self.parameters = parameters
        self.region = Region(plan.space.work, parameters)
        self.stages: StagePlan = plan_stages(plan.space.work, self.region, merge=merge)
        self.team = Team(plan.team)
        self._is_row: ir.Value | None = None
        row = self.team.row
        if plan.team.rows > 1 and not self.space.count.is_multiple_of(plan.team.rows):
            count = parameters.size(self.space.count)
            self._is_row = arith.cmpi(arith.CmpIPredicate.ult, row, count)
            row = arith.minui(row, arith.subi(count, index_constant(1)))
        self.access = RowAccess(self.space, self.region, row, plan.scattered)
        self.length = parameters.size(self.space.length)
        # The column at which vector 0 begins.
        self.start = self._peeled() if plan.peeled else None
        if plan.width == 1:
            self.whole = self.length
        else:
            body = self.length if self.start is None else arith.subi(self.length, self.start)
            self.whole = arith.divui(body, index_constant(plan.width))

    def collectives(self, stage: int) -> list[Collective]:
        """The states that a stage combines."""
        length = self.space.length
        is_short = not self.plan.streams or (length.is_known and length.known <= _MOST_IN_32_BITS)
        place = ir.IntegerType.get_signless(32 if is_short else 64)
        some: ir.Value | None = None
        if not length.is_known:
            some = arith.cmpi(arith.CmpIPredicate.ne, self.length, index_constant(0))
        elif length.known == 0:
            some = arith.constant(ir.IntegerType.get_signless(1), 0)
        return self.stages.collectives(stage, place, some)

    def finish(self, collectives: Sequence[Collective], states: Sequence[State]) -> None:
        """Combines the states of the team's threads: the results are known from here on."""
        for each, state in zip(collectives, self.team.reduce(collectives, states), strict=True):
            self.access.point.known.update(each.results(state))

    @property
    def outputs_along(self) -> list[tuple[Operand, ir.Value]]:
        """The outputs with elements along the row, with what they take."""
        return [each for each in self._outputs if self.space.is_along(each[0])]

    def store(self, vectors: RowVectors) -> None:
        """Computes and writes the outputs' elements."""
        outputs = self.outputs_along
        vectors.fetch([value for _, value in outputs])
        for number in range(len(vectors)):
            found = [
                [vectors.value(number, element, value) for element in range(vectors.width)]
                for _, value in outputs
            ]

            def write(number: int = number, found: list[list[ir.Value]] = found) -> None:
                for (operand, _), values in zip(outputs, found, strict=True):
                    vectors.store(operand, number, values)

            self._where([vectors.inside[number], self._is_row], write)

    def store_uniform(self) -> None:
        """One thread writes what the row has one of."""
        outputs = [each for each in self._outputs if not self.space.is_along(each[0])]
        values = [self.access.point.value(value) for _, value in outputs]
        if not outputs:
            return

        def write() -> None:
            for (operand, _), value in zip(outputs, values, strict=True):
                self.access.store(operand, [], [value])

        self._where([self.team.is_first, self._is_row], write)

    def edges(self) -> RowVectors | None:
        """The elements before and after whole vectors, one for each of the first threads.

        Emitted only where the row has any element. None where there certainly are none.
        """
        if self.plan.width == 1:
            return None
        covered = arith.muli(self.whole, index_constant(self.plan.width))
        count = arith.subi(self.length, covered)
        place, number = self.team.place, self.team.place
        if self.start is not None:
            is_behind = arith.cmpi(arith.CmpIPredicate.uge, place, self.start)
            none = index_constant(0)
            number = arith.addi(place, arith.select(is_behind, covered, none))
        else:
            number = arith.addi(place, covered)
        is_inside = arith.cmpi(arith.CmpIPredicate.ult, place, count)
        number = arith.minui(number, arith.subi(self.length, index_constant(1)))
        return RowVectors(self.access, [number], 1, inside=[is_inside])

    def operands(self, values: Sequence[ir.Value]) -> list[Operand]:
        """The inputs with elements along the row that values need."""
        return operands_of(self.space, self.region, values)

    @property
    def _outputs(self) -> list[tuple[Operand, ir.Value]]:
        return list(zip(self.space.work.outputs, self.region.yielded, strict=True))

    def _peeled(self) -> ir.Value:
        """The elements before the first that lies at an aligned address, or all there are."""
        operand = self.plan.reference
        past = self.access.misalignment(operand)
        bytes_ = self.plan.width * element_bytes(operand.element)
        missing = arith.andi(arith.subi(index_constant(bytes_), past), index_constant(bytes_ - 1))
        elements = arith.divui(missing, index_constant(element_bytes(operand.element)))
        return arith.minui(elements, self.length)

    @staticmethod
    def _where(conditions: Sequence[ir.Value | None], emit: Callable[[], None]) -> None:
        found = [each for each in conditions if each is not None]
        if not found:
            emit()
            return
        condition = found[0]
        for each in found[1:]:
            condition = arith.andi(condition, each)
        branch = scf.IfOp(condition)
        with ir.InsertionPoint(branch.then_block):
            emit()
            scf.YieldOp([])
