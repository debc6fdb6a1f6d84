"""What the bodies of kernels on rows share: the team's row, its stages, and the stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property

from ....dialects.mlir import arith, ir, scf
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..elements import disguised, element_bytes
from ..parameters import Parameters
from ..region import Region
from ..size import ONE, Size
from ..work import Operand
from .access import RowAccess
from .collectives import BlockShare, Collective, State, as_states, flat
from .needs import is_needed, known_at_start, needed_arguments
from .plan import RowPlan
from .stages import StagePlan, place_type, plan_stages
from .team import Team
from .vectors import RowVectors, operands_of

# Registers for elements: a row's own and what outputs take besides, and for the latter at least.
_WORDS, _LEAST_WORDS = 48, 16


class RowBody:
    """The team of the executing thread and its row.

    Where a row has several `parts`, a block for each, this is the one of number `part`.
    """

    def __init__(
        self,
        plan: RowPlan,
        parameters: Parameters,
        *,
        parts: Size = ONE,
    ) -> None:
        self.plan = plan
        self.space = plan.space
        self.parameters = parameters
        self.region = Region(plan.space.work, parameters)
        self.stages: StagePlan = plan_stages(
            plan.space.work, self.region, merge=plan.configuration.merged
        )
        self.team = Team(plan.team, is_tall=plan.configuration.tall)
        self._is_row: ir.Value | None = None
        row = self.team.row
        self.parts = parameters.size(parts)
        self.part: ir.Value | None = None
        if parts != ONE:
            self.part = arith.remui(row, self.parts)
            row = arith.divui(row, self.parts)
        # As many rows as a block or a grid has at most, not all of which may be there.
        step = plan.team.threads if plan.team.is_open else plan.team.rows
        has_more = plan.team.rows > 1 and not self.space.count.is_multiple_of(step)
        if has_more or plan.configuration.tall:
            count = parameters.size(self.space.count)
            self._is_row = arith.cmpi(arith.CmpIPredicate.ult, row, count)
            row = arith.minui(row, arith.subi(count, index_constant(1)))
        self.access = RowAccess(
            self.space, self.region, row, plan.scattered, is_tall=plan.configuration.tall
        )
        self.length = parameters.size(self.space.length)
        # The column at which vector 0 begins.
        self.start = self._peeled() if plan.peeled else None
        if self.start is not None:
            self.access.begin_vectors(self.start)
        if plan.width == 1:
            self.whole = self.length
        else:
            body = self.length if self.start is None else arith.subi(self.length, self.start)
            self.whole = arith.divui(body, index_constant(plan.width))

        if parts == ONE:
            early = known_at_start(self.region, self.space.varying)
            for argument in needed_arguments(self.region, early):
                value = plan.space.work.block.arguments[argument]
                self.access.point.known[value] = disguised(self.access.point.value(value))

    def fork(self) -> RowBody:
        """The same in a branch: what is computed there is not known outside of it."""
        made = copy(self)
        made.access = self.access.fork()
        return made

    @property
    def open_place(self) -> tuple[ir.Value, ir.Value]:
        """The numbers of the first vectors of an open team's warp and of the thread.

        A thread's vectors are a warp apart, so that steps are known at compile time.
        """
        place = self.team.place
        lane = arith.andi(place, index_constant(WARP_LANES - 1))
        warp = arith.muli(arith.subi(place, lane), index_constant(self.plan.vectors))
        return warp, arith.addi(warp, lane)

    def collectives(self, stage: int) -> list[Collective]:
        """The states that a stage combines."""
        length = self.space.length
        place = place_type(self.plan.most_elements)
        some: ir.Value | None = None
        if not length.is_known:
            some = arith.cmpi(arith.CmpIPredicate.ne, self.length, index_constant(0))
        elif length.known == 0:
            some = arith.constant(ir.IntegerType.get_signless(1), 0)
        return self.stages.collectives(stage, place, some)

    def finish(self, collectives: Sequence[Collective], states: Sequence[State]) -> list[State]:
        """Combines the states of the team's threads: the results are known from here on."""
        found = self.team.reduce(collectives, states)
        for each, state in zip(collectives, found, strict=True):
            each.finish(state, self.access.point)
        return found

    def share(self) -> BlockShare:
        """What the block has of a row that is kept by an open team."""
        outputs = [value for _, value in self.outputs_along]

        def is_kept(value: ir.Value, source: ir.Value) -> bool:
            elements = self.plan.vectors * self.plan.width
            if elements * element_bytes(value.type) > 4 * self.plan.room:
                return False
            if not is_needed(self.region, outputs, value):
                return False
            others = needed_arguments(self.region, outputs, [value])
            return not others & needed_arguments(self.region, [source])

        return BlockShare(
            self.team.are_several_blocks, self._count, self.team.where_several, is_kept
        )

    def _count(self, kind: ir.Type) -> ir.Value:
        """The number of elements that the block has of the row, as a float."""
        i32, width = ir.IntegerType.get_signless(32), self.plan.width
        vectors = arith.constant(i32, self.plan.vectors)
        whole = arith.index_cast(i32, self.whole)
        place = arith.index_cast(i32, self.team.first)
        most = arith.muli(arith.index_cast(i32, self.team.block_size), vectors)
        left = arith.subi(whole, arith.muli(place, vectors))
        none = arith.constant(i32, 0)
        own = arith.maxsi(arith.minsi(left, most), none)
        own = arith.muli(own, arith.constant(i32, width))
        if self.plan.peeled:
            # The edges are the first block's.
            covered = arith.muli(whole, arith.constant(i32, width))
            edges = arith.subi(arith.index_cast(i32, self.length), covered)
            is_first = arith.cmpi(arith.CmpIPredicate.eq, place, none)
            own = arith.addi(own, arith.select(is_first, edges, none))
        return arith.sitofp(kind, own)

    def looped(
        self,
        collectives: Sequence[Collective],
        first: ir.Value,
        end: ir.Value,
        step: ir.Value,
        emit: Callable[[ir.Value, list[State]], list[State]],
    ) -> list[State]:
        """The states that `emit` makes in a loop, beginning with those of no elements."""
        start = [value for each in collectives for value in each.neutral()]
        loop = scf.ForOp(first, end, step, start)
        with ir.InsertionPoint(loop.body):
            states = as_states(collectives, list(loop.inner_iter_args))
            found = emit(loop.induction_variable, states)
            scf.YieldOp(flat(found))
        return as_states(collectives, list(loop.results))

    @property
    def outputs_along(self) -> list[tuple[Operand, ir.Value]]:
        """The outputs with elements along the row, with what they take."""
        return [each for each in self._outputs if self.space.is_along(each[0])]

    def store(self, vectors: RowVectors) -> None:
        """Computes and writes the outputs' elements.

        What they take besides elements that are there already is loaded for some vectors at once.
        """
        outputs = self.outputs_along
        values = [value for _, value in outputs]
        group = self._group(vectors, values)
        for number in range(len(vectors)):
            if number % group == 0:
                vectors.fetch(values, range(number, min(number + group, len(vectors))))
            found = [
                [vectors.value(number, element, value) for element in range(vectors.width)]
                for _, value in outputs
            ]

            def write(number: int = number, found: list[list[ir.Value]] = found) -> None:
                for (operand, _), values in zip(outputs, found, strict=True):
                    vectors.store(operand, number, values)

            self._where([vectors.inside[number], self._is_row], write)

    def _group(self, vectors: RowVectors, values: Sequence[ir.Value]) -> int:
        """The vectors for which weights of the outputs fit in registers beside the row."""
        if self.plan.streams or (self.plan.team.rows > 1 and self.plan.configuration.resident == 1):
            return len(vectors)
        words = vectors.width * self._weight_words(values)
        held = len(vectors) * vectors.width * self.space.words
        if self.plan.team.is_open and self.plan.team.rows == 1:
            # They wait as they lie in memory.
            held = len(vectors) * self.space.held_bytes(vectors.width) // 4
            words = max(1, vectors.width * self._weight_bytes(values) // 4)
        return max(1, max(_LEAST_WORDS, _WORDS - held) // max(1, words))

    def _weight_bytes(self, values: Sequence[ir.Value]) -> int:
        """Bytes of one element of each operand that values need and that rows share."""
        weights = [each for each in self.operands(values) if not self.space.is_large(each)]
        return sum(element_bytes(each.element) for each in weights)

    def _weight_words(self, values: Sequence[ir.Value]) -> int:
        """Registers for one element of each operand that values need and that rows share."""
        weights = [each for each in self.operands(values) if not self.space.is_large(each)]
        return sum(max(1, element_bytes(each.element) // 4) for each in weights)

    def store_uniform(self) -> None:
        """One thread, of the first part, writes what the row has one of."""
        outputs = [each for each in self._outputs if not self.space.is_along(each[0])]
        values = [self.access.point.value(value) for _, value in outputs]
        if not outputs:
            return

        def write() -> None:
            for (operand, _), value in zip(outputs, values, strict=True):
                self.access.store(operand, [], [value])

        is_first = None
        if self.part is not None:
            is_first = arith.cmpi(arith.CmpIPredicate.eq, self.part, index_constant(0))
        self._where([self.team.is_first, self._is_row, is_first], write)

    def edges(self) -> RowVectors | None:
        """The elements before and after whole vectors, one for each of the first threads.

        Others load nothing, but where the region does not take any numbers: it is computed of an
        element that is there, and this is to be emitted only where there is one. None where there
        certainly are none.
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
        near = arith.minui(number, arith.subi(self.length, index_constant(1)))
        if not self.takes_any:
            return RowVectors(self.access, [near], 1, inside=[is_inside])
        return RowVectors(self.access, [number], 1, inside=[is_inside], near=[near])

    def operands(self, values: Sequence[ir.Value]) -> list[Operand]:
        """The inputs with elements along the row that values need."""
        return operands_of(self.space, self.region, values)

    def compute_uniform(self) -> None:
        """Computes what needs no reduction and is the same in all of the row.

        To be called once the row's first elements are loaded: elements that are loaded by a loaded
        index would keep them waiting.
        """
        for op in self.region.checks:
            if op not in self.checks_along:
                self.access.point.check(op)
        for value in known_at_start(self.region, self.space.varying):
            found = self.access.point.value(value)
            if isinstance(found.type, ir.IntegerType | ir.FloatType):
                self.access.point.known[value] = disguised(found)

    @cached_property
    def takes_any(self) -> bool:
        """Whether the region takes any numbers for the elements of a row."""
        return self.region.takes_any(self.space.varying)

    @cached_property
    def checks_along(self) -> list[ir.Operation]:
        """The assertions that differ from element to element of a row."""
        region, varying = self.region, self.space.varying
        return [
            op for op in region.checks if any(region.varies(each) & varying for each in op.operands)
        ]

    def check(self, vectors: RowVectors) -> None:
        """Emits those assertions; to be called in the first stage, before anything is computed."""
        for op in self.checks_along:
            vectors.fetch(list(op.operands))
            vectors.check(op)

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
