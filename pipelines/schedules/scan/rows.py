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
from .parts import Parts


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
    """A thread's vector in the order of the scan: where each element is, and whether it is one.

    Places are those of an access that begins where the chunk does. Those of elements past the end
    are no element's.
    """

    access: RowAccess
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
        part: ir.Value | None = None
        if plan.parts is not None:
            # The last part first: the kernel before this one has just read it.
            last = arith.subi(gpu.grid_dim(gpu.Dimension.y), index_constant(1))
            part = arith.subi(last, gpu.block_id(gpu.Dimension.y))
        self._begin()
        self._prepare([*self._region.yielded, *(scan.operand for scan in plan.scans)])
        self._block = self._block_scan(plan.segments)
        starts = [scan.start()[0] for scan in plan.scans]
        zero, one = index_constant(0), index_constant(1)
        if plan.is_one_chunk:
            self._chunk(zero, zero, starts)
            return
        if part is not None:
            starts = self._before(part)
        loop = self._over_chunks(part, [zero, *starts])
        with ir.InsertionPoint(loop.body):
            turn, *carried = loop.inner_iter_args
            found = self._chunk(loop.induction_variable, turn, list[ir.Value](carried))
            scf.YieldOp([arith.subi(one, turn), *found])

    def emit_totals(self) -> None:
        """What the elements of a part are in all."""
        plan, part = self._plan, gpu.block_id(gpu.Dimension.y)
        self._begin()
        self._prepare([scan.operand for scan in plan.scans])
        loop = self._over_chunks(part, [scan.start()[0] for scan in plan.scans])
        with ir.InsertionPoint(loop.body):
            running: list[ir.Value] = [*loop.inner_iter_args]
            first = loop.induction_variable
            vectors = [self._vector(first, segment) for segment in range(plan.segments)]
            for vector in vectors:
                for place, scan in enumerate(plan.scans):
                    through = self._through(vector, scan)
                    running[place] = scan.merged([running[place]], [through[-1]])[0]
            scf.YieldOp(running)
        _, found = self._block_scan(1).prefixes([list(loop.results)], index_constant(0))
        is_first = arith.cmpi(arith.CmpIPredicate.eq, self._thread, index_constant(0))
        with when(is_first):
            where = arith.addi(self._first_part(), part)
            for pointer, value in zip(self._totals, found, strict=True):
                store(address(pointer, value.type, where), value.type, [value], 1)

    def _first_part(self) -> ir.Value:
        """The number of the row's first part."""
        return arith.muli(gpu.block_id(gpu.Dimension.x), gpu.grid_dim(gpu.Dimension.y))

    def _begin(self) -> None:
        """Finds the row."""
        plan, row = self._plan, gpu.block_id(gpu.Dimension.x)
        if plan.rows > 1:
            row = self._row_of_team(row)
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

    def _over_chunks(self, part: ir.Value | None, starts: Sequence[ir.Value]) -> scf.ForOp:
        """A loop over where the block's chunks begin."""
        plan, first, end = self._plan, index_constant(0), self._length
        if plan.parts is not None and part is not None:
            chunks = self._parameters.size(plan.parts.chunks)
            each = arith.muli(chunks, index_constant(plan.chunk))
            first = arith.muli(part, each)
            end = arith.minui(arith.addi(first, each), end)
        return scf.ForOp(first, end, self._chunk_size, starts)

    def _before(self, part: ir.Value) -> list[ir.Value]:
        """What the parts of the row before this one have in all."""
        plan, first = self._plan, self._first_part()
        starts = [scan.start()[0] for scan in plan.scans]
        has_some = arith.cmpi(arith.CmpIPredicate.ne, part, index_constant(0))
        found = scf.IfOp(has_some, [value.type for value in starts], has_else=True)
        with ir.InsertionPoint(found.then_block):
            loop = scf.ForOp(self._thread, part, index_constant(plan.threads), starts)
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

    def _chunk(self, first: ir.Value, turn: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        plan = self._plan
        vectors = [self._vector(first, segment) for segment in range(plan.segments)]
        through = [[self._through(vector, scan) for scan in plan.scans] for vector in vectors]
        totals = [[each[-1] for each in segment] for segment in through]
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
        """Loads a vector; the chunk's first elements stand in for those past the end."""
        plan, i32, index = self._plan, ir.IntegerType.get_signless(32), ir.IndexType.get()
        number = self._thread
        if segment:
            threads = index_constant(plan.threads)
            if plan.is_open:
                threads = gpu.block_dim(gpu.Dimension.x)
            number = arith.addi(number, arith.muli(threads, index_constant(segment)))
        begin = arith.muli(arith.index_cast(i32, number), arith.constant(i32, plan.width))
        left: ir.Value | None = None
        if not plan.space.length.is_multiple_of(plan.chunk):
            left = arith.minui(arith.subi(self._length, first), index_constant(plan.chunk))
            left = arith.index_cast(i32, left)
        if plan.is_reverse:
            first = arith.subi(arith.subi(self._length, index_constant(1)), first)
        access = self._access.moved([first])

        def place_of(within: ir.Value) -> ir.Value:
            if plan.is_reverse:
                within = arith.subi(arith.constant(i32, 0), within)
            return arith.index_cast(index, within)

        places: list[ir.Value] = []
        near: list[ir.Value] = []
        valid: list[ir.Value | None] = []
        for element in range(plan.width):
            within = arith.addi(begin, arith.constant(i32, element))
            places.append(place_of(within))
            if left is None or (plan.is_whole and element):
                valid.append(valid[0] if element else None)
            else:
                valid.append(arith.cmpi(arith.CmpIPredicate.ult, within, left))
            is_there = valid[-1]
            if is_there is not None:
                other = arith.constant(i32, element if plan.is_whole else 0)
                within = arith.select(is_there, within, other)
            near.append(place_of(within))
        loaded = {each.number: self._load(access, each, near) for each in self._inputs}
        points = [
            self._point(
                arith.addi(first, place),
                {number: _at(each, element) for number, each in loaded.items()},
            )
            for element, place in enumerate(near)
        ]
        return _Vector(access, places, valid, points)

    def _load(
        self, access: RowAccess, operand: Operand, places: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """The elements in the order of the scan."""
        if not self._plan.is_whole:
            return [access.load(operand, [place], 1)[0] for place in places]
        start = places[-1] if self._plan.is_reverse else places[0]
        found = access.load(operand, [start], self._plan.width)
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
        """For each element those of the vector up to it, merged.

        What stands in for elements past the end comes after all that there are.
        """
        found: list[ir.Value] = []
        for point in vector.points:
            value = point.value(scan.operand)
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
                    vector.access.store(operand, [start], values[::-1] if is_reverse else values)
            return
        for element, place in enumerate(vector.places):
            with when(vector.valid[element]):
                for operand, values in zip(self._work.outputs, found, strict=True):
                    vector.access.store(operand, [place], [values[element]])


def _at(values: Sequence[ir.Value], element: int) -> ir.Value:
    return values[element] if len(values) > 1 else values[0]
