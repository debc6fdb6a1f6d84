"""The kernel of scans along an outer loop: neighbouring elements belong to different scans.

A block takes some vectors of columns side by side, and of each as many iterations at once as it has
threads for, each thread several that follow each other; what they have in all goes from one such
chunk to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ...rewriting import index_constant
from ..collective import Collective
from ..columns.access import ColumnAccess
from ..columns.plan import THREADS, ColumnPlan
from ..columns.points import ColumnIteration, ColumnPoints
from ..columns.sweep import when
from ..parameters import Parameters
from ..shared import SharedMemory
from .block_scan import BlockScan


class ScanColumns:
    """Emits the body of one kernel."""

    def __init__(
        self,
        plan: ColumnPlan,
        is_reverse: bool,
        parameters: Parameters,
        shared: SharedMemory,
    ) -> None:
        self._plan, self._is_reverse = plan, is_reverse
        self._space = plan.space
        (self._scans,) = plan.space.levels
        size, thread = parameters.size, gpu.thread_id(gpu.Dimension.x)
        lanes = index_constant(plan.lanes)
        first = arith.muli(gpu.block_id(gpu.Dimension.x), lanes)
        vector = arith.addi(first, arith.remui(thread, lanes))
        self._row = arith.divui(thread, lanes)
        self._is_column: ir.Value | None = None
        if not plan.fills_blocks:
            # Threads past the last vector go with it, and write nothing.
            vectors = arith.divui(size(self._space.columns), index_constant(plan.width))
            self._is_column = arith.cmpi(arith.CmpIPredicate.ult, vector, vectors)
            vector = arith.minui(vector, arith.subi(vectors, index_constant(1)))
        self._extent = size(self._space.iterations)
        access = ColumnAccess(plan, parameters, vector, -1 if is_reverse else 1)
        self._points = ColumnPoints(plan, parameters, access)
        values = [scan for scan in self._scans for _ in range(plan.width)]
        self._block = BlockScan(values, 1, THREADS, plan.lanes, shared)

    def emit(self) -> None:
        """A loop over chunks that carries what came before."""
        points = self._points
        values = [*points.yielded, *(scan.operand for scan in self._scans)]
        points.prepare(values)
        self._operands = points.loaded(values)
        points.access.begin([*self._operands, *self._space.work.outputs])
        chunks = arith.ceildivui(self._extent, index_constant(self._plan.chunk))
        starts = [scan.start()[0] for scan in self._scans for _ in range(self._plan.width)]
        loop = scf.ForOp(index_constant(0), chunks, index_constant(1), starts)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(self._chunk(loop.induction_variable, list(loop.inner_iter_args)))

    def _chunk(self, number: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        plan = self._plan
        first = arith.muli(number, index_constant(plan.chunk))
        first = arith.addi(first, arith.muli(self._row, index_constant(plan.unroll)))
        numbers, valid = self._numbers(first)
        iterations = self._points.iterations(self._operands, numbers, valid)
        through = [self._through(iterations, scan) for scan in self._scans]
        totals = [value for scan in through for value in scan[-1]]
        turn = arith.remui(number, index_constant(2))
        (before,), block = self._block.prefixes([totals], turn)
        width = plan.width
        for place, scan in enumerate(self._scans):
            for element in range(width):
                at = place * width + element
                prefix = scan.merged([carried[at]], [before[at]])[0]
                self._know(
                    scan, iterations, [each[element] for each in through[place]], prefix, element
                )
        self._store(iterations, numbers, valid)
        scans = [scan for scan in self._scans for _ in range(width)]
        return [
            scan.merged([one], [other])[0]
            for scan, one, other in zip(scans, carried, block, strict=True)
        ]

    def _numbers(self, first: ir.Value) -> tuple[list[ir.Value], list[ir.Value | None]]:
        """The iterations of a thread, and which of them there are; others are ones of the chunk."""
        last = arith.subi(self._extent, index_constant(1))
        is_whole = self._space.iterations.is_multiple_of(self._plan.chunk)
        numbers: list[ir.Value] = []
        valid: list[ir.Value | None] = []
        for place in range(self._plan.unroll):
            number = arith.addi(first, index_constant(place))
            if is_whole:
                valid.append(None)
            else:
                valid.append(arith.cmpi(arith.CmpIPredicate.ult, number, self._extent))
                number = arith.minui(number, last)
            numbers.append(arith.subi(last, number) if self._is_reverse else number)
        return numbers, valid

    def _through(
        self, iterations: Sequence[ColumnIteration], scan: Collective
    ) -> list[list[ir.Value]]:
        """For each iteration and column the thread's values up to it, merged."""
        found: list[list[ir.Value]] = []
        for iteration in iterations:
            values: list[ir.Value] = [point.value(scan.operand) for point in iteration.points]
            if iteration.valid is not None:
                start = scan.start()[0]
                values = [arith.select(iteration.valid, value, start) for value in values]
            if found:
                values = [
                    scan.merged([one], [other])[0]
                    for one, other in zip(found[-1], values, strict=True)
                ]
            found.append(values)
        return found

    def _know(
        self,
        scan: Collective,
        iterations: Sequence[ColumnIteration],
        through: Sequence[ir.Value],
        prefix: ir.Value,
        element: int,
    ) -> None:
        """Makes a scan's results in a column known."""
        so_far = prefix
        for iteration, value in zip(iterations, through, strict=True):
            next_ = scan.merged([prefix], [value])[0]
            known = so_far if "exclusive" in scan.op.attributes else next_
            iteration.points[element].known[scan.op.results[0]] = known
            so_far = next_

    def _store(
        self,
        iterations: Sequence[ColumnIteration],
        numbers: Sequence[ir.Value],
        valid: Sequence[ir.Value | None],
    ) -> None:
        points, outputs = self._points, self._space.work.outputs
        places = [points.access.places(operand, numbers, valid) for operand in outputs]
        for number, iteration in enumerate(iterations):
            found = [[point.value(value) for point in iteration.points] for value in points.yielded]
            condition = iteration.valid
            if condition is None:
                condition = self._is_column
            elif self._is_column is not None:
                condition = arith.andi(condition, self._is_column)
            with when(condition):
                for operand, where, values in zip(outputs, places, found, strict=True):
                    points.access.store(operand, where[number], values)
