"""Scans across a block's threads, in one or several segments of it.

A block of `threads` has `lanes` columns, a power of two up to a warp: thread t belongs to column
t mod lanes, and the threads of a column come in the order of their numbers. With several segments,
all threads of one come before all of the next. If it `is_open`, the launch says how many threads
there are: whole warps, up to `threads`. With a `team`, each such number of lanes of a warp, a power
of two, has its own scan instead of the block; of an open one the launch says that number too, which
is the block's size in x.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ...i32 import i32_constant
from ...lane_reduction import WARP_LANES, shuffle
from ...rewriting import index_constant
from ..collective import Collective
from ..elements import address, element_bytes, load, store
from ..shared import SharedMemory


class BlockScan:
    """Made once in a kernel, where all threads pass; used by all threads, once or in a loop.

    `scans` has one entry for each value that a thread gives.
    """

    def __init__(
        self,
        scans: Sequence[Collective],
        segments: int,
        threads: int,
        lanes: int,
        shared: SharedMemory,
        *,
        is_open: bool = False,
        team: int | None = None,
    ) -> None:
        self._scans = list(scans)
        self._team = team or WARP_LANES
        self._is_alone = team is not None
        # The last lane of the thread's team, of an open one.
        self._last: ir.Value | None = None
        self._segments = segments
        self._lanes = lanes
        self._parts = segments * (threads // WARP_LANES)
        if lanes == 1 and self._parts > WARP_LANES:
            raise ValueError("a warp scans the sums of 32 parts at most")
        if is_open and lanes > 1:
            raise ValueError("a block of columns has a known number of threads")
        self._thread = gpu.thread_id(gpu.Dimension.x)
        i32 = ir.IntegerType.get_signless(32)
        number = arith.index_cast(i32, self._thread)
        self._lane = arith.andi(number, i32_constant(self._team - 1))
        self._warp = arith.shrui(number, i32_constant(5))
        self._warps: ir.Value | None = None
        if is_open and self._is_alone:
            size = arith.index_cast(i32, gpu.block_dim(gpu.Dimension.x))
            before = arith.muli(arith.index_cast(i32, gpu.thread_id(gpu.Dimension.y)), size)
            last = arith.addi(before, arith.subi(size, i32_constant(1)))
            self._lane, self._last = number, arith.andi(last, i32_constant(WARP_LANES - 1))
        elif is_open:
            size = arith.index_cast(i32, gpu.block_dim(gpu.Dimension.x))
            self._warps = arith.shrui(size, i32_constant(5))
        self._areas: list[ir.Value] = []
        for scan in scans if team is None else ():
            bytes_ = element_bytes(self._type(scan)) * self._parts * lanes * 2
            self._areas.append(shared.area(bytes_))

    def prefixes(
        self, totals: Sequence[Sequence[ir.Value]], turn: ir.Value
    ) -> tuple[list[list[ir.Value]], list[ir.Value]]:
        """Returns for each segment and value the sum of the threads before, and the block's total.

        `turn`, an index value, alternates between 0 and 1: successive uses take different memory,
        so that one barrier each is enough. Teams have no total, unless they are open.
        """
        scanned = [
            [self._in_warp(scan, value) for scan, value in zip(self._scans, segment, strict=True)]
            for segment in totals
        ]
        if self._is_alone and self._last is None:
            return [[own for _, own in segment] for segment in scanned], []
        if self._last is not None:
            return self._in_teams(scanned, self._last)
        base = arith.muli(turn, index_constant(self._parts * self._lanes))
        last = i32_constant(WARP_LANES - self._lanes)
        is_last = arith.cmpi(arith.CmpIPredicate.uge, self._lane, last)
        with ir.InsertionPoint(scf.IfOp(is_last).then_block):
            column = arith.subi(self._lane, last)
            for segment, values in enumerate(scanned):
                part = arith.addi(self._first_part(segment), self._warp)
                place = arith.addi(arith.muli(part, i32_constant(self._lanes)), column)
                place = arith.addi(base, arith.index_castui(ir.IndexType.get(), place))
                for area, (through, _) in zip(self._areas, values, strict=True):
                    store(address(area, through.type, place), through.type, [through], 1)
            scf.YieldOp([])
        gpu.barrier()
        before: list[list[ir.Value]] = [[] for _ in totals]
        block: list[ir.Value] = []
        across = self._by_shuffles if self._lanes == 1 else self._in_turn
        for number, scan in enumerate(self._scans):
            parts, total = across(scan, self._areas[number], base)
            block.append(total)
            for segment, part in enumerate(parts):
                own = scanned[segment][number][1]
                before[segment].append(scan.merged([part], [own])[0])
        return before, block

    def _in_teams(
        self, scanned: Sequence[Sequence[tuple[ir.Value, ir.Value]]], last: ir.Value
    ) -> tuple[list[list[ir.Value]], list[ir.Value]]:
        """The same of open teams, whose last lanes have what a segment has in all."""
        carried = [scan.start()[0] for scan in self._scans]
        before: list[list[ir.Value]] = []
        for segment in scanned:
            pairs = list(zip(self._scans, carried, segment, strict=True))
            before.append([scan.merged([so_far], [own])[0] for scan, so_far, (_, own) in pairs])
            carried = [
                scan.merged([so_far], [shuffle("idx", through, last)])[0]
                for scan, so_far, (through, _) in pairs
            ]
        return before, carried

    def _first_part(self, segment: int) -> ir.Value:
        """The number of a segment's first warp, an i32; past the last segment of all warps."""
        if self._warps is None:
            return i32_constant(self._parts // self._segments * segment)
        return arith.muli(self._warps, i32_constant(segment))

    def _type(self, scan: Collective) -> ir.Type:
        return scan.operand.type

    def _in_warp(self, scan: Collective, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """What a column's threads of the warp up to this one have, and those before it alone."""
        distance = self._lanes
        while distance < self._team:
            offset = i32_constant(distance)
            other = shuffle("up", value, offset)
            exists = arith.cmpi(arith.CmpIPredicate.uge, self._lane, offset)
            value = arith.select(exists, scan.merged([other], [value])[0], value)
            distance *= 2
        if self._lanes == self._team:
            return value, scan.start()[0]
        offset = i32_constant(self._lanes)
        other = shuffle("up", value, offset)
        exists = arith.cmpi(arith.CmpIPredicate.uge, self._lane, offset)
        return value, arith.select(exists, other, scan.start()[0])

    def _by_shuffles(
        self, scan: Collective, area: ir.Value, base: ir.Value
    ) -> tuple[list[ir.Value], ir.Value]:
        """Before each segment's part of this warp, and in all: each lane takes one part."""
        kind = self._type(scan)
        last = arith.subi(self._first_part(self._segments), i32_constant(1))
        own = (
            arith.minui(self._lane, last) if self._parts < WARP_LANES or self._warps else self._lane
        )
        lane = arith.index_castui(ir.IndexType.get(), own)
        value = load(address(area, kind, arith.addi(base, lane)), kind, 1, 1)[0]
        through, before = self._in_warp(scan, value)
        parts = [
            shuffle("idx", before, arith.addi(self._first_part(segment), self._warp))
            for segment in range(self._segments)
        ]
        return parts, shuffle("idx", through, last)

    def _in_turn(
        self, scan: Collective, area: ir.Value, base: ir.Value
    ) -> tuple[list[ir.Value], ir.Value]:
        """The same, one part after another."""
        kind = self._type(scan)
        column = arith.remui(self._thread, index_constant(self._lanes))
        total = scan.start()[0]
        before = [total for _ in range(self._segments)]
        for part in range(self._parts):
            place = arith.addi(column, index_constant(part * self._lanes))
            value = load(address(area, kind, arith.addi(base, place)), kind, 1, 1)[0]
            for segment in range(self._segments):
                own = arith.addi(self._first_part(segment), self._warp)
                is_own = arith.cmpi(arith.CmpIPredicate.eq, own, i32_constant(part))
                before[segment] = arith.select(is_own, total, before[segment])
            total = scan.merged([total], [value])[0]
        return before, total
