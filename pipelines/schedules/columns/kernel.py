"""The kernels of the column schedule: passes over the iterations of vectors of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..parameters import Parameters
from ..shared import SharedMemory
from .access import ColumnAccess
from .block_partials import BlockPartials, OpenPartials, Partials
from .plan import ColumnPlan
from .points import ColumnIteration, ColumnPoints
from .scratch import ColumnScratch
from .split import Split
from .sweep import Sweep, when

# The buffers of levels whose partial results lie in global memory.
Scratch = Mapping[int, Sequence[ir.Value]]


@dataclass(frozen=True)
class Stage:
    """What one kernel does with the levels of collectives.

    It makes the results of those in `combines` from partial ones in `scratch`, reduces those in
    `reduces`, and stores the outputs or, where not `stores`, partial results of the last level.
    A split kernel takes one part of the iterations for each row of the grid; one that
    `may_be_whole` stores the outputs where the grid has one row, and partial results else.
    """

    combines: tuple[int, ...]
    reduces: tuple[int, ...]
    stores: bool
    split: Split | None
    scratch: Scratch
    may_be_whole: bool = False

    def write(self, outputs: Callable[[], None], partials: Callable[[], None]) -> None:
        """Emits what stores the outputs, or partial results."""
        if not self.may_be_whole:
            (outputs if self.stores else partials)()
            return
        rows, one = gpu.grid_dim(gpu.Dimension.y), index_constant(1)
        choice = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ugt, rows, one), has_else=True)
        assert choice.else_block is not None
        for block, emit in ((choice.then_block, partials), (choice.else_block, outputs)):
            with ir.InsertionPoint(block):
                emit()
                scf.YieldOp([])


class ColumnKernel:
    """Emits the body of one kernel."""

    def __init__(
        self, plan: ColumnPlan, stage: Stage, parameters: Parameters, shared: SharedMemory
    ) -> None:
        self._plan, self._stage, self._parameters = plan, stage, parameters
        self._shared = shared
        self._space = plan.space
        self._writes_all = stage.stores and bool(plan.space.full_outputs)
        self._goes_along = bool(stage.reduces) or self._writes_all
        self._kept: list[ColumnIteration] | None = None
        self._take_place()
        access = ColumnAccess(plan, parameters, self._vector, self._sweep.depth)
        self._points = ColumnPoints(plan, parameters, access)

    def emit(self) -> None:
        """The passes, one after another."""
        stage, points = self._stage, self._points
        if points.checks_first and 0 in stage.reduces:
            points.check()
        for number in stage.combines:
            partials = self._partials(number, self._read_scratch(number))
            points.know(self._space.levels[number], partials.totals())
        for number in stage.reduces:
            partials = self._partials(number, self._reduce(number))
            if number == stage.reduces[-1] and not self._writes_all:
                with when(self._writes()):
                    self._finish(number, partials.totals())
                return
            points.know(self._space.levels[number], partials.totals())
        if not points.checks_first:
            points.check()
        points.prepare(points.yielded)
        with when(self._writes()):
            self._points.store_fixed()
        if self._writes_all:
            with when(self._is_column):
                self._store_full()

    def _take_place(self) -> None:
        """Which vector and which iterations are the thread's."""
        plan, size = self._plan, self._parameters.size
        thread, depth = gpu.thread_id(gpu.Dimension.x), plan.depth
        if plan.open:
            lanes, depth = gpu.block_dim(gpu.Dimension.x), gpu.block_dim(gpu.Dimension.y)
            lane, row = thread, gpu.thread_id(gpu.Dimension.y)
        else:
            lanes = index_constant(plan.lanes)
            lane, row = arith.remui(thread, lanes), arith.divui(thread, lanes)
        i32 = ir.IntegerType.get_signless(32)
        number = arith.addi(arith.muli(gpu.block_id(gpu.Dimension.x), lanes), lane)
        number = arith.index_cast(i32, number)
        self._is_column: ir.Value | None = None
        if not plan.fills_blocks:
            # Threads past the last vector go with it, and write nothing.
            vectors = arith.divui(size(self._space.columns), index_constant(plan.width))
            vectors = arith.index_cast(i32, vectors)
            self._is_column = arith.cmpi(arith.CmpIPredicate.ult, number, vectors)
            number = arith.minui(number, arith.subi(vectors, arith.constant(i32, 1)))
        number = arith.index_castui(ir.IndexType.get(), number)
        self._vector = number
        begin, end = index_constant(0), size(self._space.iterations)
        if self._stage.split is not None and self._goes_along:
            part = size(self._stage.split.iterations)
            begin = arith.muli(gpu.block_id(gpu.Dimension.y), part)
            end = arith.minui(arith.addi(begin, part), end)
        self._sweep = Sweep(row, depth, begin, end, self._space.iterations)

    def _writes(self) -> ir.Value | None:
        """Whether the thread writes what its column has one of."""
        found = self._is_column
        rows = [self._sweep.row] if self._plan.open or self._plan.depth > 1 else []
        if self._stage.split is not None and self._writes_all:
            rows.append(gpu.block_id(gpu.Dimension.y))
        for row in rows:
            first = arith.cmpi(arith.CmpIPredicate.eq, row, index_constant(0))
            found = first if found is None else arith.andi(found, first)
        return found

    def _finish(self, number: int, totals: list[ir.Value]) -> None:
        def store() -> None:
            self._points.know(self._space.levels[number], totals)
            if not self._points.checks_first:
                self._points.check()
            self._points.store_fixed()

        def keep() -> None:
            self._scratch(number).write(gpu.block_id(gpu.Dimension.y), totals)

        self._stage.write(store, keep)

    def _partials(self, number: int, running: Sequence[ir.Value]) -> Partials:
        plan, level = self._plan, self._space.levels[number]
        if plan.open:
            return OpenPartials(level, running, plan.width, plan.threads, self._shared)
        return BlockPartials(level, running, plan.width, plan.threads, plan.lanes, self._shared)

    def _scratch(self, number: int) -> ColumnScratch:
        level, buffers = self._space.levels[number], self._stage.scratch[number]
        return ColumnScratch(self._plan, self._parameters, self._vector, level, buffers)

    def _read_scratch(self, number: int) -> list[ir.Value]:
        split = self._stage.split
        assert split is not None
        count = self._parameters.size(split.count)
        sweep = self._sweep
        return self._scratch(number).merged(sweep.row, sweep.depth, count, split.count)

    def _reduce(self, number: int) -> list[ir.Value]:
        """The thread's running values of a level after its iterations."""
        level, points = self._space.levels[number], self._points
        values = [each.operand for each in level]
        points.prepare([*values, *points.checked_along] if number == 0 else values)
        kept = self._keep()
        if kept is None:
            return points.reduced(level, self._sweep, checks=number == 0)
        running = points.starts(level)
        for iteration in kept:
            running = points.merged(level, iteration, running)
        return running

    def _keep(self) -> list[ColumnIteration] | None:
        """All iterations of the thread, loaded once for all passes; None where they are many."""
        count = self._plan.kept() if self._stage.split is None else None
        if count is None or self._kept is not None:
            return self._kept
        points = self._points
        values = list(points.yielded)
        values += [each.operand for level in self._space.levels for each in level]
        values += points.checked_along
        operands = points.loaded(values)
        points.access.begin(operands)
        self._kept = points.iterations(operands, *self._sweep.all(count))
        points.check_iterations(self._kept)
        return self._kept

    def _store_full(self) -> None:
        """Writes the outputs that have an element in every iteration."""
        points, full = self._points, self._space.full_outputs
        outputs = [self._space.work.outputs[place] for place in full]
        yielded = [points.yielded[place] for place in full]
        operands = points.loaded(yielded)
        points.access.begin([*operands, *outputs])

        def write(iterations: list[ColumnIteration]) -> None:
            numbers = [iteration.number for iteration in iterations]
            valid = [iteration.valid for iteration in iterations]
            places = [points.access.places(operand, numbers, valid) for operand in outputs]
            for number, iteration in enumerate(iterations):
                found = [[point.value(value) for point in iteration.points] for value in yielded]
                with when(iteration.valid):
                    for operand, where, values in zip(outputs, places, found, strict=True):
                        points.access.store(operand, where[number], values)

        def step(
            numbers: list[ir.Value], valid: list[ir.Value | None], running: list[ir.Value]
        ) -> list[ir.Value]:
            write(points.iterations(operands, numbers, valid))
            return running

        kept = self._keep()
        if kept is not None:
            write(kept)
        else:
            self._sweep.go(self._plan.unroll, [], step)
