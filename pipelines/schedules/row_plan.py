"""How threads share rows: chosen by the length of a row, where it is known, or for a range."""

from __future__ import annotations

from dataclasses import dataclass

from ..lane_reduction import WARP_LANES
from .alternatives import Conditions
from .device import Device
from .elements import ACCESS_BYTES, element_bytes
from .row_space import RowSpace
from .team import TeamShape
from .work import Operand

# What a grid's x dimension takes (CUDA C++ Programming Guide, "Compute Capabilities"), and numbers
# that are divided in 32 bits.
_MOST = 2**31 - 1
# Registers in which a thread keeps elements of a row: in blocks of many threads, and at most.
_WORDS, _MOST_WORDS = 32, 64
# Threads of a block: where several rows are a block's, and at most where a row is one block's.
_SMALL_BLOCK, _BLOCK = 128, 512
_BIG_BLOCK = 1024


@dataclass(frozen=True)
class RowPlan:
    """What a kernel does with a row.

    `width` elements make a vector. A thread takes `vectors` at once: all that it has of a row, or
    with `streams` one batch after another. With `peeled` the row's first aligned element begins
    vector 0, and the few elements before and after whole vectors are taken one by one.
    `longest` is the longest row in elements, None without a limit.
    """

    space: RowSpace
    team: TeamShape
    width: int
    vectors: int
    streams: bool = False
    peeled: bool = False
    longest: int | None = None

    @property
    def most_threads(self) -> int:
        return self.team.threads if self.team.threads is not None else _BLOCK

    @property
    def reference(self) -> Operand:
        """The operand whose vectors are aligned in a peeled row."""
        return next(each for each in self.space.along if self._may_lead(each))

    @property
    def scattered(self) -> frozenset[int]:
        """The operands whose vectors may not be aligned."""
        if not self.peeled:
            return frozenset()
        size = element_bytes(self.reference.element)
        return frozenset(
            each.number
            for each in self.space.along
            if not self._may_lead(each) or element_bytes(each.element) != size
        )

    def _may_lead(self, operand: Operand) -> bool:
        space = self.space
        return space.is_contiguous(operand) and space.is_large(operand)

    def require(self, found: Conditions) -> None:
        """Adds what must hold for the plan."""
        space = self.space
        found.require(space.work.layouts_hold())
        found.require_at_most(space.count, _MOST // self.team.blocks)
        if len(space.columns) > 1:
            found.require_at_most(space.length, _MOST)
        if self.longest is not None:
            found.require_at_most(space.length, self.longest)
        if not self.streams:
            found.require_at_least(space.length, 1)
        if self.peeled:
            self._require_shared_misalignment(found)
        elif self.width > 1:
            self._require_alignment(found)

    def _require_alignment(self, found: Conditions) -> None:
        space = self.space
        # What lies behind the last whole vector is taken one by one where rows are streamed.
        if not self.streams or len(space.columns) > 1:
            found.require_multiple(space.inner.extent, self.width)
        for operand in space.along:
            if not space.is_contiguous(operand):
                continue
            bytes_ = self.width * element_bytes(operand.element)
            found.require_aligned(operand, min(bytes_, ACCESS_BYTES))
            for loop in (*space.rows, *space.columns[:-1]):
                found.require_multiple(space.stride(operand, loop), self.width)

    def _require_shared_misalignment(self, found: Conditions) -> None:
        space, first = self.space, self.reference
        for operand in space.along:
            if operand.number in self.scattered or operand == first:
                continue
            found.require_same_alignment(first, operand, ACCESS_BYTES)
            for loop in space.rows:
                here, there = space.stride(first, loop), space.stride(operand, loop)
                if here != there:
                    found.require_multiple(here, self.width)
                    found.require_multiple(there, self.width)


def plans(space: RowSpace, device: Device, *, has_one_stage: bool) -> list[RowPlan]:
    """Plans for a work's rows: the first whose conditions hold is the best. The last always does.

    `has_one_stage` says that no reduction needs another's result, in one pass over the row.
    """
    only_reads = has_one_stage and not space.has_outputs_along
    widest = _whole_width(space)
    found: list[RowPlan] = []
    if widest > 1:
        whole = _Limits(space, device, widest, only_reads)
        found += [*whole.in_warps(), *whole.in_blocks(), whole.stream()]
    single = _Limits(space, device, 1, only_reads)
    found += single.in_warps()
    if _may_be_peeled(space, widest):
        found += _Limits(space, device, space.widest, only_reads, peeled=True).in_blocks()
    elif widest == 1:
        found += single.in_blocks()
    return [*found, single.stream()]


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
class _Limits:
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
            return [*short, self._lanes(WARP_LANES, self._vectors(16))]
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

    def stream(self) -> RowPlan:
        """For rows of any length, one batch of vectors after another."""
        vectors = self._vectors(16)
        threads: int | None = None
        if self.space.length.is_known:
            warps = -(-self._needed // (vectors * WARP_LANES))
            threads = WARP_LANES * max(1, min(warps, _BLOCK // WARP_LANES))
        return RowPlan(self.space, TeamShape(WARP_LANES, threads), self.width, vectors, True)

    @property
    def _needed(self) -> int:
        """The vectors of a row whose length is known."""
        return -(-self.space.length.known // self.width)

    def _vectors(self, words: int) -> int:
        """The vectors that a thread can keep in so many registers."""
        return max(1, words // (self.space.words * self.width))

    def _plan(self, team: TeamShape, vectors: int) -> RowPlan:
        threads = team.threads if team.threads is not None else _BLOCK
        size = team.lanes if team.rows > 1 else threads * team.blocks
        longest = size * vectors * self.width
        return RowPlan(self.space, team, self.width, vectors, peeled=self.peeled, longest=longest)

    def _lanes(self, lanes: int, vectors: int) -> RowPlan:
        rows = _SMALL_BLOCK // lanes
        return self._plan(TeamShape(lanes, _SMALL_BLOCK, rows=rows), vectors)

    def _in_open_blocks(self) -> list[RowPlan]:
        """Blocks that have as many threads as the rows need."""
        few, most = self._vectors(8), self._vectors(_WORDS)
        block = TeamShape(WARP_LANES, None)
        found = [self._plan(block, most)]
        if few < most and not self.peeled:
            found.insert(0, self._plan(block, few))
        if self.device.cluster_blocks > 1:
            cluster = TeamShape(WARP_LANES, None, blocks=self.device.cluster_blocks)
            found.append(self._plan(cluster, most))
        return found

    def _in_known_blocks(self, needed: int, blocks: int) -> RowPlan | None:
        """Few threads without work, and few vectors a thread where that allows."""
        few, most = self._vectors(8), self._vectors(_WORDS)
        best: tuple[float, RowPlan] | None = None
        for vectors in range(1, most + 1):
            warps = -(-needed // (vectors * WARP_LANES))
            if warps * WARP_LANES > _BLOCK:
                continue
            threads = max(1, warps) * WARP_LANES
            cost = threads * vectors / max(needed, 1) + 0.02 * abs(vectors - few)
            if best is None or cost < best[0]:
                team = TeamShape(WARP_LANES, threads, blocks=blocks)
                best = (cost, self._plan(team, vectors))
        return None if best is None else best[1]
