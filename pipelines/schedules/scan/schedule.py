"""The scan schedule: running reductions along one loop, any number of them side by side.

Along memory a block takes a row, along an outer loop some columns; both in chunks whose threads
scan what they hold, then across the warp by shuffles and across the block by shared memory. Few
long scans are shared by several blocks each (`parts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ....dialects.mlir import arith, ir
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions, emit_first_that_holds
from ..collective import Collective, levels_of
from ..columns.plan import MOST_COPIES, ColumnPlan
from ..columns.schedule import require_vectors
from ..columns.space import SCAN, ColumnSpace, lies_side_by_side, read_space, widest
from ..configuration import Chooser, is_power_of_two, threads_refusal
from ..dependents import await_previous, can_overlap, let_next_begin
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import ANY, Kernels
from ..launch import emit_launch, operation_name, power_of_two, thread_bound
from ..parameters import Parameters
from ..rows.space import RowSpace
from ..scratch import allocate_scratch, free_scratch
from ..shared import SharedMemory
from ..size import MOST_IN_32_BITS, ONE, ZERO, Size
from ..space import Loop, collapsed
from ..work import Work
from .columns import ScanColumns
from .configuration import Kind, ScanConfiguration
from .parts import Extent, Parts, extent_of, parts_of
from .rows import ScanRowPlan, ScanRows

# Elements that are accessed one by one a thread has together.
_ELEMENTS = 4


def chooser(work: Work, kernels: Kernels, device: Device) -> ScanChooser | None:
    """Decides on the kernels; None where a region does not only scan, along one loop."""
    if not work.collectives or any(op.name != SCAN for op in work.collectives):
        return None
    if len(work.collective) != 1 or len(levels_of(work)) != 1:
        return None
    reverse = {"reverse" in op.attributes for op in work.collectives}
    (loop,) = work.collective
    if len(reverse) > 1 or work.extents[loop] == ONE:
        return None
    if any(operand.strides[loop] == ZERO for operand in work.outputs):
        return None
    space = read_space(work, scans=True)
    is_reverse = reverse.pop()
    if space is not None:
        return _ColumnChooser(space, is_reverse, kernels, device)
    return _RowChooser(work, is_reverse, kernels, device)


_Body = ScanRows | ScanColumns
_Emitter = Callable[[Parameters, SharedMemory, Sequence[ir.Value]], _Body]


class ScanChooser(Chooser[ScanConfiguration]):
    """What choosers of rows and of columns share."""

    def __init__(self, work: Work, is_reverse: bool, kernels: Kernels, device: Device) -> None:
        self.work = work
        self._is_reverse, self._kernels, self._device = is_reverse, kernels, device
        self._table = device.tables.scan
        self._scans = tuple(Collective(op) for op in work.collectives)

    def refusal(self, made: ScanConfiguration) -> str | None:
        if not is_power_of_two(made.width) or not is_power_of_two(made.lanes):
            return "'width' and 'lanes' are powers of two"
        if made.vectors < 1 or made.vectors * made.width > MOST_COPIES:
            return f"'vectors' is at least 1, and 'vectors' times 'width' at most {MOST_COPIES}"
        return threads_refusal(made.threads, self._device)

    def _shared_refusal(self, made: ScanConfiguration, values: int, segments: int) -> str | None:
        """Why a block's shared memory does not hold totals of `values` for each scan, twice."""
        parts = made.threads // self._device.lanes * segments * made.lanes
        bytes_ = sum(element_bytes(scan.operand.type) for scan in self._scans)
        if 2 * 2 * bytes_ * parts * values <= self._device.shared_bytes:
            return None
        return f"totals of a block's warps have at most {self._device.shared_bytes} bytes"

    def _split_refusal(self, made: ScanConfiguration, extent: Extent) -> str | None:
        found = Conditions(self.work.open)
        extent.require_long(found, self._device)
        if made.split and (found.never or made.short):
            return "'split' is false where scans are short, or as many as fill the device"
        return None

    def _launch(
        self,
        made: ScanConfiguration,
        extent: Extent,
        room: Size,
        body: Callable[[Parts | None], _Emitter],
    ) -> None:
        """One kernel, or one before it where there are parts; totals of a part take `room`."""
        open_, device = self.work.open, self._device
        if not made.split:
            self._emit(made, extent, None, body(None))
            return
        parts = parts_of(extent, open_, device)
        count = parts.blocks * room
        totals = [allocate_scratch(count, scan.operand.type, open_) for scan in self._scans]

        def reduce() -> None:
            self._emit(made, extent, parts, body(parts), totals, is_first=True)

        def has_parts(found: Conditions) -> None:
            if not parts.count.is_known:
                found.require_at_least(parts.count, 2)

        emit_first_that_holds(open_, [(has_parts, reduce)], lambda: None)
        self._emit(made, extent, parts, body(parts), totals)
        free_scratch(totals)

    def _emit(
        self,
        made: ScanConfiguration,
        extent: Extent,
        parts: Parts | None,
        body: _Emitter,
        totals: Sequence[ir.Value] = (),
        *,
        is_first: bool = False,
    ) -> None:
        """Makes a kernel, and launches it."""
        work, device = self.work, self._device
        found: list[tuple[Parameters, SharedMemory]] = []

        def emit(entry: ir.Block) -> None:
            parameters, shared = Parameters(entry, work.open), SharedMemory()
            found.append((parameters, shared))
            if is_first:
                let_next_begin(device)
            elif parts is not None:
                await_previous(device)
            emitted = body(parameters, shared, totals)
            if is_first:
                emitted.emit_totals()
            else:
                emitted.emit()

        name = operation_name(work.op) + ("_part" if is_first else "")
        place = work.op.location
        bound = thread_bound(made.threads, device) if made.open else {}
        threads = None if made.open else made.threads
        are_vectors = made.width > 1 and made.kernel is not Kind.ELEMENTS
        group = work.group("vectors" if are_vectors else ANY)
        kernel = self._kernels.build(name, threads, emit, place, bound, made.attribute, group)
        ((parameters, shared),) = found
        blocks, rows = work.open.value(extent.blocks), None
        if parts is not None:
            rows = work.open.value(parts.count)
        overlaps = parts is not None and not is_first and can_overlap(device)
        in_x, block_rows = self._threads(made, extent), None
        if isinstance(in_x, ir.Value) and made.rows > 1:
            # Blocks of as many rows as their threads make teams.
            block_rows = arith.divui(index_constant(made.threads), in_x)
            blocks = arith.ceildivui(blocks, block_rows)
        emit_launch(
            kernel,
            blocks,
            in_x,
            parameters.arguments(),
            shared.bytes,
            rows,
            overlaps=overlaps,
            block_rows=block_rows,
        )

    def _threads(self, made: ScanConfiguration, extent: Extent) -> int | ir.Value:
        """The threads of a block in x: where the launch says it, whole warps with all vectors,
        or the lanes of a row.
        """
        if not made.open:
            return made.threads
        if made.rows > 1:
            return power_of_two(self.work.open.value(extent.length), WARP_LANES)
        step = index_constant(self._device.lanes * made.vectors * made.width)
        warps = arith.ceildivui(self.work.open.value(extent.length), step)
        warps = arith.minui(warps, index_constant(made.threads // self._device.lanes))
        return arith.muli(warps, index_constant(self._device.lanes))


class _ColumnChooser(ScanChooser):
    """Neighbouring elements belong to different scans."""

    def __init__(
        self, space: ColumnSpace, is_reverse: bool, kernels: Kernels, device: Device
    ) -> None:
        super().__init__(space.work, is_reverse, kernels, device)
        self._space = space

    def choices(self) -> Sequence[ScanConfiguration]:
        widths = list(dict.fromkeys((self._widest, 1)))
        alone = [self._open_alone(width) for width in widths]
        found = [*alone, *(self._choice(width) for width in widths)]
        return [*dict.fromkeys(each for each in found if each is not None)]

    def refusal(self, made: ScanConfiguration) -> str | None:
        if made.kernel is not Kind.COLUMNS or made.short or made.open or made.rows != 1:
            return "'kernel' is columns, and not 'short': neighbours belong to different scans"
        if made.width > self._widest:
            return f"'width' is at most {self._widest}: 16 bytes of columns that lie together"
        if made.lanes > self._device.lanes and made.lanes != made.threads:
            return f"'lanes' are at most {self._device.lanes}, or as many as 'threads'"
        if made.lanes == made.threads and made.split:
            return "'split' is false where each thread scans its columns alone"
        return (
            super().refusal(made)
            or self._shared_refusal(made, made.width, 1)
            or self._split_refusal(made, self._extent(made))
        )

    def alternative(self, made: ScanConfiguration) -> Alternative:
        plan, space = self._plan(made), self._space

        def conditions(found: Conditions) -> None:
            found.require(space.work.layouts_hold())
            found.require_at_most(space.iterations, MOST_IN_32_BITS)
            found.require_at_most(space.columns, MOST_IN_32_BITS)
            if made.lanes == made.threads:
                found.require_at_least(space.columns, self._least_alone * plan.width)
            if plan.width > 1:
                require_vectors(plan, found)

        def body(parts: Parts | None) -> _Emitter:
            return lambda parameters, shared, totals: ScanColumns(
                plan, self._is_reverse, parts, parameters, shared, totals
            )

        def launch() -> None:
            self._launch(made, self._extent(made), Size(plan.block_columns), body)

        return conditions, launch

    @property
    def _widest(self) -> int:
        """The widest vectors that may make whole rows of columns."""
        if not lies_side_by_side(self._space):
            return 1
        width, extent = widest(self._space), self._space.lane.extent
        while extent.is_known and extent.known % width:
            width //= 2
        return width

    def _choice(self, width: int) -> ScanConfiguration:
        table, columns = self._table, self._space.columns
        if (alone := self._alone(width)) is not None:
            return alone
        lanes = table.few_lanes
        if columns.is_known:
            vectors = -(-columns.known // width)
            if vectors >= 2 * self._device.multiprocessors * table.lanes:
                lanes = table.lanes
            while lanes > 1 and lanes >= 2 * vectors:
                lanes //= 2
        iterations, threads = self._iterations(width), table.column_threads
        made = ScanConfiguration(Kind.COLUMNS, width, iterations, threads, lanes, split=True)
        if self._split_refusal(made, self._extent(made)) is None:
            return made
        length = self._space.iterations
        # Threads past the end of a short scan would merge as much as the others.
        while (
            length.is_known
            and threads > self._device.lanes
            and (threads // lanes // 2 * iterations >= length.known)
        ):
            threads //= 2
        return replace(made, threads=threads, split=False)

    def _alone(self, widest: int) -> ScanConfiguration | None:
        """Returns a configuration in which each thread scans its own vector of columns.

        Nothing is then merged across threads. Vectors are as wide as leaves enough of them to fill
        the device; each thread loads enough at once to keep the memory busy. Returns None where
        there are too few columns, or sizes are open.
        """
        device, table, space = self._device, self._table, self._space
        if not space.columns.is_known or not space.iterations.is_known:
            return None
        columns, length = space.columns.known, space.iterations.known
        width, least = widest, self._least_alone
        while width > 1 and columns < least * width:
            width //= 2
        if columns < least * width or not length:
            return None
        size = columns * min(element_bytes(each.element) for each in space.large)
        under_way = -(-device.multiprocessors * device.bytes_in_flight // size)
        most = min(max(table.iterations, under_way), MOST_COPIES // width, length)
        # Chunks of equal length.
        iterations = -(-length // -(-length // most))
        threads = table.column_threads
        return ScanConfiguration(Kind.COLUMNS, width, iterations, threads, lanes=threads)

    def _open_alone(self, width: int) -> ScanConfiguration | None:
        """The same of open sizes, for as many columns as the launch asks for."""
        columns, least = self._space.columns, self._least_alone * width
        is_known = columns.is_known and self._space.iterations.is_known
        if is_known or (columns.is_known and columns.known < least):
            return None
        threads = self._table.column_threads
        iterations = self._iterations(width)
        return ScanConfiguration(Kind.COLUMNS, width, iterations, threads, lanes=threads)

    def _iterations(self, width: int) -> int:
        """The iterations that a thread has at once of vectors, or of single columns."""
        return self._table.iterations * (1 if width > 1 else 2)

    @property
    def _least_alone(self) -> int:
        """The vectors that fill the device where each has a thread."""
        device = self._device
        return device.multiprocessors * device.threads // self._table.alone_share

    def _plan(self, made: ScanConfiguration) -> ColumnPlan:
        return ColumnPlan(self._space, made.width, made.lanes, made.vectors, made.threads)

    def _extent(self, made: ScanConfiguration) -> Extent:
        """Emits arithmetic of the host where sizes are open."""
        plan, open_ = self._plan(made), self.work.open
        blocks = open_.divided_up(self._space.columns, plan.block_columns)
        return extent_of(blocks, self._space.iterations, plan.chunk, made.threads, self._device)


class _RowChooser(ScanChooser):
    """Neighbouring elements belong to one scan."""

    def __init__(self, work: Work, is_reverse: bool, kernels: Kernels, device: Device) -> None:
        super().__init__(work, is_reverse, kernels, device)
        (loop,) = work.collective
        strides = tuple(operand.strides[loop] for operand in work.operands)
        inner = Loop((loop,), work.extents[loop], strides)
        self._space = RowSpace(work, tuple(collapsed(work, work.parallel)), (inner,))

    def choices(self) -> Sequence[ScanConfiguration]:
        found = [self._elements()]
        if all(self._space.is_contiguous(operand) for operand in self._space.along):
            found = [self._rows(), *found]
        if not self._space.length.is_known:
            # After those of whole vectors that fill a warp.
            found.insert(len(found) > 1, self._teams())
        return found

    def refusal(self, made: ScanConfiguration) -> str | None:
        space = self._space
        if made.kernel is Kind.COLUMNS or made.lanes > 1:
            return "'kernel' is rows or elements, and 'lanes' 1: neighbours belong to one scan"
        if made.kernel is Kind.ROWS and not all(map(space.is_contiguous, space.along)):
            return "'kernel' is elements where those of a row do not lie together"
        if made.width > self._width:
            return f"'width' is at most {self._width}: 16 bytes"
        if made.vectors * made.threads > self._device.lanes**2:
            return f"'vectors' times 'threads' is at most {self._device.lanes**2}"
        plain = super().refusal(made) or self._rows_refusal(made)
        if plain is not None:
            return plain
        length = space.length
        chunk = made.threads // made.rows * made.vectors * made.width
        if made.short and length.is_known and not 0 < length.known <= chunk:
            return f"'short' is false where rows do not have 1 to {chunk} elements"
        if made.open and length.is_known:
            return "'open' is false where the length of rows is known"
        return self._shared_refusal(made, 1, made.vectors) or self._split_refusal(
            made, self._extent(made)
        )

    def _rows_refusal(self, made: ScanConfiguration) -> str | None:
        if made.rows == 1:
            return None
        if made.open:
            is_team = made.kernel is Kind.ELEMENTS and not (made.short or made.split)
            if not is_team or made.threads != made.rows * WARP_LANES:
                most = made.threads // WARP_LANES
                return f"open 'rows' of 'kernel' elements are {most}, neither 'short' nor 'split'"
            return None
        if not made.short or made.vectors != 1:
            return "'rows' is 1 where they are not 'short', or a thread has several vectors"
        if made.rows < 1 or not is_power_of_two(made.rows) or made.threads % made.rows:
            return f"'rows' is a power of two that divides {made.threads}, the threads"
        lanes = made.threads // made.rows
        if not is_power_of_two(lanes) or lanes > WARP_LANES:
            return f"'threads' are 'rows' times a power of two, at most {WARP_LANES}"
        return None

    def alternative(self, made: ScanConfiguration) -> Alternative:
        plan, space = self._plan(made), self._space

        def conditions(found: Conditions) -> None:
            found.require(space.work.layouts_hold())
            # With all their parts they are numbered in 32 bits.
            found.require_at_most(space.count, MOST_IN_32_BITS)
            if plan.is_one_chunk:
                found.require_at_least(space.length, 1)
                found.require_at_most(space.length, plan.chunk)
            if plan.has_open_teams:
                found.require_at_most(space.length, self._table.team_length)
            elif plan.is_open:
                # Of shorter ones several share a warp.
                warp = plan.chunk // plan.threads * self._device.lanes
                found.require_at_least(space.length, warp // 2)
            if plan.is_whole:
                self._require_aligned(plan, found)

        def body(parts: Parts | None) -> _Emitter:
            whole = replace(plan, parts=parts)
            return lambda parameters, shared, totals: ScanRows(whole, parameters, shared, totals)

        return conditions, lambda: self._launch(made, self._extent(made), ONE, body)

    def _require_aligned(self, plan: ScanRowPlan, found: Conditions) -> None:
        space = self._space
        found.require_multiple(space.length, plan.width)
        for operand in space.along:
            size = element_bytes(operand.element)
            alignment = min(ACCESS_BYTES, plan.width * size)
            found.require_aligned(operand, alignment)
            for loop in space.rows:
                found.require_multiple(space.stride(operand, loop), alignment // size)

    @property
    def _width(self) -> int:
        return ACCESS_BYTES // min(element_bytes(each.element) for each in self._space.along)

    def _rows(self) -> ScanConfiguration:
        """The one for whole vectors."""
        if self._space.length.is_known:
            return self._of_known_length(Kind.ROWS, self._width)
        return replace(self._split(Kind.ROWS, self._width, self._table.threads), open=True)

    def _elements(self) -> ScanConfiguration:
        """The one for elements that are accessed one by one."""
        width = min(_ELEMENTS, self._width)
        if self._space.length.is_known:
            return self._of_known_length(Kind.ELEMENTS, width)
        return self._split(Kind.ELEMENTS, width, self._table.element_threads)

    def _teams(self) -> ScanConfiguration:
        """The one for short rows that share a warp, whose elements are accessed one by one."""
        table = self._table
        threads, rows = table.packed_threads, table.packed_threads // WARP_LANES
        return ScanConfiguration(Kind.ELEMENTS, 1, table.iterations, threads, open=True, rows=rows)

    def _of_known_length(self, kind: Kind, width: int) -> ScanConfiguration:
        """Few threads without work for short rows; several blocks for few long ones."""
        table, length = self._table, self._space.length.known
        packed = self._packed(kind)
        if packed is not None:
            return packed
        split = self._split(kind, width, table.split_threads)
        if split.split:
            return split
        needed = -(-length // width)
        threads = self._device.lanes
        while threads < table.threads and threads * table.vectors < needed:
            threads *= 2
        vectors = 1 if needed <= threads else table.vectors
        is_short = 0 < length <= threads * vectors * width
        return ScanConfiguration(kind, width, vectors, threads, short=is_short)

    def _packed(self, kind: Kind) -> ScanConfiguration | None:
        """Returns a configuration of several rows a block, None where a warp cannot hold a row."""
        threads, length = self._table.packed_threads, self._space.length.known
        if not length:
            return None
        if kind is Kind.ROWS:
            width = ACCESS_BYTES // max(element_bytes(each.element) for each in self._space.along)
            while length % width:
                width //= 2
        else:
            width = 1
            while width < _ELEMENTS and length > width * WARP_LANES:
                width *= 2
        lanes = 1 << (-(-length // width) - 1).bit_length()
        if lanes > WARP_LANES:
            return None
        return ScanConfiguration(kind, width, 1, threads, short=True, rows=threads // lanes)

    def _split(self, kind: Kind, width: int, threads: int) -> ScanConfiguration:
        """Split where rows may be few and long."""
        made = ScanConfiguration(kind, width, self._table.vectors, threads, split=True)
        if self._split_refusal(made, self._extent(made)) is not None:
            return replace(made, split=False)
        return made

    def _plan(self, made: ScanConfiguration) -> ScanRowPlan:
        return ScanRowPlan(
            self._space,
            self._scans,
            self._is_reverse,
            made.threads,
            made.vectors,
            made.width,
            made.kernel is Kind.ROWS,
            made.short,
            made.open,
            rows=made.rows,
        )

    def _extent(self, made: ScanConfiguration) -> Extent:
        chunk = made.threads // made.rows * made.vectors * made.width
        space = self._space
        # Of open teams the launch says how many rows a block has.
        blocks = self.work.open.divided_up(space.count, 1 if made.open else made.rows)
        return extent_of(blocks, space.length, chunk, made.threads, self._device)
