"""The plans for a work's rows: one for a known length, or a few for classes of open lengths."""

from __future__ import annotations

from dataclasses import replace

from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES
from ..device import Device
from ..elements import ACCESS_BYTES
from .plan import BLOCK, CLUSTER_BLOCK, SPLIT_LENGTH, RowPlan
from .space import RowSpace
from .team import TeamShape

# Registers in which a thread keeps elements of a row, and in the blocks of a cluster, which have
# fewer threads.
_WORDS, _CLUSTER_WORDS = 32, 64
# The same of a short row, of which a warp keeps several.
_SHORT_WORDS = 16
# Blocks of a cluster: as few as hold a row.
_CLUSTERS = (2, 4, 8)
# Threads of a block that several rows share.
_SMALL_BLOCK = 128
# Bytes that a thread has under way where a row is read in batches, and where it is split.
_STREAM_BYTES, _SPLIT_BYTES = 64, 128
_MOST_LOADS = 16
# Bytes of a row that a thread keeps where the row is not long.
_FEW_BYTES = 32
# Vectors of fewer bytes are worse than those that begin where a row is aligned.
_NARROW_BYTES = 8


def plans(
    space: RowSpace, strided: RowSpace, device: Device, *, has_one_stage: bool
) -> list[RowPlan]:
    """Plans for a work's rows: the first whose conditions hold is the best. The last always does.

    `strided` are the same rows in buffers of which no layout is assumed. `has_one_stage` says that
    no reduction needs another's result, in one pass over the row.
    """
    only_reads = has_one_stage and not space.has_outputs_along
    if space.length.is_known:
        found = _of_known_length(space, device, only_reads)
    else:
        found = _of_open_length(space, device, only_reads)
    last = _Family(strided, device, 1, only_reads)
    return [*found, replace(last.any_length(), is_tall=not space.count.is_known)]


def _of_known_length(space: RowSpace, device: Device, only_reads: bool) -> list[RowPlan]:
    """The plans for rows of one length in memory without gaps; rows that are split have two."""
    widest = _usable_width(space)
    single = _Family(space, device, 1, only_reads)
    if widest > 1:
        whole = _Family(space, device, widest, only_reads)
        family = [*whole.in_warps(), *whole.in_blocks(), *whole.split(), *whole.stream()]
    elif single.in_warps():
        family = single.in_warps()
    elif _may_be_peeled(space, widest):
        peeled = _Family(space, device, space.widest, only_reads, peeled=True)
        family = [*peeled.in_blocks(), *peeled.split(), *peeled.stream()]
    else:
        family = [*single.in_blocks(), *single.split(), *single.stream()]
    return _first_that_fits(family)


def _of_open_length(space: RowSpace, device: Device, only_reads: bool) -> list[RowPlan]:
    """The plans for rows of any length in memory without gaps: shorter rows, whole vectors first.

    Long rows that can be peeled always are: of aligned rows nothing is peeled, and so few elements
    are no work beside a long row.
    """
    widest = _usable_width(space)
    single = _Family(space, device, 1, only_reads)
    peeled = _Family(space, device, space.widest, only_reads, peeled=True)
    may_be_peeled = _may_be_peeled(space, widest)
    found: list[RowPlan] = []
    if widest > 1:
        whole = _Family(space, device, widest, only_reads)
        # Between several loops rows are seldom short.
        found += whole.in_open_warps() if len(space.columns) == 1 else []
        found += whole.in_open_blocks()
        if not may_be_peeled:
            found += [*whole.split(), *whole.stream()]
    if may_be_peeled or not only_reads or widest == 1:
        found += single.in_open_warps()
    if may_be_peeled:
        found += [*peeled.in_open_blocks(), *peeled.split(), *peeled.stream()]
    else:
        found += [*single.in_open_blocks(), *single.split()]
    return found


def _first_that_fits(family: list[RowPlan]) -> list[RowPlan]:
    """Of plans for a known length with the same demands on addresses, the first that may hold."""
    found: list[RowPlan] = []
    for plan in family:
        if plan.split_rows is not None:
            count = plan.space.count
            if plan.space.length.known < SPLIT_LENGTH or (
                count.is_known and count.known > plan.split_rows
            ):
                continue
            if not count.is_known:
                found.append(plan)
                continue
        return [*found, plan]
    return found


def _usable_width(space: RowSpace) -> int:
    """The widest vectors that may make a whole number of a row's; 1 where peeling makes better."""
    width = _whole_width(space)
    is_narrow = width * ACCESS_BYTES < _NARROW_BYTES * space.widest
    return 1 if is_narrow and _may_be_peeled(space, width) else width


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


def _may_be_peeled(space: RowSpace, whole: int) -> bool:
    if len(space.columns) > 1 or space.widest == 1:
        return False
    if space.length.is_known and whole == space.widest:
        return False
    return any(space.is_contiguous(each) and space.is_large(each) for each in space.along)


@dataclass(frozen=True)
class _Family:
    """The plans with vectors of one width, for shorter rows first.

    Of rows that are read once and give one element, blocks keep nothing.
    """

    space: RowSpace
    device: Device
    width: int
    only_reads: bool
    peeled: bool = False

    def in_warps(self) -> list[RowPlan]:
        """For rows that some lanes of a warp take."""
        few, most = self._vectors(_SHORT_WORDS), self._vectors(_WORDS)
        needed = self._needed
        if needed > WARP_LANES * most:
            return []
        lanes = 1
        while lanes < WARP_LANES and lanes * few < needed:
            lanes *= 2
        return [self._lanes(lanes, -(-max(needed, 1) // lanes))]

    def in_blocks(self) -> list[RowPlan]:
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

    def in_open_warps(self) -> list[RowPlan]:
        """For short rows: as many lanes of a warp take one as it needs."""
        words = _WORDS if self.only_reads and self.width > 1 else _SHORT_WORDS
        team = TeamShape(WARP_LANES, _SMALL_BLOCK, rows=_SMALL_BLOCK // WARP_LANES, is_open=True)
        return [self._plan(team, self._vectors(words))]

    def in_open_blocks(self) -> list[RowPlan]:
        """For longer rows: as many warps as a row needs, of one block or of a cluster's."""
        if self.only_reads:
            return []
        blocks = min(self.device.cluster_blocks, _CLUSTERS[-1])
        team = TeamShape(WARP_LANES, BLOCK, blocks=blocks, is_open=True)
        return [self._plan(team, self._vectors(_WORDS))]

    def split(self) -> list[RowPlan]:
        """For few rows, none of which changes an output along it."""
        if not self.only_reads:
            return []
        rows = self.device.multiprocessors
        block = TeamShape(WARP_LANES, BLOCK)
        is_light = [op.name for op in self.space.work.collectives] == ["hir.reduce_loops"]
        vectors = self._batch(_SPLIT_BYTES if is_light else _STREAM_BYTES)
        return [RowPlan(self.space, block, self.width, vectors, True, self.peeled, split_rows=rows)]

    def stream(self) -> list[RowPlan]:
        """For rows of any length, one batch of vectors after another."""
        vectors = self._batch(_STREAM_BYTES)
        threads = BLOCK
        if self.space.length.is_known:
            warps = -(-self._needed // (vectors * WARP_LANES))
            threads = WARP_LANES * max(1, min(warps, BLOCK // WARP_LANES))
        team = TeamShape(WARP_LANES, threads, is_open=not self.space.length.is_known)
        return [RowPlan(self.space, team, self.width, vectors, True, self.peeled)]

    def any_length(self) -> RowPlan:
        """For rows that no other plan takes. They are kept if they are known to fit."""
        kept = [*self.in_warps(), *self.in_blocks()] if self.space.length.is_known else []
        return [*kept, *self.stream()][0]

    @property
    def _needed(self) -> int:
        """The vectors of a row whose length is known."""
        return -(-self.space.length.known // self.width)

    @property
    def _few(self) -> int:
        """The vectors of a thread in blocks for rows that are not long."""
        return max(1, _FEW_BYTES // (self.space.bytes * self.width))

    def _vectors(self, words: int) -> int:
        """The vectors that a thread can keep in so many registers."""
        return max(1, words // (self.space.words * self.width))

    def _batch(self, bytes_: int) -> int:
        """The vectors that a thread has under way to read so many bytes, and not too many loads."""
        return max(1, min(bytes_ // (self.space.bytes * self.width), _MOST_LOADS))

    def _plan(self, team: TeamShape, vectors: int) -> RowPlan:
        found = RowPlan(self.space, team, self.width, vectors, peeled=self.peeled)
        # Elements before or after the vectors are no vectors themselves.
        more = self.width - 1 if self.peeled else 0
        return replace(found, longest=found.team_threads * vectors * self.width + more)

    def _lanes(self, lanes: int, vectors: int) -> RowPlan:
        rows = _SMALL_BLOCK // lanes
        return self._plan(TeamShape(lanes, _SMALL_BLOCK, rows=rows), vectors)

    def _in_known_blocks(self, needed: int, blocks: int) -> RowPlan | None:
        """Few threads without work, and few vectors a thread where that allows."""
        few, most, limit = self._few, self._vectors(_WORDS), BLOCK
        if blocks > 1:
            most, limit = self._vectors(_CLUSTER_WORDS), CLUSTER_BLOCK
        best: tuple[float, RowPlan] | None = None
        for vectors in range(1, most + 1):
            warps = -(-needed // (vectors * WARP_LANES))
            if warps * WARP_LANES > limit:
                continue
            threads = max(1, warps) * WARP_LANES
            cost = threads * vectors / max(needed, 1) + 0.02 * abs(vectors - few)
            if best is None or cost < best[0]:
                team = TeamShape(WARP_LANES, threads, blocks=blocks)
                best = (cost, self._plan(team, vectors))
        return None if best is None else best[1]
