"""The kernel of the column schedule for rows of any alignment, in a single pass.

A thread reads aligned pieces of 16 bytes of rows that are a multiple of 16 bytes apart, so that the
columns it adds up are the same in each, whatever the rows' alignment: it is put right once, when
the threads' results are merged. A piece that is not all in the buffer is read by elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ...rewriting import constant, index_constant
from ..elements import ACCESS_BYTES, address, element_bytes
from ..parameters import Parameters
from ..shared import SharedMemory
from ..size import ZERO, OpenNumbers, Size
from ..space import Loop
from ..split_number import narrow, split_number
from ..work import Operand
from .access import ColumnAccess
from .kernel import Stage
from .plan import ColumnPlan, narrow_plan
from .points import ColumnPoints
from .scratch import ColumnScratch
from .skewed_access import SkewedAccess
from .skewed_partials import SkewedPartials
from .sweep import Sweep, when

_SIGNED_LESS = arith.CmpIPredicate.slt


class SkewedKernel:
    """Emits the body of one kernel; the operands of `shifted` lie alike."""

    def __init__(
        self,
        plan: ColumnPlan,
        stage: Stage,
        shifted: Sequence[Operand],
        parameters: Parameters,
        shared: SharedMemory,
    ) -> None:
        self._plan, self._stage, self._parameters = plan, stage, parameters
        self._shared = shared
        self._space = plan.space
        self._model = shifted[0]
        (self._level,) = plan.space.levels

    def emit(self) -> None:
        """The pass, and what is made of its results."""
        self._take_place()
        self._take_piece()
        access = SkewedAccess(self._plan, self._parameters, self._outer, self._column)
        points = ColumnPoints(self._plan, self._parameters, access)
        values = [each.operand for each in self._level]
        points.prepare(values)
        partials = SkewedPartials(self._plan, self._level, self._shared)
        running = points.reduced(self._level, self._sweep)
        running = self._with_single(points, access, running)
        partials.publish(self._row, self._lane, self._skew, running)
        self._finish(partials)

    def _take_place(self) -> None:
        """Which columns and iterations are the thread's."""
        plan, size, space = self._plan, self._parameters.size, self._space
        lanes = index_constant(plan.lanes)
        self._thread = gpu.thread_id(gpu.Dimension.x)
        self._lane = arith.remui(self._thread, lanes)
        self._row = arith.divui(self._thread, lanes)
        block = gpu.block_id(gpu.Dimension.x)
        self._outer: list[ir.Value] = []
        self._number = index_constant(0)
        if len(space.parallel) > 1:
            count = self._blocks_in_row()
            self._number = narrow(arith.divui, block, count)
            block = narrow(arith.remui, block, count)
            self._outer = split_number(self._number, space.parallel[:-1], self._parameters)
        self._first_column = arith.muli(block, index_constant(plan.block_columns))
        self._begin, self._end = index_constant(0), size(space.iterations)
        if self._stage.split is not None:
            part = size(self._stage.split.iterations)
            self._begin = arith.muli(gpu.block_id(gpu.Dimension.y), part)
            self._end = arith.minui(arith.addi(self._begin, part), self._end)

    def _take_piece(self) -> None:
        """The first column of the thread's pieces, and which of them are not all in the buffer."""
        plan, space, size = self._plan, self._space, self._parameters.size
        (along,) = space.collective
        width, step = index_constant(plan.width), self._stride(along)
        first = arith.addi(self._begin, self._row)
        outside = index_constant(0)
        for loop, at in zip(space.parallel[:-1], self._outer, strict=True):
            outside = arith.addi(outside, arith.muli(at, size(self._stride(loop))))
        row = arith.addi(outside, arith.muli(first, size(step)))
        self._skew = self._elements_past(arith.addi(row, self._first_column))
        column = arith.muli(self._lane, width)
        column = arith.subi(arith.addi(self._first_column, column), self._skew)
        # Threads past the last piece go with it, and nobody reads what they find.
        past = arith.addi(arith.subi(size(space.lane.extent), index_constant(1)), self._skew)
        last = arith.subi(past, arith.remui(past, width))
        self._column = arith.minsi(column, arith.subi(last, self._skew))
        # Of a thread's rows the first of all may begin too early, or the last of all end too late.
        place = arith.addi(row, self._column)
        self._is_early = arith.cmpi(_SIGNED_LESS, place, index_constant(0))
        bottom = arith.subi(size(space.iterations), index_constant(1))
        place = arith.addi(arith.muli(bottom, size(step)), outside)
        place = arith.addi(arith.addi(place, self._column), width)
        self._is_late = arith.cmpi(_SIGNED_LESS, self._extent(), place)
        is_bottom = arith.cmpi(
            arith.CmpIPredicate.eq,
            arith.remui(arith.subi(bottom, first), index_constant(plan.depth)),
            index_constant(0),
        )
        for holds in (
            is_bottom,
            arith.cmpi(arith.CmpIPredicate.ule, first, bottom),
            arith.cmpi(arith.CmpIPredicate.ult, bottom, self._end),
        ):
            self._is_late = arith.andi(self._is_late, holds)
        self._single = arith.select(self._is_early, index_constant(0), bottom)
        end = arith.select(self._is_late, bottom, self._end)
        begin = arith.minui(arith.addi(self._begin, index_constant(plan.depth)), end)
        begin = arith.select(self._is_early, begin, self._begin)
        self._sweep = Sweep(self._row, plan.depth, begin, end, None)

    def _elements_past(self, place: ir.Value) -> ir.Value:
        """Returns how many elements an element lies past an aligned address."""
        model, i64 = self._model, ir.IntegerType.get_signless(64)
        index = arith.addi(place, self._parameters.size(model.offset))
        where = address(self._parameters.pointer(model.buffer), model.element, index)
        number = ir.Operation.create("llvm.ptrtoint", results=[i64], operands=[where]).results[0]
        bytes_ = arith.andi(number, constant(i64, ACCESS_BYTES - 1))
        past = arith.divui(bytes_, constant(i64, element_bytes(model.element)))
        return arith.index_cast(ir.IndexType.get(), past)

    def _with_single(
        self, points: ColumnPoints, access: SkewedAccess, running: list[ir.Value]
    ) -> list[ir.Value]:
        """The running values with the row that is read by elements, if the thread has one."""
        operands = points.loaded([each.operand for each in self._level])
        choice = scf.IfOp(
            arith.ori(self._is_early, self._is_late),
            [value.type for value in running],
            has_else=True,
        )
        with ir.InsertionPoint(choice.then_block):
            loaded = {each.number: access.load_row(each, self._single) for each in operands}
            iteration = points.iteration(self._single, None, loaded)
            scf.YieldOp(points.merged(self._level, iteration, running))
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            scf.YieldOp(running)
        return [*choice.results]

    def _finish(self, partials: SkewedPartials) -> None:
        """Writes outputs or partial results, a column a thread."""
        extent = self._parameters.size(self._space.lane.extent)
        column = arith.addi(self._first_column, self._thread)
        has_one = arith.cmpi(arith.CmpIPredicate.ult, column, extent)
        own = index_constant(self._plan.block_columns)
        is_own = arith.cmpi(arith.CmpIPredicate.ult, self._thread, own)
        with when(arith.andi(has_one, is_own)):
            if self._outer:
                column = arith.addi(arith.muli(self._number, extent), column)
            plan, parameters = narrow_plan(self._space), self._parameters
            totals = partials.totals(self._thread)

            def store() -> None:
                points = ColumnPoints(plan, parameters, ColumnAccess(plan, parameters, column))
                points.know(self._level, totals)
                points.store_fixed()

            def keep() -> None:
                buffers = self._stage.scratch[0]
                scratch = ColumnScratch(plan, parameters, column, self._level, buffers)
                scratch.write(gpu.block_id(gpu.Dimension.y), totals)

            self._stage.write(store, keep)

    def _blocks_in_row(self) -> ir.Value:
        """The blocks that share the columns of a row."""
        extent, columns = self._space.lane.extent, self._plan.block_columns
        if extent.is_known:
            return index_constant(-(-extent.known // columns))

        def count(open_: OpenNumbers) -> ir.Value:
            return arith.ceildivui(open_.value(extent), index_constant(columns))

        return self._parameters.computed(("blocks", extent, columns), ir.IndexType.get(), count)

    def _extent(self) -> ir.Value:
        """Returns how many elements there are from an operand's first to its last."""
        loops = (*self._space.parallel, *self._space.collective)
        steps = [(loop.extent, self._stride(loop)) for loop in loops]
        if all(size.is_known for step in steps for size in step):
            known = sum((extent.known - 1) * stride.known for extent, stride in steps)
            return index_constant(known + 1)

        def count(open_: OpenNumbers) -> ir.Value:
            found = index_constant(1)
            for extent, stride in steps:
                if stride != ZERO:
                    last = arith.subi(open_.value(extent), index_constant(1))
                    found = arith.addi(found, arith.muli(last, open_.value(stride)))
            return found

        return self._parameters.computed(("extent", tuple(steps)), ir.IndexType.get(), count)

    def _stride(self, loop: Loop) -> Size:
        return loop.stride_of(self._space.work, self._model.number)
