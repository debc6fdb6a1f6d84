"""Running values of a block's threads made into one for each column of threads.

A block of `threads` has `lanes` columns, a power of two: thread t belongs to column t mod lanes.
The result is the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ....dialects.mlir import arith, gpu, ir, scf
from ...i32 import i32_constant
from ...lane_reduction import WARP_LANES, shuffle
from ...rewriting import index_constant
from ..collective import Collective, merged
from ..elements import address, element_bytes, load, store
from ..shared import SharedMemory
from .sweep import when

# Parts that a thread merges one after the other: a block of the usual lanes has as many.
_AT_ONCE = 8


class Partials(Protocol):
    """Running values of a block's threads."""

    def totals(self) -> list[ir.Value]:
        """The running values of the thread's column, in the order of those given."""
        ...


class BlockPartials:
    """What the threads have found, one set of running values for each of `count` elements.

    Made in the kernel at a place that all threads reach. `totals` may then be asked for by some.
    """

    def __init__(
        self,
        collectives: Sequence[Collective],
        running: Sequence[ir.Value],
        count: int,
        threads: int,
        lanes: int,
        shared: SharedMemory,
    ) -> None:
        self._collectives = collectives
        self._count = count
        self._lanes = lanes
        self._parts = threads // max(lanes, WARP_LANES)
        self._running = list(running)
        self._thread = gpu.thread_id(gpu.Dimension.x)
        if lanes < min(WARP_LANES, threads):
            self._exchange()
        if self._parts > 1:
            self._areas = [
                shared.area(element_bytes(kind) * count * self._parts * lanes)
                for each in collectives
                for kind in each.types
            ]
            self._publish()
            gpu.barrier()

    def totals(self) -> list[ir.Value]:
        """The running values of the thread's column, in the order of those given."""
        if self._parts == 1:
            return self._running
        lane = arith.remui(self._thread, index_constant(self._lanes))
        found: list[ir.Value] = []
        areas = iter(self._areas)
        for each in self._collectives:
            own = [next(areas) for _ in each.types]
            for element in range(self._count):
                parts = [
                    [
                        self._load(area, kind, self._place(element, part, lane))
                        for area, kind in zip(own, each.types, strict=True)
                    ]
                    for part in range(self._parts)
                ]
                total = parts[0]
                for part in parts[1:]:
                    total = each.merged(total, part)
                found += total
        return found

    def _exchange(self) -> None:
        """Every lane of a warp gets what those of its column have found."""
        distance = self._lanes
        while distance < WARP_LANES:
            offset = i32_constant(distance)
            others = [shuffle("xor", value, offset) for value in self._running]
            self._running = merged(self._collectives, self._count, self._running, others)
            distance *= 2

    def _publish(self) -> None:
        """Puts what a thread, or the first lanes of its warp, has found where all can read it."""
        lane = arith.remui(self._thread, index_constant(self._lanes))
        part = arith.divui(self._thread, index_constant(max(self._lanes, WARP_LANES)))
        if self._lanes >= WARP_LANES:
            self._store(part, lane)
            return
        in_warp = arith.remui(self._thread, index_constant(WARP_LANES))
        first = arith.cmpi(arith.CmpIPredicate.ult, in_warp, index_constant(self._lanes))
        with ir.InsertionPoint(scf.IfOp(first).then_block):
            self._store(part, lane)
            scf.YieldOp([])

    def _store(self, part: ir.Value, lane: ir.Value) -> None:
        running = iter(self._running)
        areas = iter(self._areas)
        for each in self._collectives:
            own = [next(areas) for _ in each.types]
            for element in range(self._count):
                for area in own:
                    value = next(running)
                    place = self._place(element, part, lane)
                    store(address(area, value.type, place), value.type, [value], 1)

    def _load(self, area: ir.Value, kind: ir.Type, place: ir.Value) -> ir.Value:
        return load(address(area, kind, place), kind, 1, 1)[0]

    def _place(self, element: int, part: int | ir.Value, lane: ir.Value) -> ir.Value:
        """Neighbouring lanes have neighbouring words."""
        row = index_constant(element * self._parts)
        row = arith.addi(row, index_constant(part) if isinstance(part, int) else part)
        return arith.addi(arith.muli(row, index_constant(self._lanes)), lane)


class OpenPartials:
    """The same of a block that has its columns of threads in x, and the threads of one in y.

    Where each column has one thread, nothing is exchanged. Of more than `_AT_ONCE` threads those of
    one half merge their values with the other half's, again and again.
    """

    def __init__(
        self,
        collectives: Sequence[Collective],
        running: Sequence[ir.Value],
        count: int,
        threads: int,
        shared: SharedMemory,
    ) -> None:
        self._collectives, self._count, self._running = collectives, count, list(running)
        self._lane, self._lanes = gpu.thread_id(gpu.Dimension.x), gpu.block_dim(gpu.Dimension.x)
        self._parts = gpu.block_dim(gpu.Dimension.y)
        one = index_constant(1)
        self._are_several = arith.cmpi(arith.CmpIPredicate.ugt, self._parts, one)
        self._areas = [
            shared.area(element_bytes(kind) * threads)
            for each in collectives
            for _ in range(count)
            for kind in each.types
        ]
        with when(self._are_several):
            row = gpu.thread_id(gpu.Dimension.y)
            self._keep(row, self._running)
            self._halve(row)
            gpu.barrier()

    def totals(self) -> list[ir.Value]:
        """The running values of the thread's column, in the order of those given."""
        zero, one = index_constant(0), index_constant(1)
        kinds = [value.type for value in self._running]
        choice = scf.IfOp(self._are_several, kinds, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            count = arith.minui(self._parts, index_constant(_AT_ONCE))
            loop = scf.ForOp(one, count, one, self._loaded(zero))
            with ir.InsertionPoint(loop.body):
                part = self._loaded(loop.induction_variable)
                so_far = list(loop.inner_iter_args)
                scf.YieldOp(merged(self._collectives, self._count, so_far, part))
            scf.YieldOp(list(loop.results))
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            scf.YieldOp(self._running)
        return [*choice.results]

    def _halve(self, row: ir.Value) -> None:
        """Merges parts that are half of all apart, until few are left."""
        rounds = scf.WhileOp([row.type], [arith.shrui(self._parts, index_constant(1))])
        before = rounds.before.blocks.append(row.type)
        with ir.InsertionPoint(before):
            (half,) = before.arguments
            least = arith.cmpi(arith.CmpIPredicate.uge, half, index_constant(_AT_ONCE))
            scf.condition(least, [half])
        after = rounds.after.blocks.append(row.type)
        with ir.InsertionPoint(after):
            (half,) = after.arguments
            gpu.barrier()
            with when(arith.cmpi(arith.CmpIPredicate.ult, row, half)):
                other = self._loaded(arith.addi(row, half))
                both = merged(self._collectives, self._count, self._loaded(row), other)
                self._keep(row, both)
            scf.YieldOp([arith.shrui(half, index_constant(1))])

    def _keep(self, part: ir.Value, values: Sequence[ir.Value]) -> None:
        where = self._place(part)
        for area, value in zip(self._areas, values, strict=True):
            store(address(area, value.type, where), value.type, [value], 1)

    def _loaded(self, part: ir.Value) -> list[ir.Value]:
        where = self._place(part)
        return [
            load(address(area, value.type, where), value.type, 1, 1)[0]
            for area, value in zip(self._areas, self._running, strict=True)
        ]

    def _place(self, part: ir.Value) -> ir.Value:
        return arith.addi(arith.muli(part, self._lanes), self._lane)
