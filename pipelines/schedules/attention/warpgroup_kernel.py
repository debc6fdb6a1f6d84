"""Attention of 16-bit elements by warpgroups, of 64 rows each.

A thread of a further warpgroup, the producer, which gives registers to the others, has the copy
engine bring keys and values into rings of stages. The others begin the first product of the next
keys before they add the values of these, and compute the softmax of the one while the tensor cores
do the other; where they take turns, one begins products after the other (Shah et al.,
"FlashAttention-3", 2024). What a thread has of a product of 64 rows is what a lane has of one of 16
(warp_matrices.py), so that the softmax is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.mlir import arith, gpu, ir, scf
from ...i32 import i32, i32_constant, is_below
from ...rewriting import index_constant
from ..size import Size
from ..warp_matrices import COLUMNS, LANES, Lane, as_operand, byte_address
from ..warpgroup_matrices import (
    BARRIER_BYTES,
    DEPTH_BYTES,
    ROW_BYTES,
    THREADS,
    Barrier,
    Sums,
    begin_copies_and_barriers,
    begin_products,
    commit_products,
    copy_box,
    matrix_descriptor,
    moved,
    set_registers,
    tensor_map,
)
from ..warpgroup_matrices import ROWS as WARPGROUP_ROWS
from ..work import Operand
from .configuration import REGISTERS_OF_CONSUMERS, REGISTERS_OF_PRODUCER, up
from .kernel import AttentionKernel, Bounds
from .plan import outer_loops

_TERMS = 16


class WarpgroupAttentionKernel(AttentionKernel):
    """Emits the body."""

    def emit(self) -> None:
        """A block's tiles of rows, each from its first visible key to its last."""
        configuration, attention = self._configuration, self._attention
        self._lane = Lane()
        self._chunk = ROW_BYTES // self._bytes
        self._depth_chunks = up(self._depth, self._chunk) // self._chunk
        self._column_chunks = up(self._columns, self._chunk) // self._chunk
        self._wide_columns = up(self._columns, COLUMNS)
        self._column_tiles = self._wide_columns // COLUMNS
        keys, rows = configuration.keys, configuration.rows
        self._query_bytes = self._depth_chunks * WARPGROUP_ROWS * ROW_BYTES
        self._key_bytes = self._depth_chunks * keys * ROW_BYTES
        self._value_bytes = self._column_chunks * keys * ROW_BYTES
        stages = configuration.stages
        self._queries = self.shared.area(rows // WARPGROUP_ROWS * self._query_bytes)
        self._keys = self.shared.area(stages * self._key_bytes)
        self._values = self.shared.area(stages * self._value_bytes)
        self._groups = configuration.warpgroups
        turns = self._groups if configuration.turns else 0
        self._barriers = self.shared.area((4 * stages + 2 + turns) * BARRIER_BYTES)
        row = self._plan.along[0] if self._plan.along else None
        self._maps = [
            self._map("queries", self._query, row, attention.depth, WARPGROUP_ROWS),
            self._map("keys", self._key, attention.keys, attention.depth, keys),
            self._map("values", self._value, attention.keys, attention.columns, keys),
        ]
        thread, consumers = self._lane.thread, i32_constant(self._groups * THREADS)
        begin_copies_and_barriers(thread, self._maps, self._begin_barriers)
        roles = scf.IfOp(is_below(thread, consumers), has_else=True)
        with ir.InsertionPoint(roles.then_block):
            set_registers(REGISTERS_OF_CONSUMERS, "increase")
            self._begin_products()
            self._take_tiles(self._consume)
            scf.YieldOp([])
        assert roles.else_block is not None
        with ir.InsertionPoint(roles.else_block):
            set_registers(REGISTERS_OF_PRODUCER, "decrease")
            one = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, thread, consumers))
            with ir.InsertionPoint(one.then_block):
                self._take_tiles(self._produce)
                scf.YieldOp([])
            scf.YieldOp([])

    def _take_tiles(self, work: Callable[[ir.Value, ir.Value, Bounds], None]) -> None:
        """Does the work of the block's tiles of rows, each with its first and last tile of keys.

        `_passed` is how many of the latter were before, and `_taken` how many queries.
        """
        tiles, block = self._configuration.tiles, gpu.block_id(gpu.Dimension.x)
        if tiles == 1:
            self._passed = self._taken = i32_constant(0)
            self._take_tile(block, work)
            return
        first = arith.muli(block, index_constant(tiles))
        rest = arith.subi(self.parameters.size(self._plan.row_tiles), first)
        count = arith.minsi(rest, index_constant(tiles))
        none = i32_constant(0)
        loop = scf.ForOp(index_constant(0), count, index_constant(1), [none, none])
        with ir.InsertionPoint(loop.body):
            self._passed, self._taken = loop.inner_iter_args
            found = self._take_tile(arith.addi(first, loop.induction_variable), work)
            is_some = arith.extui(i32(), arith.cmpi(arith.CmpIPredicate.sgt, found, none))
            scf.YieldOp([arith.addi(self._passed, found), arith.addi(self._taken, is_some)])

    def _take_tile(
        self, number: ir.Value, work: Callable[[ir.Value, ir.Value, Bounds], None]
    ) -> ir.Value:
        """Does the work of one tile of rows; how many tiles of keys it has."""
        self._place_block(number)
        self._begin_region()
        bounds = self._bounds()
        begin, end = _narrow(bounds.first), _narrow(bounds.last)
        work(begin, end, bounds)
        return arith.maxsi(arith.subi(end, begin), i32_constant(0))

    # Barriers: that the queries are there, and are read; that keys or values of a stage are; that a
    # warpgroup may begin products.

    def _begin_barriers(self) -> None:
        warps = self._configuration.rows // WARPGROUP_ROWS * THREADS // LANES
        self._queries_there().begin(1)
        self._queries_read().begin(warps)
        for stage in range(self._configuration.stages):
            for kind in range(2):
                self._full(i32_constant(stage), kind).begin(1)
                self._empty(i32_constant(stage), kind).begin(warps)
        for group in range(self._groups if self._configuration.turns else 0):
            self._turn(i32_constant(group)).begin(THREADS // LANES)

    def _queries_there(self) -> Barrier:
        return Barrier(byte_address(self._barriers, 4 * self._configuration.stages * BARRIER_BYTES))

    def _queries_read(self) -> Barrier:
        number = 4 * self._configuration.stages + 1
        return Barrier(byte_address(self._barriers, number * BARRIER_BYTES))

    def _full(self, slot: ir.Value, kind: int) -> Barrier:
        return self._barrier(slot, kind)

    def _empty(self, slot: ir.Value, kind: int) -> Barrier:
        return self._barrier(slot, 2 + kind)

    def _barrier(self, slot: ir.Value, number: int) -> Barrier:
        far = arith.muli(slot, i32_constant(4 * BARRIER_BYTES))
        where = byte_address(byte_address(self._barriers, far), number * BARRIER_BYTES)
        return Barrier(where)

    def _turn(self, group: ir.Value) -> Barrier:
        first = (4 * self._configuration.stages + 2) * BARRIER_BYTES
        far = arith.muli(group, i32_constant(BARRIER_BYTES))
        return Barrier(byte_address(byte_address(self._barriers, far), first))

    def _slot(self, passed: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The stage of the tile that so many of the same rows were before, and the parity of how
        often it was filled before.
        """
        stages, passed = i32_constant(self._configuration.stages), self._in_all(passed)
        turn = arith.divui(passed, stages)
        return arith.subi(passed, arith.muli(turn, stages)), arith.andi(turn, i32_constant(1))

    def _in_all(self, passed: ir.Value) -> ir.Value:
        """Those of all the block's rows."""
        return passed if self._configuration.tiles == 1 else arith.addi(self._passed, passed)

    # Copies.

    def _map(
        self, name: str, operand: Operand, along: int | None, head: int, rows: int
    ) -> ir.Value:
        """The address of the descriptor of an operand: its head, its rows, and what is around."""
        sizes, strides = [self._work.extents[head]], [operand.strides[head]]
        sizes.append(Size(1) if along is None else self._work.extents[along])
        strides.append(Size(self._chunk) if along is None else operand.strides[along])
        for loop in outer_loops(operand, self._plan.grid):
            sizes.append(self._work.extents[loop])
            strides.append(operand.strides[loop])
        box = [*[1] * (len(sizes) - 2), rows, self._chunk]
        source = (operand.buffer, operand.offset)
        return tensor_map(self.parameters, name, source, sizes[::-1], strides[::-1], box)

    def _copy(
        self,
        kind: int,
        operand: Operand,
        to: ir.Value,
        first: ir.Value,
        rows: int,
        chunks: int,
        barrier: Barrier,
    ) -> None:
        """Begins the copies of so many rows, 128 bytes of each at a time."""
        around = [_narrow(self._places[loop]) for loop in outer_loops(operand, self._plan.grid)]
        for chunk in range(chunks):
            where = byte_address(to, chunk * rows * ROW_BYTES)
            places = [i32_constant(chunk * self._chunk), first, *around]
            copy_box(where, self._maps[kind], places, barrier.address)

    def _copy_queries(self) -> None:
        first, groups = _narrow(self._first_row), self._groups
        there = self._queries_there()
        there.expect(groups * self._query_bytes)
        for group in range(groups):
            to = byte_address(self._queries, group * self._query_bytes)
            row = arith.addi(first, i32_constant(group * WARPGROUP_ROWS))
            self._copy(0, self._query, to, row, WARPGROUP_ROWS, self._depth_chunks, there)

    def _produce(self, begin: ir.Value, end: ir.Value, _: Bounds) -> None:
        """Begins all copies of a tile of rows, in the order in which products take them."""
        is_some = scf.IfOp(arith.cmpi(arith.CmpIPredicate.slt, begin, end))
        with ir.InsertionPoint(is_some.then_block):
            if self._configuration.tiles > 1:
                parity = arith.andi(self._taken, i32_constant(1))
                self._queries_read().wait(arith.xori(parity, i32_constant(1)))
            self._copy_queries()
            self._copy_tile(0, i32_constant(0), begin, end)
            count = arith.subi(end, begin)
            loop = scf.ForOp(i32_constant(0), count, i32_constant(1), [])
            with ir.InsertionPoint(loop.body):
                self._copy_tile(0, arith.addi(loop.induction_variable, i32_constant(1)), begin, end)
                self._copy_tile(1, loop.induction_variable, begin, end)
                scf.YieldOp([])
            scf.YieldOp([])

    def _copy_tile(self, kind: int, passed: ir.Value, begin: ir.Value, end: ir.Value) -> None:
        """Begins the copies of a tile of keys or values, if there is such a tile."""
        tile = arith.addi(begin, passed)
        exists = scf.IfOp(arith.cmpi(arith.CmpIPredicate.slt, tile, end))
        with ir.InsertionPoint(exists.then_block):
            keys = self._configuration.keys
            operand, start, bytes_, chunks = (
                (self._key, self._keys, self._key_bytes, self._depth_chunks),
                (self._value, self._values, self._value_bytes, self._column_chunks),
            )[kind]
            slot, turn = self._slot(passed)
            self._empty(slot, kind).wait(arith.xori(turn, i32_constant(1)))
            full = self._full(slot, kind)
            full.expect(bytes_)
            to = byte_address(start, arith.muli(slot, i32_constant(bytes_)))
            self._copy(
                1 + kind, operand, to, arith.muli(tile, i32_constant(keys)), keys, chunks, full
            )
            scf.YieldOp([])

    # Products.

    def _begin_products(self) -> None:
        """Computes what is the same of all tiles."""
        configuration, f32 = self._configuration, ir.F32Type.get()
        self._score_sums = Sums(configuration.keys, f32)
        self._result_sums = Sums(self._wide_columns, f32)
        self._group = arith.shrui(self._lane.thread, i32_constant(7))
        far = arith.muli(self._group, i32_constant(self._query_bytes))
        self._query_matrix = matrix_descriptor(byte_address(self._queries, far), 0)
        leading = configuration.keys * ROW_BYTES
        self._key_matrix = matrix_descriptor(self._keys, 0)
        self._value_matrix = matrix_descriptor(self._values, leading)

    def _consume(self, begin: ir.Value, end: ir.Value, bounds: Bounds) -> None:
        """Computes and writes the results of a tile of rows."""
        is_some = arith.cmpi(arith.CmpIPredicate.slt, begin, end)
        state = self._state()
        work = scf.IfOp(is_some, [each.type for each in state], has_else=True)
        with ir.InsertionPoint(work.then_block):
            scf.YieldOp(self._sum(begin, end, bounds))
        assert work.else_block is not None
        with ir.InsertionPoint(work.else_block):
            scf.YieldOp(state)
        self._finish(list(work.results))

    def _sum(self, begin: ir.Value, end: ir.Value, bounds: Bounds) -> list[ir.Value]:
        """Returns what is found of the tiles of keys: greatest scores, totals, sums."""
        self._queries_there().wait(arith.andi(self._taken, i32_constant(1)))
        none = i32_constant(0)
        self._await_turn(none)
        scores = self._begin_scores(none)
        self._end_turn()
        (numbers,) = self._score_sums.complete([scores])
        self._release(none, 0)
        most, totals, sums = self._parts(self._state())
        most, totals, powers, _ = self._softmax(begin, bounds, numbers, most, totals)
        loop = scf.ForOp(
            arith.addi(begin, i32_constant(1)),
            end,
            i32_constant(1),
            [*most, *totals, *powers, *sums],
        )
        with ir.InsertionPoint(loop.body):
            carried: list[ir.Value] = [*loop.inner_iter_args]
            most, totals, rest = carried[:2], carried[2:4], carried[4:]
            powers, sums = rest[: len(powers)], rest[len(powers) :]
            tile = loop.induction_variable
            passed = arith.subi(tile, begin)
            before = arith.subi(passed, i32_constant(1))
            self._await_turn(passed)
            scores = self._begin_scores(passed)
            added = self._begin_values(before, powers, sums)
            self._end_turn()
            (numbers,) = self._score_sums.complete([scores], groups=1)
            self._release(passed, 0)
            most, totals, raised, shrinks = self._softmax(tile, bounds, numbers, most, totals)
            (sums,) = self._result_sums.complete([added])
            self._release(before, 1)
            sums = [arith.mulf(each, shrinks[place // 2 % 2]) for place, each in enumerate(sums)]
            scf.YieldOp([*most, *totals, *raised, *sums])
        carried = list(loop.results)
        most, totals, rest = carried[:2], carried[2:4], carried[4:]
        powers, sums = rest[: len(powers)], rest[len(powers) :]
        last = arith.subi(arith.subi(end, begin), i32_constant(1))
        if self._configuration.tiles > 1:
            is_lead = arith.cmpi(arith.CmpIPredicate.eq, self._lane.lane, none)
            self._queries_read().arrive_where(is_lead)
        (sums,) = self._result_sums.complete([self._begin_values(last, powers, sums)])
        if self._configuration.tiles > 1:
            self._release(last, 1)
        return [*most, *totals, *sums]

    def _await_turn(self, passed: ir.Value) -> None:
        """Waits until the warpgroup before has begun its products; the first for those before."""
        if not self._configuration.turns:
            return
        is_first = arith.cmpi(arith.CmpIPredicate.eq, self._group, i32_constant(0))
        before = arith.addi(self._in_all(passed), arith.extui(passed.type, is_first))
        self._turn(self._group).wait(arith.andi(before, i32_constant(1)))

    def _end_turn(self) -> None:
        """Lets the next warpgroup begin products."""
        if not self._configuration.turns:
            return
        is_lead = arith.cmpi(arith.CmpIPredicate.eq, self._lane.lane, i32_constant(0))
        after = arith.addi(self._group, i32_constant(1))
        is_last = arith.cmpi(arith.CmpIPredicate.eq, after, i32_constant(self._groups))
        self._turn(arith.select(is_last, i32_constant(0), after)).arrive_where(is_lead)

    def _parts(
        self, carried: Sequence[ir.Value]
    ) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value]]:
        return list(carried[:2]), list(carried[2:4]), list(carried[4:])

    def _release(self, passed: ir.Value, kind: int) -> None:
        """Says that the warp has read a stage."""
        slot, _ = self._slot(passed)
        is_lead = arith.cmpi(arith.CmpIPredicate.eq, self._lane.lane, i32_constant(0))
        self._empty(slot, kind).arrive_where(is_lead)

    def _begin_scores(self, passed: ir.Value) -> ir.Value:
        """Begins the first product of a tile, of which so many were before."""
        slot, turn = self._slot(passed)
        self._full(slot, 0).wait(turn)
        sums = self._score_sums.undefined()
        keys = moved(self._key_matrix, arith.muli(slot, i32_constant(self._key_bytes)))
        kind = str(self._attention.element)
        begin_products()
        for chunk in range(self._depth_chunks):
            for step in range(ROW_BYTES // DEPTH_BYTES):
                far = step * DEPTH_BYTES
                if chunk * self._chunk + step * _TERMS >= self._depth:
                    continue
                first = moved(self._query_matrix, chunk * WARPGROUP_ROWS * ROW_BYTES + far)
                second = moved(keys, chunk * self._configuration.keys * ROW_BYTES + far)
                sums = self._score_sums.multiply(
                    sums,
                    first,
                    second,
                    (kind, kind),
                    along_terms=(True, True),
                    adds=chunk > 0 or step > 0,
                )
        commit_products()
        return sums

    def _begin_values(
        self, passed: ir.Value, powers: list[ir.Value], sums: list[ir.Value]
    ) -> ir.Value:
        """Begins to add the second product of a tile to the sums."""
        slot, turn = self._slot(passed)
        self._full(slot, 1).wait(turn)
        found = self._result_sums.of(sums)
        values = moved(self._value_matrix, arith.muli(slot, i32_constant(self._value_bytes)))
        begin_products()
        for step in range(self._configuration.keys // _TERMS):
            found = self._result_sums.multiply_registers(
                found,
                powers[4 * step : 4 * step + 4],
                moved(values, step * _TERMS * ROW_BYTES),
                self._attention.element,
            )
        commit_products()
        return found

    def _softmax(
        self,
        tile: ir.Value,
        bounds: Bounds,
        numbers: list[ir.Value],
        most: list[ir.Value],
        totals: list[ir.Value],
    ) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value], list[ir.Value]]:
        """Returns what a tile's scores make of the greatest ones and totals; the powers, as
        operands.

        The last are what the sums of each half are to be multiplied by.
        """
        fours = [numbers[at : at + 4] for at in range(0, len(numbers), 4)]
        index = arith.index_cast(ir.IndexType.get(), tile)
        ((*xs,),) = self._masked(index, bounds, [fours])
        raised: list[list[ir.Value]] = [[] for _ in xs]
        greatest: list[ir.Value] = []
        shrinks: list[ir.Value] = []
        new_totals: list[ir.Value] = []
        for half in range(2):
            row = [each[2 * half + side] for each in xs for side in range(2)]
            more, total, shrink, found = self._raised(row, most[half], totals[half])
            greatest.append(more)
            new_totals.append(total)
            shrinks.append(shrink)
            for place, value in enumerate(found):
                raised[place // 2].append(value)
        element = self._attention.element
        powers = [
            word
            for at in range(0, len(raised), 2)
            for word in as_operand(raised[at], raised[at + 1], element)
        ]
        return greatest, new_totals, powers, shrinks


def _narrow(value: ir.Value) -> ir.Value:
    return arith.index_cast(ir.IntegerType.get_signless(32), value)
