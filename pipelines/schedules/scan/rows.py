"""The kernels of scans along memory: a block a row, or a part of one, in chunks taken at once."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..collective import Collective
from ..columns.sweep import when
from ..elements import address, load, store
from ..parameters import Parameters
from ..region import Point, Region
from ..rows.access import RowAccess
from ..rows.space import RowSpace
from ..rows.vectors import operands_of
from ..shared import SharedMemory
from ..work import Operand
from .block_scan import BlockScan
from .parts import Parts, chunks_of


@dataclass(frozen=True)
class ScanRowPlan:
    """A thread takes `segments` vectors of `width` elements of each chunk, a block apart.

    If it `is_whole`, a vector is one access, and rows are a whole number of vectors; else elements
    are accessed one by one. If it `is_one_chunk`, no row is empty or longer than a chunk. If it
    `is_open`, the launch says how many threads there are, up to these. Each of a row's `parts` has
    its own block. Several `rows` have equal parts of a warp's lanes: those of one chunk and one
    segment, or open ones, of any length, of which the launch says how many a block has, these at
    least.
    """

    space: RowSpace
    scans: tuple[Collective, ...]
    is_reverse: bool
    threads: int
    segments: int
    width: int
    is_whole: bool
    is_one_chunk: bool
    is_open: bool = False
    parts: Parts | None = None
    rows: int = 1

    @property
    def chunk(self) -> int:
        """The elements of a row that its threads take at once, or may."""
        return self.threads // self.rows * self.segments * self.width

    @property
    def has_open_teams(self) -> bool:
        """Whether the launch says how many lanes a row has."""
        return self.is_open and self.rows > 1


@dataclass
class _Vector:
    """A thread's vector in the order of the scan: where each element is, and whether it is one."""

    places: list[ir.Value]
    valid: list[ir.Value | None]
    points: list[Point]


class ScanRows:
    """Emits the body of one kernel: of totals of the parts, or of results.

    `totals` are the scratch buffers of parts' totals, one for each scan.
    """

    def __init__(
        self,
        plan: ScanRowPlan,
        parameters: Parameters,
        shared: SharedMemory,
        totals: Sequence[ir.Value] = (),
    ) -> None:
        self._plan = plan
        self._work = plan.space.work
        self._region = Region(self._work, parameters)
        self._parameters, self._shared = parameters, shared
        self._length = parameters.size(plan.space.length)
        self._totals = [parameters.pointer(buffer) for buffer in totals]
        self._thread = gpu.thread_id(gpu.Dimension.x)
        self._is_row: ir.Value | None = None

    def emit(self) -> None:
        """A loop over chunks that carries what came before, or the only one."""
        plan = self._plan
        number = gpu.block_id(gpu.Dimension.x)
        if plan.parts is not None:
            # The last part first: the kernel before this one has just read it.
            last = arith.subi(gpu.grid_dim(gpu.Dimension.x), index_constant(1))
            number = arith.subi(last, number)
        if plan.rows > 1:
            number = self._row_of_team(number)
        self._begin(number)
        self._prepare([*self._region.yielded, *(scan.operand for scan in plan.scans)])
        self._block = self._block_scan(plan.segments)
        starts = [scan.start()[0] for scan in plan.scans]
        if plan.is_one_chunk:
            self._chunk(index_constant(0), starts)
            return
        if plan.parts is not None:
            starts = self._before(number)
        loop = self._over_chunks(starts)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(self._chunk(loop.induction_variable, list(loop.inner_iter_args)))

    def emit_totals(self) -> None:
        """What the elements of a part are in all."""
        plan, number = self._plan, gpu.block_id(gpu.Dimension.x)
        self._begin(number)
        self._prepare([scan.operand for scan in plan.scans])
        loop = self._over_chunks([scan.start()[0] for scan in plan.scans])
        with ir.InsertionPoint(loop.body):
            running: list[ir.Value] = [*loop.inner_iter_args]
            first = arith.muli(loop.induction_variable, self._chunk_size)
            vectors = [self._vector(first, segment) for segment in range(plan.segments)]
            for vector in vectors:
                for place, scan in enumerate(plan.scans):
                    through = self._through(vector, scan)
                    running[place] = scan.merged([running[place]], [through[-1]])[0]
            scf.YieldOp(running)
        _, found = self._block_scan(1).prefixes([list(loop.results)], index_constant(0))
        is_first = arith.cmpi(arith.CmpIPredicate.eq, self._thread, index_constant(0))
        with when(is_first):
            for pointer, value in zip(self._totals, found, strict=True):
                store(address(pointer, value.type, number), value.type, [value], 1)

    def _begin(self, number: ir.Value) -> None:
        """Finds the row, and the part of it, of a block of this number."""
        plan, row = self._plan, number
        self._part: ir.Value | None = None
        if plan.parts is not None:
            count = self._parameters.size(plan.parts.count)
            row, self._part = arith.divui(number, count), arith.remui(number, count)
        scattered = frozenset[int]()
        if not plan.is_whole:
            scattered = frozenset(operand.number for operand in self._work.operands)
        self._access = RowAccess(plan.space, self._region, row, scattered)

    def _prepare(self, values: Sequence[ir.Value]) -> None:
        self._inputs = operands_of(self._plan.space, self._region, values)
        for value in values:
            self._access.point.prepare(value, self._plan.space.varying)

    def _block_scan(self, segments: int) -> BlockScan:
        plan = self._plan
        team = plan.threads // plan.rows if plan.rows > 1 else None
        return BlockScan(
            plan.scans, segments, plan.threads, 1, self._shared, is_open=plan.is_open, team=team
        )

    def _row_of_team(self, block: ir.Value) -> ir.Value:
        """Returns the row of a thread's team, at most the last row."""
        plan, count = self._plan, self._plan.space.count
        if plan.has_open_teams:
            rows = arith.muli(block, gpu.block_dim(gpu.Dimension.y))
            number = arith.addi(rows, gpu.thread_id(gpu.Dimension.y))
        else:
            team = index_constant(plan.threads // plan.rows)
            rows = arith.muli(block, index_constant(plan.rows))
            number = arith.addi(rows, arith.divui(self._thread, team))
            self._thread = arith.remui(self._thread, team)
            if count.is_multiple_of(plan.rows):
                return number
        end = self._parameters.size(count)
        self._is_row = arith.cmpi(arith.CmpIPredicate.ult, number, end)
        return arith.minui(number, arith.subi(end, index_constant(1)))

    @property
    def _chunk_size(self) -> ir.Value:
        """The elements of a row that its threads take at once."""
        plan = self._plan
        if plan.is_open:
            each = index_constant(plan.segments * plan.width)
            return arith.muli(gpu.block_dim(gpu.Dimension.x), each)
        return index_constant(plan.chunk)

    def _over_chunks(self, starts: list[ir.Value]) -> scf.ForOp:
        """A loop over the block's chunks."""
        plan = self._plan
        first, chunks = index_constant(0), arith.ceildivui(self._length, self._chunk_size)
        if plan.parts is not None and self._part is not None:
            each = self._parameters.size(plan.parts.chunks)
            first, chunks = chunks_of(self._part, each, chunks)
        return scf.ForOp(first, chunks, index_constant(1), starts)

    def _before(self, number: ir.Value) -> list[ir.Value]:
        """What the parts of the row before this one have in all."""
        plan = self._plan
        assert self._part is not None
        first = arith.subi(number, self._part)
        starts = [scan.start()[0] for scan in plan.scans]
        has_some = arith.cmpi(arith.CmpIPredicate.ne, self._part, index_constant(0))
        found = scf.IfOp(has_some, [value.type for value in starts], has_else=True)
        with ir.InsertionPoint(found.then_block):
            loop = scf.ForOp(self._thread, self._part, index_constant(plan.threads), starts)
            with ir.InsertionPoint(loop.body):
                where = arith.addi(first, loop.induction_variable)
                running: list[ir.Value] = []
                for scan, so_far, pointer in zip(
                    plan.scans, loop.inner_iter_args, self._totals, strict=True
                ):
                    kind = scan.operand.type
                    value = load(address(pointer, kind, where), kind, 1, 1)[0]
                    running.append(scan.merged([so_far], [value])[0])
                scf.YieldOp(running)
            block = self._block_scan(1)
            scf.YieldOp(block.prefixes([list(loop.results)], index_constant(0))[1])
        assert found.else_block is not None
        with ir.InsertionPoint(found.else_block):
            scf.YieldOp(starts)
        return list(found.results)

    def _chunk(self, number: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        plan = self._plan
        first = arith.muli(number, self._chunk_size)
        vectors = [self._vector(first, segment) for segment in range(plan.segments)]
        through = [[self._through(vector, scan) for scan in plan.scans] for vector in vectors]
        totals = [[each[-1] for each in segment] for segment in through]
        turn = arith.remui(number, index_constant(2))
        before, block = self._block.prefixes(totals, turn)
        for segment, vector in enumerate(vectors):
            for place, scan in enumerate(plan.scans):
                prefix = scan.merged([carried[place]], [before[segment][place]])[0]
                self._know(vector, scan, through[segment][place], prefix)
            with when(self._is_row):
                self._store(vector)
        if plan.is_one_chunk:
            return []
        return [
            scan.merged([one], [other])[0]
            for scan, one, other in zip(plan.scans, carried, block, strict=True)
        ]

    def _vector(self, first: ir.Value, segment: int) -> _Vector:
        """Loads a vector; elements past the end are ones of the chunk."""
        plan = self._plan
        number = self._thread
        if segment:
            threads = index_constant(plan.threads)
            if plan.is_open:
                threads = gpu.block_dim(gpu.Dimension.x)
            number = arith.addi(number, arith.muli(threads, index_constant(segment)))
        begin = arith.addi(first, arith.muli(number, index_constant(plan.width)))
        last = arith.subi(self._length, index_constant(1))
        is_full = plan.space.length.is_multiple_of(plan.chunk)
        valid: list[ir.Value | None] = []
        if plan.is_whole:
            is_there: ir.Value | None = None
            if not is_full:
                is_there = arith.cmpi(arith.CmpIPredicate.ult, begin, self._length)
                most = arith.subi(self._length, index_constant(plan.width))
                begin = arith.minui(begin, most)
            valid += [is_there] * plan.width
        places: list[ir.Value] = []
        for element in range(plan.width):
            place = arith.addi(begin, index_constant(element))
            if not plan.is_whole:
                valid.append(
                    None if is_full else arith.cmpi(arith.CmpIPredicate.ult, place, self._length)
                )
                place = place if is_full else arith.minui(place, last)
            places.append(arith.subi(last, place) if plan.is_reverse else place)
        loaded = {operand.number: self._load(operand, places) for operand in self._inputs}
        points = [
            self._point(place, {number: _at(each, element) for number, each in loaded.items()})
            for element, place in enumerate(places)
        ]
        return _Vector(places, valid, points)

    def _load(self, operand: Operand, places: Sequence[ir.Value]) -> list[ir.Value]:
        """The elements in the order of the scan."""
        if not self._plan.is_whole:
            return [self._access.load(operand, [place], 1)[0] for place in places]
        start = places[-1] if self._plan.is_reverse else places[0]
        found = self._access.load(operand, [start], self._plan.width)
        return found[::-1] if self._plan.is_reverse else found

    def _point(self, place: ir.Value, loaded: dict[int, ir.Value]) -> Point:
        return Point(
            self._region,
            self._plan.space.varying,
            lambda number: loaded[number],
            lambda number: self._access.index(number, [place], 0),
            self._access.point,
        )

    def _through(self, vector: _Vector, scan: Collective) -> list[ir.Value]:
        """For each element those of the vector up to it, merged."""
        found: list[ir.Value] = []
        for point, is_there in zip(vector.points, vector.valid, strict=True):
            value = point.value(scan.operand)
            if is_there is not None:
                value = arith.select(is_there, value, scan.start()[0])
            found.append(scan.merged([found[-1]], [value])[0] if found else value)
        return found

    def _know(
        self, vector: _Vector, scan: Collective, through: Sequence[ir.Value], prefix: ir.Value
    ) -> None:
        """Makes a scan's results known."""
        so_far = prefix
        for point, value in zip(vector.points, through, strict=True):
            next_ = scan.merged([prefix], [value])[0]
            known = so_far if "exclusive" in scan.op.attributes else next_
            point.known[scan.op.results[0]] = known
            so_far = next_

    def _store(self, vector: _Vector) -> None:
        found = [[point.value(value) for point in vector.points] for value in self._region.yielded]
        if self._plan.is_whole:
            is_reverse = self._plan.is_reverse
            start = vector.places[-1] if is_reverse else vector.places[0]
            with when(vector.valid[0]):
                for operand, values in zip(self._work.outputs, found, strict=True):
                    self._access.store(operand, [start], values[::-1] if is_reverse else values)
            return
        for element, place in enumerate(vector.places):
            with when(vector.valid[element]):
                for operand, values in zip(self._work.outputs, found, strict=True):
                    self._access.store(operand, [place], [values[element]])


def _at(values: Sequence[ir.Value], element: int) -> ir.Value:
    return values[element] if len(values) > 1 else values[0]
