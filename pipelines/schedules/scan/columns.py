"""The kernel of scans along an outer loop: neighbouring elements belong to different scans.

A block takes some vectors of columns side by side. Of each it takes a chunk of iterations at once,
each thread several successive ones, and carries the total of a chunk on to the next. Where
iterations are divided into parts, each part has its own block. Where one thread takes all
iterations of a vector of columns, it continues from its total, and the block merges nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ...rewriting import index_constant
from ..collective import Collective
from ..columns.access import ColumnAccess
from ..columns.plan import ColumnPlan
from ..columns.points import ColumnIteration, ColumnPoints
from ..columns.scratch import ColumnScratch
from ..columns.sweep import when
from ..parameters import Parameters
from ..shared import SharedMemory
from .block_scan import BlockScan
from .parts import Parts, chunks_of


class ScanColumns:
    """Emits the body of one kernel: of totals of the parts, or of results.

    `totals` are the scratch buffers of parts' totals, one for each scan.
    """

    def __init__(
        self,
        plan: ColumnPlan,
        is_reverse: bool,
        parts: Parts | None,
        parameters: Parameters,
        shared: SharedMemory,
        totals: Sequence[ir.Value] = (),
    ) -> None:
        self._plan, self._is_reverse, self._parts = plan, is_reverse, parts
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
        self._values = [scan for scan in self._scans for _ in range(plan.width)]
        self._parameters, self._shared = parameters, shared
        self._scratch = ColumnScratch(plan, parameters, vector, self._scans, totals)

    def emit(self) -> None:
        """A loop over chunks that carries what came before."""
        points = self._points
        self._prepare([*points.yielded, *(scan.operand for scan in self._scans)])
        points.access.begin(self._space.work.outputs)
        self._block = self._block_scan() if self._plan.depth > 1 else None
        starts = [scan.start()[0] for scan in self._values]
        part: ir.Value | None = None
        if self._parts is not None:
            # The last part first: the kernel before this one has just read it.
            last = arith.subi(gpu.grid_dim(gpu.Dimension.y), index_constant(1))
            part = arith.subi(last, gpu.block_id(gpu.Dimension.y))
            before = self._scratch.merged(self._row, self._plan.depth, part, None)
            starts = self._block_scan().prefixes([before], index_constant(0))[1]
        loop = self._over_chunks(part, starts)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(self._chunk(loop.induction_variable, list(loop.inner_iter_args)))

    def emit_totals(self) -> None:
        """What the iterations of a part have in all."""
        self._prepare([scan.operand for scan in self._scans])
        part, width = gpu.block_id(gpu.Dimension.y), self._plan.width
        starts = [scan.start()[0] for scan in self._values]
        loop = self._over_chunks(part, starts)
        with ir.InsertionPoint(loop.body):
            iterations, _, _ = self._iterations(loop.induction_variable)
            running: list[ir.Value] = [*loop.inner_iter_args]
            for place, scan in enumerate(self._scans):
                for element, value in enumerate(self._through(iterations, scan)[-1]):
                    at = place * width + element
                    running[at] = scan.merged([running[at]], [value])[0]
            scf.YieldOp(running)
        _, found = self._block_scan().prefixes([list(loop.results)], index_constant(0))
        writes = arith.cmpi(arith.CmpIPredicate.eq, self._row, index_constant(0))
        if self._is_column is not None:
            writes = arith.andi(writes, self._is_column)
        with when(writes):
            self._scratch.write(part, found)

    def _prepare(self, values: Sequence[ir.Value]) -> None:
        self._points.prepare(values)
        self._operands = self._points.loaded(values)
        self._points.access.begin(self._operands)

    def _block_scan(self) -> BlockScan:
        return BlockScan(self._values, 1, self._plan.threads, self._plan.lanes, self._shared)

    def _over_chunks(self, part: ir.Value | None, starts: list[ir.Value]) -> scf.ForOp:
        """A loop over the block's chunks."""
        first = index_constant(0)
        chunks = arith.ceildivui(self._extent, index_constant(self._plan.chunk))
        if self._parts is not None and part is not None:
            each = self._parameters.size(self._parts.chunks)
            first, chunks = chunks_of(part, each, chunks)
        return scf.ForOp(first, chunks, index_constant(1), starts)

    def _iterations(
        self, number: ir.Value
    ) -> tuple[list[ColumnIteration], list[ir.Value], list[ir.Value | None]]:
        """A chunk's iterations of the thread, their numbers, and which of them there are."""
        first = arith.muli(number, index_constant(self._plan.chunk))
        first = arith.addi(first, arith.muli(self._row, index_constant(self._plan.unroll)))
        numbers, valid = self._numbers(first)
        return self._points.iterations(self._operands, numbers, valid), numbers, valid

    def _chunk(self, number: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        iterations, numbers, valid = self._iterations(number)
        if self._block is None:
            carried = self._go_on(iterations, carried)
            self._store(iterations, numbers, valid)
            return carried
        through = [self._through(iterations, scan) for scan in self._scans]
        totals = [value for scan in through for value in scan[-1]]
        turn = arith.remui(number, index_constant(2))
        (before,), block = self._block.prefixes([totals], turn)
        width = self._plan.width
        for place, scan in enumerate(self._scans):
            for element in range(width):
                at = place * width + element
                prefix = scan.merged([carried[at]], [before[at]])[0]
                self._know(
                    scan, iterations, [each[element] for each in through[place]], prefix, element
                )
        self._store(iterations, numbers, valid)
        return [
            scan.merged([one], [other])[0]
            for scan, one, other in zip(self._values, carried, block, strict=True)
        ]

    def _go_on(
        self, iterations: Sequence[ColumnIteration], carried: list[ir.Value]
    ) -> list[ir.Value]:
        """Sets the results of a thread that has whole columns; returns the last of each column."""
        last: list[ir.Value] = []
        for place, scan in enumerate(self._scans):
            for element in range(self._plan.width):
                so_far = carried[place * self._plan.width + element]
                for iteration in iterations:
                    value = self._value(iteration, scan, element)
                    so_far = self._known(scan, iteration, element, so_far, (so_far, value))
                last.append(so_far)
        return last

    def _value(self, iteration: ColumnIteration, scan: Collective, element: int) -> ir.Value:
        """Returns the value to scan at a point: past the last iteration the neutral element."""
        value = iteration.points[element].value(scan.operand)
        if iteration.valid is None:
            return value
        return arith.select(iteration.valid, value, scan.start()[0])

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
            values = [self._value(iteration, scan, place) for place in range(self._plan.width)]
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
        """Sets a scan's results in a column."""
        so_far = prefix
        for iteration, value in zip(iterations, through, strict=True):
            so_far = self._known(scan, iteration, element, so_far, (prefix, value))

    def _known(
        self,
        scan: Collective,
        iteration: ColumnIteration,
        element: int,
        before: ir.Value,
        merged: tuple[ir.Value, ir.Value],
    ) -> ir.Value:
        """Merges two values to a point's inclusive result, and sets the scan's result there."""
        one, other = merged
        through = scan.merged([one], [other])[0]
        is_exclusive = "exclusive" in scan.op.attributes
        iteration.points[element].known[scan.op.results[0]] = before if is_exclusive else through
        return through

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
