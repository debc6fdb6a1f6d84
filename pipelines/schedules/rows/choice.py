"""The plans for a work's rows: by their length where it is known, or for classes of lengths."""

from __future__ import annotations

from dataclasses import replace

from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES
from ..device import Device
from ..elements import ACCESS_BYTES
from .plan import BLOCK, CLUSTER_BLOCK, MOST_PLACES, SPLIT_LENGTH, RowPlan
from .space import RowSpace
from .team import TeamShape

# Registers in which a thread keeps elements of a row, and in the blocks of a cluster, which have
# fewer threads.
_WORDS, _CLUSTER_WORDS = 32, 64
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
        families.append([*whole.in_warps(), *whole.in_blocks(), *whole.split(), *whole.stream()])
    single = _Family(space, device, 1, only_reads)
    short = single.in_warps()
    if not may_be_peeled:
        families.append([*short, *single.in_blocks(), *single.split()])
    elif short:
        families.append(short)
    if may_be_peeled and not (short and space.length.is_known):
        peeled = _Family(space, device, space.widest, only_reads, peeled=True)
        families.append([*peeled.in_blocks(), *peeled.split(), *peeled.stream()])
    if space.length.is_known:
        families = [_first_that_fits(family) for family in families]
    return [*(plan for family in families for plan in family), single.any_length()]


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
        few, most = self._vectors(16), self._vectors(_WORDS)
        if not self.space.length.is_known:
            short = [(8, few)] if self.width > 1 else []
            middle = [(WARP_LANES, most * 3 // 4)] if self.width > 1 else []
            lanes = [*short, (WARP_LANES, few), *middle, (WARP_LANES, most)]
            return self._classes([self._lanes(count, vectors) for count, vectors in lanes])
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
        if not self.space.length.is_known:
            return self._in_open_blocks()
        for blocks in (1, *_CLUSTERS):
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

    def stream(self) -> list[RowPlan]:
        """For rows of any length, one batch of vectors after another."""
        vectors = self._batch(_STREAM_BYTES)
        if self.space.length.is_known:
            warps = -(-self._needed // (vectors * WARP_LANES))
            return [self._streaming(WARP_LANES * max(1, min(warps, BLOCK // WARP_LANES)))]
        small, big = self._streaming(_SMALL_BLOCK), self._streaming(BLOCK)
        batch = BLOCK * vectors * self.width
        return [replace(small, longest=batch), replace(big, longest=MOST_PLACES), big]

    def any_length(self) -> RowPlan:
        """For rows that no other plan takes."""
        return self.stream()[-1]

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

    def _streaming(self, threads: int) -> RowPlan:
        team, vectors = TeamShape(WARP_LANES, threads), self._batch(_STREAM_BYTES)
        return RowPlan(self.space, team, self.width, vectors, True, self.peeled)

    def _lanes(self, lanes: int, vectors: int) -> RowPlan:
        rows = _SMALL_BLOCK // lanes
        return self._plan(TeamShape(lanes, _SMALL_BLOCK, rows=rows), vectors)

    @staticmethod
    def _classes(held: list[RowPlan], beyond: int = 0) -> list[RowPlan]:
        """Plans for rows longer than those of the plan before each, which begin with `beyond`."""
        found: list[RowPlan] = []
        for plan in held:
            assert plan.longest is not None
            if plan.longest > beyond:
                found.append(replace(plan, beyond=beyond))
                beyond = plan.longest
        return found

    def _in_open_blocks(self) -> list[RowPlan]:
        """Each for rows up to twice as long as the one before it, so that half of the vectors are
        in any of them. The first has as few vectors a thread as fill the memory's time.
        """
        few, most = self._few, self._vectors(_WORDS)
        warps = self.in_warps() if not self.peeled else replace(self, width=1).in_warps()
        shortest = warps[-1].longest or 0
        shapes: list[tuple[int, int]] = []
        threads = _SMALL_BLOCK
        while threads < BLOCK:
            shapes.append((threads, few))
            threads *= 2
        vectors = few
        while vectors < most:
            shapes.append((BLOCK, vectors))
            vectors *= 2
        shapes.append((BLOCK, most))
        held = [self._plan(TeamShape(WARP_LANES, threads), vectors) for threads, vectors in shapes]
        most = self._vectors(_CLUSTER_WORDS)
        for blocks in _CLUSTERS:
            if blocks <= self.device.cluster_blocks:
                team = TeamShape(WARP_LANES, CLUSTER_BLOCK, blocks=blocks)
                # A thread has predicates for 7 vectors that may be beyond the row.
                counts = (most * 7 // 8, most) if most >= 8 else (most,)
                held += [self._plan(team, vectors) for vectors in counts]
        return self._classes(held, shortest)

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
