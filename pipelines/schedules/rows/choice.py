"""Configurations for a work's rows: one for a known length, or a few for classes of open ones."""

from __future__ import annotations

from dataclasses import replace

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES
from ..device import Device
from ..elements import ACCESS_BYTES, SECTOR_BYTES, element_bytes
from ..tables import RowTable
from .configuration import Kind, RowConfiguration, stage_refusal
from .element_cost import cost_of_element
from .space import RowSpace
from .split_bounds import SplitBounds, split_bounds

# Parts that fill a multiprocessor: with as many, mean binary cross-entropies of 8,388,608 elements
# took 26.6 us on an H200, in parts of a vector a thread 28.8.
_PARTS_OF_MULTIPROCESSOR = 8
# Blocks of a cluster: as few as hold a row.
_CLUSTERS = (2, 4, 8)


def choices(
    space: RowSpace, strided: RowSpace, device: Device, *, has_one_stage: bool
) -> list[RowConfiguration]:
    """Those for a work's rows: the first whose conditions hold is the best. The last always does.

    `strided` are the same rows in buffers of which no layout is assumed. `has_one_stage` says that
    no reduction needs another's result, in one pass over the row.
    """
    only_reads = has_one_stage and not space.has_outputs_along
    if space.length.is_known:
        found = _of_known_length(space, device, only_reads)
    else:
        found = _of_open_length(space, device, only_reads)
    last = _Family(strided, device, 1, only_reads).any_length()
    return [*found, replace(last, tall=not space.count.is_known, layout=strided.work.layout)]


def _of_known_length(space: RowSpace, device: Device, only_reads: bool) -> list[RowConfiguration]:
    """Those for rows of one length in memory without gaps; rows that are split have two."""
    widest = _usable_width(space, device.tables.rows)
    single = _Family(space, device, 1, only_reads)
    if widest > 1:
        whole = _Family(space, device, widest, only_reads)
        family = [*whole.in_warps(), *whole.in_blocks(), *whole.split(), *whole.stream()]
    elif single.in_warps():
        family = single.in_warps()
    elif may_be_peeled(space, widest):
        peeled = _Family(space, device, space.widest, only_reads, peeled=True)
        family = [*peeled.in_blocks(), *peeled.split(), *peeled.stream()]
    else:
        family = [*single.in_blocks(), *single.split(), *single.stream()]
    bounds = split_bounds(space, device, has_passes=not only_reads)
    found = _first_that_fits(family, space, bounds)
    if found[0].rows > 1 and _writes_parts_of_sectors(space, found[0], device):
        (made,) = _Family(space, device, _whole_width(space), only_reads).in_warps()
        staged = replace(made, staged=True)
        if stage_refusal(space, staged, device) is None:
            return [staged]
    return found


def _writes_parts_of_sectors(space: RowSpace, made: RowConfiguration, device: Device) -> bool:
    """Returns whether each sector of many rows would be written by several instructions: by lanes
    that have pieces of rows which begin anywhere in sectors.
    """
    table, count = device.tables.rows, space.count
    most = device.multiprocessors * device.threads
    if count.is_known and count.known * made.lanes * table.staged_share < most:
        return False
    for operand in space.packed:
        size = element_bytes(operand.element)
        row, vector = space.length.known * size, made.width * size
        piece = min(made.lanes * vector, row)
        if not operand.is_output or made.vectors == 1 or row % SECTOR_BYTES == 0:
            continue
        # A piece lies in so many sectors of all places that it may have.
        sectors = made.vectors * ((piece - vector) / SECTOR_BYTES + 1)
        if sectors * SECTOR_BYTES >= table.staged_sectors * row:
            return True
    return False


def _of_open_length(space: RowSpace, device: Device, only_reads: bool) -> list[RowConfiguration]:
    """Those for rows of any length in memory without gaps: shorter rows, whole vectors first.

    Long rows that can be peeled always are: of aligned rows nothing is peeled, and so few elements
    are no work beside a long row. Rows that are kept have a kernel for aligned ones besides, as the
    other one reads weights in pieces (H200: softmax takes 1.00 to 1.05 of the time in it, norms
    1.00 to 1.33).
    """
    widest = _usable_width(space, device.tables.rows)
    single = _Family(space, device, 1, only_reads)
    peeled = _Family(space, device, space.widest, only_reads, peeled=True)
    is_peeled = may_be_peeled(space, widest)
    # Between several loops rows are seldom short, and few rows leave room for a block each.
    count = space.count
    are_few = count.is_known and count.known <= device.multiprocessors
    has_short = len(space.columns) == 1 and (only_reads or not are_few)
    found: list[RowConfiguration] = []
    if widest > 1:
        whole = _Family(space, device, widest, only_reads)
        found += whole.in_open_warps() if has_short else []
        found += whole.in_open_blocks()
        if not is_peeled:
            found += whole.in_parts()
    if (is_peeled or widest == 1) if only_reads else has_short:
        found += single.in_open_warps()
    if is_peeled:
        found += [*peeled.in_open_blocks(), *peeled.in_parts()]
    else:
        found += [*single.in_open_blocks(), *single.split()]
    return found


def _first_that_fits(
    family: list[RowConfiguration], space: RowSpace, bounds: SplitBounds
) -> list[RowConfiguration]:
    """Of those for a known length with the same demands on addresses, the first that may hold."""
    found: list[RowConfiguration] = []
    count = space.count
    for made in family:
        if made.kernel is Kind.SPLIT:
            if not bounds.may_hold(count, space.length):
                continue
            if not count.is_known:
                found.append(made)
                continue
        return [*found, made]
    return found


def _usable_width(space: RowSpace, table: RowTable) -> int:
    """The widest vectors that may make a whole number of a row's; 1 where peeling makes better."""
    width = _whole_width(space)
    is_narrow = width * ACCESS_BYTES < table.narrow_bytes * space.widest
    return 1 if is_narrow and may_be_peeled(space, width) else width


def _whole_width(space: RowSpace) -> int:
    """The widest vectors that may make a whole number of a row's."""
    width = space.widest
    sizes = [space.inner.extent]
    for operand in space.along:
        if space.is_contiguous(operand):
            sizes += [space.stride(operand, loop) for loop in (*space.rows, *space.columns[:-1])]
    while any(size.is_known and size.known % width for size in sizes):
        width //= 2
    return width


def may_be_peeled(space: RowSpace, whole: int) -> bool:
    """Returns whether rows begin anywhere, and vectors of `whole` elements do not do for all."""
    if len(space.columns) > 1 or space.widest == 1:
        return False
    if space.length.is_known and whole == space.widest:
        return False
    return any(space.is_contiguous(each) and space.is_large(each) for each in space.along)


@dataclass(frozen=True)
class _Family:
    """Configurations with vectors of one width, for shorter rows first.

    Of rows that are read once and give one element, blocks keep nothing.
    """

    space: RowSpace
    device: Device
    width: int
    only_reads: bool
    peeled: bool = False

    def in_warps(self) -> list[RowConfiguration]:
        """For rows that some lanes of a warp take."""
        few, most = self._vectors(self._table.short_words), self._vectors(self._table.words)
        needed = self._needed
        if needed > WARP_LANES * most:
            return []
        lanes = 1
        while lanes < WARP_LANES and lanes * few < needed:
            lanes *= 2
        vectors, threads = -(-max(needed, 1) // lanes), self._table.small_block
        return [self._made(Kind.KEPT, vectors, threads, lanes=lanes, rows=threads // lanes)]

    def in_blocks(self) -> list[RowConfiguration]:
        """For rows that a block takes, or the blocks of a cluster."""
        if self.only_reads:
            return []
        for blocks in (1, *_CLUSTERS):
            if blocks > self.device.cluster_blocks:
                break
            found = self._in_known_blocks(-(-self._needed // blocks), blocks)
            if found is not None:
                return [found]
        return []

    def in_open_warps(self) -> list[RowConfiguration]:
        """For short rows: as many lanes of a warp take one as it needs."""
        table = self._table
        words = table.words if self.only_reads and self.width > 1 else table.short_words
        threads = table.small_block
        rows = threads // WARP_LANES
        return [self._made(Kind.KEPT, self._vectors(words), threads, rows=rows, open=True)]

    def in_open_blocks(self) -> list[RowConfiguration]:
        """For longer rows: of those that begin aligned a warp for each, or as many warps as a row
        needs, of one block or of a cluster's.
        """
        if self.only_reads:
            return []
        blocks = min(self.device.cluster_blocks, _CLUSTERS[-1])
        # What is computed in f64 takes twice the registers, and threads are as many.
        words = self._table.words // (2 if _is_wide(self.space) else 1)
        is_lone = words == self._table.words and self.space.is_one_of_words
        most = self._table.lone_words if is_lone else words
        vectors = max(1, 4 * most // self.space.held_bytes(self.width))
        made = self._made(Kind.KEPT, vectors, self._table.block, blocks=blocks, open=True)
        if self.peeled:
            return [made]
        threads, vectors = self._table.small_block, self._vectors(words)
        rows = threads // WARP_LANES
        warps = self._made(Kind.KEPT, vectors, threads, rows=rows)
        return [replace(warps, resident=made.resident), made]

    def in_parts(self) -> list[RowConfiguration]:
        """For rows of any open length: what splits few rows takes many too, but for sums."""
        split = self.split()
        return split if split and not self.only_reads else [*split, *self.stream()]

    def split(self) -> list[RowConfiguration]:
        """For few long rows."""
        count = self.space.count
        if count.is_known and count.known > self.device.multiprocessors:
            return []
        collectives = [op.name for op in self.space.work.collectives]
        is_light = self.only_reads and collectives == ["hir.reduce_loops"]
        bytes_ = self._table.split_bytes if is_light else self._table.stream_bytes
        vectors, threads = self._batch(bytes_), self._table.block
        cost = cost_of_element(self.space.work)
        is_heavy = self.only_reads and cost > self._table.byte_work * self.space.bytes
        if is_heavy and self._may_have_few_parts(vectors * threads * self.width):
            # The memory is not to be kept busy, and short rows are to have enough parts.
            work = threads * self.width * cost
            vectors = max(1, min(vectors, self._table.part_work // work))
        return [self._made(Kind.SPLIT, vectors, threads)]

    def _may_have_few_parts(self, size: int) -> bool:
        """Returns whether parts of so many elements may be too few to fill the device."""
        space = self.space
        if not space.length.is_known or not space.count.is_known:
            return True
        parts = space.count.known * (space.length.known // size)
        return parts < _PARTS_OF_MULTIPROCESSOR * self.device.multiprocessors

    def stream(self) -> list[RowConfiguration]:
        """For rows of any length, one batch of vectors after another."""
        vectors = self._batch(self._table.stream_bytes)
        threads, is_known = self._table.block, self.space.length.is_known
        if is_known:
            warps = -(-self._needed // (vectors * WARP_LANES))
            threads = WARP_LANES * max(1, min(warps, threads // WARP_LANES))
        return [self._made(Kind.STREAMED, vectors, threads, open=not is_known)]

    def any_length(self) -> RowConfiguration:
        """For rows that no other takes. They are kept if they are known to fit."""
        kept = [*self.in_warps(), *self.in_blocks()] if self.space.length.is_known else []
        return [*kept, *self.stream()][0]

    @property
    def _needed(self) -> int:
        """The vectors of a row whose length is known."""
        return -(-self.space.length.known // self.width)

    @property
    def _few(self) -> int:
        """The vectors of a thread in blocks for rows that are not long."""
        return max(1, self._table.few_bytes // (self.space.bytes * self.width))

    def _vectors(self, words: int) -> int:
        """The vectors that a thread can keep in so many registers."""
        return max(1, words // (self.space.words * self.width + self.space.place_words))

    def _batch(self, bytes_: int) -> int:
        """The vectors that a thread has under way to read so many bytes, and not too many loads."""
        return max(1, min(bytes_ // (self.space.bytes * self.width), self._table.most_loads))

    @property
    def _table(self) -> RowTable:
        return self.device.tables.rows

    def _made(
        self,
        kernel: Kind,
        vectors: int,
        threads: int,
        *,
        lanes: int = WARP_LANES,
        rows: int = 1,
        blocks: int = 1,
        open: bool = False,
    ) -> RowConfiguration:
        # Across a cluster one reduction costs more than what it takes to do two at once.
        merged = kernel is not Kind.KEPT or blocks > 1
        made = RowConfiguration(
            kernel,
            self.width,
            vectors,
            threads,
            lanes,
            rows,
            blocks,
            self.peeled,
            open,
            merged,
        )
        return replace(made, resident=_resident(self.space, made, self.device))

    def _in_known_blocks(self, needed: int, blocks: int) -> RowConfiguration | None:
        """Few threads without work, and few vectors a thread where that allows."""
        table = self._table
        few, most, limit = self._few, self._vectors(table.words), table.block
        if blocks > 1:
            most, limit = self._vectors(table.cluster_words), table.cluster_block
        best: tuple[float, int, int] | None = None
        for vectors in range(1, most + 1):
            warps = -(-needed // (vectors * WARP_LANES))
            if warps * WARP_LANES > limit:
                continue
            threads = max(1, warps) * WARP_LANES
            cost = threads * vectors / max(needed, 1) + 0.02 * abs(vectors - few)
            if best is None or cost < best[0]:
                best = (cost, vectors, threads)
        if best is None:
            return None
        _, vectors, threads = best
        return self._made(Kind.KEPT, vectors, threads, blocks=blocks)


def _resident(space: RowSpace, made: RowConfiguration, device: Device) -> int:
    """Returns how many blocks a multiprocessor is to hold at least: more of them have fewer
    registers.

    Half of what it takes, or two clusters' blocks; more where a thread holds little of a row and
    computes little of it, or rows are only read in batches.
    """
    table = device.tables.rows
    # Registers in which a thread holds elements of large inputs, as they lie in memory.
    held = -(-made.vectors * space.held_bytes(made.width) // 4)
    if _is_wide(space) and (made.open or made.blocks > 1):
        held *= 2
    is_simple = len(list(space.work.block)) <= table.few_operations
    if made.blocks > 1 and not made.open:
        return 3 if is_simple and held <= table.few_cluster_words else 2
    if made.threads < table.smallest_bound:
        return 1
    blocks = device.threads // made.threads
    is_kept = made.kernel is Kind.KEPT
    is_narrow = space.is_light or (is_simple and not _is_wide(space))
    if is_narrow and not is_kept and not space.has_outputs_along:
        return blocks * 3 // 4
    if not is_simple or made.threads < table.block or not is_kept or held > table.few_words:
        return blocks // 2
    return blocks * 3 // 4 if made.peeled else blocks


def _is_wide(space: RowSpace) -> bool:
    """Returns whether anything is computed in f64."""
    results = (value for each in space.work.block for value in each.operation.results)
    return any(isinstance(value.type, ir.F64Type) for value in results)
