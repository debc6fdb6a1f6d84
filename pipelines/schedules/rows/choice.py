"""The plans for a work's rows: by their length where it is known, or for classes of lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...lane_reduction import WARP_LANES
from ..device import Device
from ..elements import ACCESS_BYTES
from .plan import BLOCK, CLUSTER_BLOCK, SPLIT_LENGTH, RowPlan
from .space import RowSpace
from .team import TeamShape

# Registers in which a thread keeps elements of a row, and in the blocks of a cluster, which have
# fewer threads.
_WORDS, _CLUSTER_WORDS = 32, 64
# Threads of a block that several rows share.
_SMALL_BLOCK = 128
# Bytes that a thread has under way where a row is read in batches, and where it is split.
_STREAM_BYTES, _SPLIT_BYTES = 64, 128
_MOST_LOADS = 16
# Bytes of a row that a thread keeps where the row is not long.
_FEW_BYTES = 32
# Vectors of fewer bytes are worse than those that begin where a row is aligned.
_NARROW_BYTES = 8


def plans(space: RowSpace, device: Device, *, has_one_stage: bool) -> list[RowPlan]:
    """Plans for a work's rows: the first whose conditions hold is the best. The last always does.

    `has_one_stage` says that no reduction needs another's result, in one pass over the row.
    """
    only_reads = has_one_stage and not space.has_outputs_along
    widest = _whole_width(space)
    may_be_peeled = _may_be_peeled(space, widest)
    if may_be_peeled and widest * ACCESS_BYTES < _NARROW_BYTES * space.widest:
        widest = 1
    families: list[list[RowPlan]] = []
    if widest > 1:
        whole = _Family(space, device, widest, only_reads)
        families.append([*whole.in_warps(), *whole.in_blocks(), *whole.split(), whole.stream()])
    single = _Family(space, device, 1, only_reads)
    short = single.in_warps()
    if not may_be_peeled:
        families.append([*short, *single.in_blocks(), *single.split()])
    elif short:
        families.append(short)
    if may_be_peeled and not (short and space.length.is_known):
        peeled = _Family(space, device, space.widest, only_reads, peeled=True)
        families.append([*peeled.in_blocks(), *peeled.split(), peeled.stream()])
    if space.length.is_known:
        families = [_first_that_fits(family) for family in families]
    return [*(plan for family in families for plan in family), single.stream()]


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
        if not self.space.length.is_known:
            short = [self._lanes(8, self._vectors(16))] if self.width > 1 else []
            vectors = [self._vectors(words) for words in (16, _WORDS)[: len(short) + 1]]
            return [*short, *(self._lanes(WARP_LANES, count) for count in vectors)]
        needed = self._needed
        if needed > WARP_LANES * self._vectors(_WORDS):
            return []
        lanes = 1
        while lanes < WARP_LANES and lanes * self._vectors(16) < needed:
            lanes *= 2
        return [self._lanes(lanes, -(-max(needed, 1) // lanes))]

    def in_blocks(self) -> list[RowPlan]:
        """For rows that a block takes, or the blocks of a cluster."""
        if self.only_reads:
            return []
        if not self.space.length.is_known:
            return self._in_open_blocks()
        for blocks in (1, 2, 4, 8):
            if blocks > self.device.cluster_blocks:
                break
            found = self._in_known_blocks(-(-self._needed // blocks), blocks)
            if found is not None:
                return [found]
        return []

    def split(self) -> list[RowPlan]:
        """For few rows, none of which changes an output along it."""
        if not self.only_reads:
            return []
        rows = self.device.multiprocessors
        block = TeamShape(WARP_LANES, BLOCK)
        is_light = [op.name for op in self.space.work.collectives] == ["hir.reduce_loops"]
        vectors = self._batch(_SPLIT_BYTES if is_light else _STREAM_BYTES)
        return [RowPlan(self.space, block, self.width, vectors, True, self.peeled, split_rows=rows)]

    def stream(self) -> RowPlan:
        """For rows of any length, one batch of vectors after another."""
        vectors = self._batch(_STREAM_BYTES)
        threads: int | None = None
        if self.space.length.is_known:
            warps = -(-self._needed // (vectors * WARP_LANES))
            threads = WARP_LANES * max(1, min(warps, BLOCK // WARP_LANES))
        team = TeamShape(WARP_LANES, threads)
        return RowPlan(self.space, team, self.width, vectors, True, self.peeled)

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
        size = team.lanes if team.rows > 1 else found.most_threads * team.blocks
        return replace(found, longest=size * vectors * self.width)

    def _lanes(self, lanes: int, vectors: int) -> RowPlan:
        rows = _SMALL_BLOCK // lanes
        return self._plan(TeamShape(lanes, _SMALL_BLOCK, rows=rows), vectors)

    def _in_open_blocks(self) -> list[RowPlan]:
        """Blocks that have as many threads as the rows need."""
        few, most = self._few, self._vectors(_WORDS)
        block = TeamShape(WARP_LANES, None)
        found = [self._plan(block, most)]
        if few < most and not self.peeled:
            found.insert(0, self._plan(block, few))
        if self.device.cluster_blocks > 1:
            cluster = TeamShape(WARP_LANES, None, blocks=self.device.cluster_blocks)
            found.append(self._plan(cluster, self._vectors(_CLUSTER_WORDS)))
        return found

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
