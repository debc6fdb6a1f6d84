"""Attention of 16-bit elements in one kernel, which no score leaves.

A block takes a tile of rows, keeps their sums in registers, and streams keys and values through
shared memory. The greatest score and the total of the powers so far go with the sums, which are
rescaled where the greatest one grows (Dao, "FlashAttention-2", 2023). The scores that a lane gets
of the first product are what it has to give the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from ....dialects.mlir import arith, gpu, ir, math, scf
from ....dialects.records import dataclass
from ...i32 import as_index, i32, i32_constant, is_below
from ...rewriting import constant, index_constant
from ..async_copies import commit_copies, copy_async, wait_for_copies
from ..dependents import let_next_begin
from ..elements import address, element_bytes, load, store
from ..index_division import divided
from ..parameters import Parameters
from ..region import Point, Region
from ..shared import SharedMemory
from ..size import ZERO, Size
from ..warp_matrices import (
    COLUMNS,
    DEPTH,
    LANES,
    MATRIX_BYTES,
    ROWS,
    Lane,
    as_operand,
    byte_address,
    load_matrices,
    multiply,
    padded_row,
)
from ..work import LoadedOperand, Operand
from .configuration import STATES, state_bytes, up
from .parts import base_of, columns_of, power
from .plan import Plan

_F32_BYTES = 4
# Places of an element along dims, and the strides of these.
_Places = list[tuple[ir.Value, Size]]


class AttentionKernel:
    """Emits the body. What it takes and needs can be seen after."""

    # Results lie in tiles, of each of which a lane has two neighbouring columns of two rows.
    _tile_rows, _tile_columns = ROWS, COLUMNS
    # How far the keys of neighbouring lanes lie apart, and a lane's two of a tile.
    _key_strides = (2, 1)

    def __init__(
        self,
        plan: Plan,
        parameters: Parameters,
        scratch: tuple[ir.Value, ir.Value] | None = None,
    ) -> None:
        """What is found of a part of the keys goes to `scratch` (see parts.py)."""
        self.parameters = parameters
        self.shared = SharedMemory()
        self._plan, self._work, self._attention = plan, plan.work, plan.attention
        self._configuration = plan.configuration
        by_number = {operand.number: operand for operand in plan.work.operands}
        attention = plan.attention
        self._query, self._key, self._value = (
            by_number[number] for number in (attention.query, attention.key, attention.value)
        )
        self._by_number = by_number
        self._region = Region(plan.work, parameters)
        self._depth, self._columns = plan.head(attention.depth), plan.head(attention.columns)
        self._bytes = element_bytes(attention.element)
        self._chunk = MATRIX_BYTES // self._bytes
        self._depth_steps = up(self._depth, DEPTH) // DEPTH
        filled = columns_of(plan)
        self._column_tiles = filled // self._tile_columns
        self._row_tiles = self._configuration.warp_rows // self._tile_rows
        self._key_tiles = self._configuration.warp_keys // self._tile_columns
        self._key_pitch = padded_row(self._depth_steps * DEPTH * self._bytes)
        self._value_pitch = padded_row(filled * self._bytes)
        self._conditions = plan.conditions
        self._scaled, self._factor = plan.scale
        self._scratch = scratch

    # The block.

    def emit(self) -> None:
        """A block's tile of rows, from its first visible key to its last."""
        configuration = self._configuration
        if self._scratch is not None:
            let_next_begin(self._work.device)
        self._lane = Lane(self._tile_columns)
        self._place_block(gpu.block_id(gpu.Dimension.x))
        self._begin_shared()
        self._begin_region()
        bounds = self._bounds()
        self._begin_reading(bounds)
        operands = self._load_queries() if configuration.keeps_queries else None
        state = self._state()
        count = self._tiles_of(bounds)
        loop = scf.ForOp(index_constant(0), count, index_constant(1), state)
        with ir.InsertionPoint(loop.body):
            carried: list[ir.Value] = [*loop.inner_iter_args]
            scf.YieldOp(self._step(loop.induction_variable, bounds, carried, operands))
        self._finish(list(loop.results))

    def _begin_shared(self) -> None:
        """Takes shared memory."""
        configuration = self._configuration
        self._stage_bytes = configuration.keys * (self._key_pitch + self._value_pitch)
        self._queries = self.shared.area(configuration.rows * self._key_pitch)
        self._stages = self.shared.area(configuration.area_bytes(self._plan.heads))

    def _begin_reading(self, bounds: Bounds) -> None:
        """Begins to read the queries and the first tiles of keys."""
        self._read_queries()
        commit_copies()
        for stage in range(self._configuration.stages - 1):
            self._read_keys(self._tile(index_constant(stage), bounds), bounds, i32_constant(stage))
            commit_copies()

    def _read_queries(self) -> None:
        rows, plan = self._configuration.rows, self._plan
        self._read_tile(
            self._query, self._first_row, rows, plan.rows, plan.along,
            self._attention.depth, self._depth, self._queries, self._key_pitch,
        )  # fmt: skip

    def _place_block(self, number: ir.Value) -> None:
        """Which rows of which batch the block has, or has by now: those of a number."""
        plan = self._plan
        rest, self._part = divided(number, plan.parts, 1, self.parameters)
        rest, tile = divided(rest, plan.row_count, 1, self.parameters)
        self._head = rest
        # The last rows see most keys where a mask is causal: they go first. Of a block that has
        # several tiles the first go with them, so that all blocks have as much to do.
        last = arith.subi(self.parameters.size(plan.row_count), index_constant(1))
        if self._configuration.tiles > 1:
            half = arith.shrui(tile, index_constant(1))
            is_odd = arith.cmpi(
                arith.CmpIPredicate.ne, arith.andi(tile, index_constant(1)), index_constant(0)
            )
            tile = arith.select(is_odd, half, arith.subi(last, half))
        else:
            tile = arith.subi(last, tile)
        self._places: dict[int, ir.Value] = {}
        for loop in reversed(plan.grid[1:]):
            rest, self._places[loop] = divided(rest, self._work.extents[loop], 1, self.parameters)
        if plan.grid:
            self._places[plan.grid[0]] = rest
        self._first_row = arith.muli(tile, index_constant(self._configuration.rows))
        self._starts: dict[int, ir.Value] = {}
        for operand in self._work.operands:
            pointer = self.parameters.pointer(operand.buffer)
            steps = [(at, operand.strides[loop]) for loop, at in self._places.items()]
            place = self.parameters.place(operand.offset, steps)
            self._starts[operand.number] = address(pointer, operand.element, place)
        # A warp's rows, and the lane's: those of the first tile, then of the next ones.
        self._row_warp, self._key_warp = self._lane.warp, i32_constant(0)
        if self._configuration.key_warps > 1:
            count = i32_constant(self._configuration.key_warps)
            self._row_warp = arith.divui(self._lane.warp, count)
            self._key_warp = arith.remui(self._lane.warp, count)
        warp = as_index(self._row_warp)
        first = arith.muli(warp, index_constant(self._configuration.warp_rows))
        self._warp_row = arith.addi(self._first_row, first)
        self._lane_row = arith.addi(self._warp_row, as_index(self._lane.group))

    def _row_places(self) -> list[ir.Value]:
        """The rows of which the lane has elements: two of each tile."""
        return [
            _plus(self._lane_row, self._row_of(tile, half))
            for tile in range(self._row_tiles)
            for half in range(2)
        ]

    def _row_of(self, tile: int, half: int) -> int:
        """How far one of the lane's rows lies from its first one."""
        return tile * self._tile_rows + half * (self._tile_rows // 2)

    # Tiles in shared memory.

    def _read_keys(self, tile: ir.Value, bounds: Bounds, slot: ir.Value) -> None:
        """Begins to read a tile of keys and values, if there is such a tile."""
        exists = scf.IfOp(arith.cmpi(arith.CmpIPredicate.slt, tile, bounds.last))
        with ir.InsertionPoint(exists.then_block):
            keys, attention = self._configuration.keys, self._attention
            first = arith.muli(tile, index_constant(keys))
            loaded = self._loaded_places(first)
            to = byte_address(self._stages, arith.muli(slot, i32_constant(self._stage_bytes)))
            self._read_tile(
                self._key, first, keys, self._plan.keys, (attention.keys,),
                attention.depth, self._depth, to, self._key_pitch,
                loaded.get(self._key.number, ()),
            )  # fmt: skip
            self._read_tile(
                self._value, first, keys, self._plan.keys, (attention.keys,),
                attention.columns, self._columns, byte_address(to, keys * self._key_pitch),
                self._value_pitch, loaded.get(self._value.number, ()),
            )  # fmt: skip
            scf.YieldOp([])

    def _loaded_places(self, first: ir.Value) -> dict[int, list[_Places]]:
        """Where keys and values lie along what the region computes, for each of a thread's copies.

        Tables are read for all copies before the first one begins, which no load would pass.
        """
        keys, threads = self._configuration.keys, self._configuration.threads
        found: dict[int, list[_Places]] = {}
        points: dict[tuple[int, int], Point] = {}
        for operand, pitch in ((self._key, self._key_pitch), (self._value, self._value_pitch)):
            if not isinstance(operand, LoadedOperand):
                continue
            chunks = (pitch - MATRIX_BYTES) // MATRIX_BYTES
            for number in range(-(-keys * chunks // threads)):
                if (chunks, number) not in points:
                    at = arith.addi(self._lane.thread, i32_constant(number * threads))
                    row = as_index(arith.divui(at, i32_constant(chunks)))
                    points[chunks, number] = self._key_point(arith.addi(first, row))
                point = points[chunks, number]
                places = [(point.value(place), stride) for place, stride in operand.places]
                found.setdefault(operand.number, []).append(places)
        return found

    def _key_point(self, key: ir.Value) -> Point:
        """A key of the block, the last one instead of one beyond it, whatever the row."""
        loop = self._attention.keys
        last = arith.subi(self.parameters.size(self._plan.keys), index_constant(1))
        key = arith.minsi(key, last)
        return Point(
            self._region,
            frozenset([loop]),
            lambda number: self._load(number, {loop: key}),
            lambda _: key,
            self._block_point,
        )

    def _read_tile(
        self,
        operand: Operand,
        first: ir.Value,
        rows: int,
        extent: Size,
        row_loops: tuple[int, ...],
        column_loop: int,
        columns: int,
        to: ir.Value,
        pitch: int,
        loaded: Sequence[_Places] = (),
    ) -> None:
        """Begins to read so many rows of a matrix; zeros stand for those beyond its end.

        `loaded` are where these lie along what the region computes, for each of a thread's copies.
        """
        chunks = (pitch - MATRIX_BYTES) // MATRIX_BYTES
        threads = self._configuration.threads
        end = self.parameters.size(extent)
        last = arith.subi(end, index_constant(1))
        column_stride = operand.strides[column_loop]
        start = self._starts[operand.number]
        for number in range(-(-rows * chunks // threads)):
            at = arith.addi(self._lane.thread, i32_constant(number * threads))
            row, chunk = (
                arith.divui(at, i32_constant(chunks)),
                arith.remui(at, i32_constant(chunks)),
            )
            place = byte_address(
                to,
                arith.addi(
                    arith.muli(row, i32_constant(pitch)),
                    arith.muli(chunk, i32_constant(MATRIX_BYTES)),
                ),
            )
            is_some = (number + 1) * threads > rows * chunks
            guard = scf.IfOp(is_below(at, i32_constant(rows * chunks))) if is_some else None
            with ir.InsertionPoint(guard.then_block) if guard else ir.InsertionPoint.current:
                here = arith.addi(first, as_index(row))
                exists = arith.cmpi(arith.CmpIPredicate.slt, here, end)
                near = arith.minsi(here, last)
                places = {row_loops[0]: near} if len(row_loops) == 1 else self._plan.places_of(near)
                rows_at = [(at, operand.strides[loop]) for loop, at in places.items()]
                rows_at += loaded[number] if loaded else ()
                column = arith.muli(as_index(chunk), index_constant(self._chunk))
                if self._plan.wide:
                    is_inside = exists
                    if chunks * self._chunk > columns:
                        is_column = is_below(column, index_constant(columns))
                        is_inside = arith.andi(exists, is_column)
                        column = arith.select(is_column, column, index_constant(0))
                    steps = [*rows_at, (column, column_stride)]
                    source = address(start, operand.element, self.parameters.place(ZERO, steps))
                    bytes_ = arith.select(is_inside, i32_constant(MATRIX_BYTES), i32_constant(0))
                    copy_async(place, source, bytes_)
                else:
                    self._copy_elements(
                        operand, place, rows_at, (column, column_stride), exists, columns
                    )
                if guard is not None:
                    scf.YieldOp([])

    def _copy_elements(
        self,
        operand: Operand,
        to: ir.Value,
        row: _Places,
        column: tuple[ir.Value, Size],
        exists: ir.Value,
        columns: int,
    ) -> None:
        """Copies 16 bytes of a row, element by element."""
        zero = constant(operand.element, 0.0)
        found: list[ir.Value] = []
        for number in range(self._chunk):
            place = _plus(column[0], number)
            is_column = is_below(place, index_constant(columns))
            near = arith.select(is_column, place, index_constant(0))
            where = self.parameters.place(ZERO, [*row, (near, column[1])])
            source = address(self._starts[operand.number], operand.element, where)
            (value,) = load(source, operand.element, 1, 1)
            found.append(arith.select(arith.andi(exists, is_column), value, zero))
        store(to, operand.element, found, MATRIX_BYTES)

    def _own_share(self, tile: ir.Value, pitch: int) -> ir.Value:
        """Where the warp's keys or values begin in a tile of them."""
        configuration = self._configuration
        if configuration.key_warps == 1:
            return tile
        return byte_address(
            tile, arith.muli(self._key_warp, i32_constant(configuration.warp_keys * pitch))
        )

    # Products.

    def _load_queries(self) -> list[list[list[ir.Value]]]:
        """The first product's operands of the queries, by row tile and step of the depth."""
        wait_for_copies(self._configuration.stages - 1)
        gpu.barrier()
        return self._query_operands()

    def _query_operands(self) -> list[list[list[ir.Value]]]:
        return [
            [self._query_operand(tile, step) for step in range(self._depth_steps)]
            for tile in range(self._configuration.row_tiles)
        ]

    def _query_operand(self, tile: int, step: int) -> list[ir.Value]:
        place = self._lane.first_operand(self._key_pitch)
        warp = arith.muli(
            self._row_warp, i32_constant(self._configuration.warp_rows * self._key_pitch)
        )
        where = byte_address(self._queries, arith.addi(warp, place))
        offset = tile * ROWS * self._key_pitch + step * DEPTH * self._bytes
        return load_matrices(byte_address(where, offset))

    def _scores(
        self, keys: ir.Value, operands: list[list[list[ir.Value]]] | None
    ) -> list[list[list[ir.Value]]]:
        """The first product of the tile in a stage: by row tile, tile of keys, and element."""
        configuration, kind = self._configuration, str(self._attention.element)
        tiles = self._key_tiles
        zero = constant(ir.F32Type.get(), 0.0)
        sums = [[[zero] * 4 for _ in range(tiles)] for _ in range(configuration.row_tiles)]
        words_of = self._key_words(keys)
        for step in range(self._depth_steps):
            rows = [
                operands[tile][step] if operands is not None else self._query_operand(tile, step)
                for tile in range(configuration.row_tiles)
            ]
            for pair in range(tiles // 2):
                words = words_of(pair, step)
                for side in range(2):
                    for row, sum_ in zip(rows, sums, strict=True):
                        at = 2 * pair + side
                        b = words[2 * side : 2 * side + 2]
                        sum_[at] = multiply(row, b, sum_[at], (kind, kind))
        return sums

    def _key_words(self, keys: ir.Value) -> Callable[[int, int], list[ir.Value]]:
        """Returns what loads second operands of a pair of 8 keys each, by step of the depth."""
        share = self._own_share(keys, self._key_pitch)
        where = byte_address(share, self._lane.second_operand(self._key_pitch))

        def load_words(pair: int, step: int) -> list[ir.Value]:
            offset = pair * 2 * COLUMNS * self._key_pitch + step * DEPTH * self._bytes
            return load_matrices(byte_address(where, offset))

        return load_words

    def _add_values(
        self,
        values: ir.Value,
        powers: list[list[list[ir.Value]]],
        sums: list[list[list[ir.Value]]],
    ) -> list[list[list[ir.Value]]]:
        """The sums with the second product of the tile in a stage added."""
        element = self._attention.element
        kind = str(element)
        words_of = self._value_words(values)
        for step in range(self._configuration.warp_keys // DEPTH):
            rows = [as_operand(power[2 * step], power[2 * step + 1], element) for power in powers]
            for pair in range(self._column_tiles // 2):
                words = words_of(pair, step)
                for side in range(2):
                    for row, sum_ in zip(rows, sums, strict=True):
                        at = 2 * pair + side
                        b = words[2 * side : 2 * side + 2]
                        sum_[at] = multiply(row, b, sum_[at], (kind, kind))
        return sums

    def _value_words(self, values: ir.Value) -> Callable[[int, int], list[ir.Value]]:
        """Returns what loads second operands of a pair of 8 columns each, by step of the keys."""
        share = self._own_share(values, self._value_pitch)
        where = byte_address(share, self._lane.first_operand(self._value_pitch))

        def load_words(pair: int, step: int) -> list[ir.Value]:
            offset = step * DEPTH * self._value_pitch + pair * 2 * COLUMNS * self._bytes
            return load_matrices(byte_address(where, offset), transposed=True)

        return load_words

    # The softmax.

    def _state(self) -> list[ir.Value]:
        """Returns what the loop begins with: greatest scores, totals, sums."""
        f32, tiles = ir.F32Type.get(), self._row_tiles
        zero = constant(f32, 0.0)
        most = [constant(f32, -inf)] * (2 * tiles)
        return [*most, *[zero] * (2 * tiles), *[zero] * (4 * tiles * self._column_tiles)]

    def _step(
        self,
        number: ir.Value,
        bounds: Bounds,
        carried: list[ir.Value],
        operands: list[list[list[ir.Value]]] | None,
    ) -> list[ir.Value]:
        """The part's tile of keys of that number: what is carried after it."""
        stages = self._configuration.stages
        wait_for_copies(stages - 2)
        gpu.barrier()
        tile, ahead = (self._tile(_plus(number, more), bounds) for more in (0, stages - 1))
        passed = arith.index_cast(i32(), number)
        slot = arith.remui(passed, i32_constant(stages))
        self._read_keys(
            ahead,
            bounds,
            arith.remui(arith.addi(passed, i32_constant(stages - 1)), i32_constant(stages)),
        )
        commit_copies()
        stage = byte_address(self._stages, arith.muli(slot, i32_constant(self._stage_bytes)))
        scores = self._scores(stage, operands)
        most, totals, powers, sums = self._weighed(tile, bounds, scores, carried)
        values = byte_address(stage, self._configuration.keys * self._key_pitch)
        sums = self._add_values(values, powers, sums)
        return [*most, *totals, *flat(sums)]

    def _weighed(
        self,
        tile: ir.Value,
        bounds: Bounds,
        scores: list[list[list[ir.Value]]],
        carried: list[ir.Value],
    ) -> tuple[
        list[ir.Value], list[ir.Value], list[list[list[ir.Value]]], list[list[list[ir.Value]]]
    ]:
        """Returns greatest scores and totals with those of a tile, their powers, and sums."""
        tiles = self._row_tiles
        xs = self._masked(tile, bounds, scores)
        most, total = carried[: 2 * tiles], carried[2 * tiles : 4 * tiles]
        sums = nested(carried[4 * tiles :], self._column_tiles)
        new_most: list[ir.Value] = []
        new_total: list[ir.Value] = []
        powers: list[list[list[ir.Value]]] = []
        for number in range(tiles):
            raised: list[list[ir.Value]] = [[] for _ in xs[number]]
            for half in range(2):
                row = [each[2 * half + side] for each in xs[number] for side in range(2)]
                at = 2 * number + half
                greatest, sum_, shrink, found = self._raised(row, most[at], total[at])
                new_most.append(greatest)
                new_total.append(sum_)
                for place, value in enumerate(found):
                    raised[place // 2].append(value)
                for each in sums[number]:
                    for side in range(2):
                        at = 2 * half + side
                        each[at] = arith.mulf(each[at], shrink)
            powers.append(raised)
        return new_most, new_total, powers, sums

    def _raised(
        self, row: list[ir.Value], before: ir.Value, total: ir.Value
    ) -> tuple[ir.Value, ir.Value, ir.Value, list[ir.Value]]:
        """Returns what a lane's part of a row adds to its greatest score and total, and its powers.

        The third is what sums so far are to be multiplied by.
        """
        greatest = _folded([*row], arith.maximumf)
        greatest = arith.maximumf(before, self._across(greatest, arith.maximumf))
        lowered = self._lowered(base_of(greatest))
        shrink = power(lowered(before))
        found = [power(lowered(each)) for each in row]
        return greatest, math.fma(total, shrink, _folded(found, arith.addf)), shrink, found

    def _across(
        self, value: ir.Value, combine: Callable[[ir.Value, ir.Value], ir.Value]
    ) -> ir.Value:
        """Returns what the lanes that share a row have, combined."""
        distance, width = 1, i32_constant(LANES)
        while distance < self._tile_columns // 2:
            other = gpu.ShuffleOp(value, i32_constant(distance), width, gpu.ShuffleMode.XOR)
            value = combine(value, other.shuffleResult)
            distance *= 2
        return value

    def _lowered(self, base: ir.Value) -> Callable[[ir.Value], ir.Value]:
        """Returns what gives the logarithm of a power from a score, in one instruction."""
        factor = constant(ir.F32Type.get(), self._factor)
        less = arith.negf(arith.mulf(base, factor))
        return lambda value: math.fma(value, factor, less)

    def _masked(
        self, tile: ir.Value, bounds: Bounds, scores: list[list[list[ir.Value]]]
    ) -> list[list[list[ir.Value]]]:
        """x of each score; with a look at places only where they matter in the tile."""
        first = arith.muli(tile, index_constant(self._configuration.keys))
        end = _plus(first, self._configuration.keys)
        all_seen = arith.andi(
            arith.cmpi(arith.CmpIPredicate.sge, first, bounds.first_sure),
            arith.cmpi(arith.CmpIPredicate.sle, end, bounds.last_sure),
        )
        types = [each.type for each in flat(scores)]
        choice = scf.IfOp(all_seen, types, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            scf.YieldOp(self._xs(first, scores, is_sure=True))
        assert choice.else_block is not None
        with ir.InsertionPoint(choice.else_block):
            scf.YieldOp(self._xs(first, scores, is_sure=False))
        return nested(list(choice.results), self._key_tiles)

    def _xs(
        self, first: ir.Value, scores: list[list[list[ir.Value]]], *, is_sure: bool
    ) -> list[ir.Value]:
        attention, found = self._attention, list[ir.Value]()
        rows = self._row_places()
        across, beside = self._key_strides
        keys = arith.addi(first, as_index(arith.muli(self._lane.pair, i32_constant(across))))
        if self._configuration.key_warps > 1:
            share = index_constant(self._configuration.warp_keys)
            keys = arith.addi(keys, arith.muli(as_index(self._key_warp), share))
        i1, least = ir.IntegerType.get_signless(1), constant(ir.F32Type.get(), -inf)
        end = self.parameters.size(self._plan.keys)
        for tile, row_tile in enumerate(scores):
            for group, four in enumerate(row_tile):
                for place, score in enumerate(four):
                    key = _plus(keys, group * self._tile_columns + place % 2 * beside)
                    point = self._point(rows[2 * tile + place // 2], key, is_sure)
                    point.known[self._scaled] = score
                    if is_sure:
                        for each in self._conditions:
                            point.known[each.value] = constant(i1, int(each.holds))
                    x = point.value(attention.x)
                    if not is_sure:
                        exists = arith.cmpi(arith.CmpIPredicate.slt, key, end)
                        x = arith.select(exists, x, least)
                    found.append(x)
        return found

    # The region.

    def _begin_region(self) -> None:
        """Computes what is the same in the whole block."""
        self._block_point = Point(
            self._region,
            frozenset(range(len(self._work.extents))),
            lambda number: self._load(number, {}),
            lambda loop: self._places[loop],
        )
        self._varying = frozenset([self._attention.keys, *self._plan.along])
        self._block_point.known[self._scaled] = constant(ir.F32Type.get(), 0.0)
        self._block_point.prepare(self._attention.x, self._varying)
        del self._block_point.known[self._scaled]
        for operand in self._work.operands:
            for place, _ in operand.places if isinstance(operand, LoadedOperand) else ():
                self._block_point.prepare(place, frozenset([self._attention.keys]))

    def _point(self, row: ir.Value, key: ir.Value, is_sure: bool) -> Point:
        places = {self._attention.keys: key, **self._plan.places_of(row)}

        def index(loop: int) -> ir.Value:
            return places[loop]

        return Point(
            self._region,
            self._varying,
            lambda number: self._load(number, places, is_sure=is_sure),
            index,
            self._block_point,
        )

    def _load(self, number: int, places: dict[int, ir.Value], *, is_sure: bool = False) -> ir.Value:
        """An element of a further operand, the nearest one of a place beyond its end."""
        operand = self._by_number[number]
        steps: list[tuple[ir.Value, Size]] = []
        for loop, place in places.items():
            if operand.strides[loop] == ZERO:
                continue
            if loop != self._attention.keys or not is_sure:
                last = arith.subi(self.parameters.size(self._work.extents[loop]), index_constant(1))
                place = arith.minsi(place, last)
            steps.append((place, operand.strides[loop]))
        where = address(self._starts[number], operand.element, self.parameters.place(ZERO, steps))
        return load(where, operand.element, 1, 1)[0]

    def _bounds(self) -> Bounds:
        """Which tiles of keys some row of the block sees, and which keys all of them do."""
        zero, keys = index_constant(0), self.parameters.size(self._plan.keys)
        first, last, first_sure, last_sure = zero, keys, zero, keys
        end = arith.minsi(
            _plus(self._first_row, self._configuration.rows), self.parameters.size(self._plan.rows)
        )
        for condition in self._conditions:
            rest = index_constant(condition.constant)
            for value, factor in condition.outside.items():
                number = self._block_point.value(value)
                number = (
                    arith.index_cast(ir.IndexType.get(), number)
                    if isinstance(number.type, ir.IntegerType)
                    else number
                )
                rest = arith.addi(rest, arith.muli(number, index_constant(factor)))
            for loop, factor in condition.loops.items():
                if loop in self._places:
                    rest = arith.addi(rest, arith.muli(self._places[loop], index_constant(factor)))
            least = most = rest
            for loop in self._plan.along:
                # Of several loops a tile has all iterations.
                ends = (self._first_row, _plus(end, -1))
                if len(self._plan.along) > 1:
                    ends = (zero, index_constant(self._work.extents[loop].known - 1))
                factor = index_constant(condition.loops.get(loop, 0))
                at_first, at_last = (arith.muli(each, factor) for each in ends)
                least = arith.addi(least, arith.minsi(at_first, at_last))
                most = arith.addi(most, arith.maxsi(at_first, at_last))
            if condition.loops[self._attention.keys] < 0:
                last = arith.minsi(last, _plus(most, 1))
                last_sure = arith.minsi(last_sure, _plus(least, 1))
            else:
                first = arith.maxsi(first, arith.subi(zero, most))
                first_sure = arith.maxsi(first_sure, arith.subi(zero, least))
        by = index_constant(self._configuration.keys)
        first = arith.divui(first, by)
        last = arith.ceildivsi(arith.maxsi(last, zero), by)
        if self._scratch is not None:
            first = arith.addi(first, self._part)
        return Bounds(first, last, first_sure, last_sure)

    def _tile(self, number: ir.Value, bounds: Bounds) -> ir.Value:
        """The part's tile of that number: parts have tiles in turns.

        So blocks that run at once read what lies together.
        """
        if self._scratch is None:
            return arith.addi(bounds.first, number)
        parts = self.parameters.size(self._plan.parts)
        return arith.addi(bounds.first, arith.muli(number, parts))

    def _tiles_of(self, bounds: Bounds) -> ir.Value:
        """How many tiles the part has."""
        count = arith.maxsi(arith.subi(bounds.last, bounds.first), index_constant(0))
        if self._scratch is None:
            return count
        parts = self._plan.parts
        more = _plus(arith.addi(count, self.parameters.size(parts)), -1)
        return divided(more, parts, 1, self.parameters)[0]

    # The end.

    def _finish(self, carried: list[ir.Value]) -> None:
        """Divides the sums by what the totals give, and writes them."""
        wait_for_copies(0)
        tiles = self._row_tiles
        most, totals = carried[: 2 * tiles], carried[2 * tiles : 4 * tiles]
        sums = nested(carried[4 * tiles :], self._column_tiles)
        rows = self._row_places()
        end = self.parameters.size(self._plan.rows)
        if self._configuration.key_warps > 1:
            self._finish_together(rows, end, most, totals, sums)
            return
        for number, part in enumerate(totals):
            total = self._across(part, arith.addf)
            half = number % 2
            pairs = [four[2 * half : 2 * half + 2] for four in sums[number // 2]]
            guard = scf.IfOp(arith.cmpi(arith.CmpIPredicate.slt, rows[number], end))
            with ir.InsertionPoint(guard.then_block):
                if self._scratch is not None:
                    self._keep(rows[number], most[number], total, pairs)
                else:
                    inverse = self._plan.inverse(total, self.parameters)
                    for group, pair in enumerate(pairs):
                        whole = [arith.mulf(each, inverse) for each in pair]
                        self._write(rows[number], group, whole)
                scf.YieldOp([])

    def _finish_together(
        self,
        rows: list[ir.Value],
        end: ir.Value,
        most: list[ir.Value],
        totals: list[ir.Value],
        sums: list[list[list[ir.Value]]],
    ) -> None:
        """Combines what the warps of each row have found, in shared memory."""
        configuration, f32 = self._configuration, ir.F32Type.get()
        filled = columns_of(self._plan)
        pitch = filled + STATES
        share = configuration.rows * state_bytes(self._columns)
        gpu.barrier()
        own = byte_address(self._stages, arith.muli(self._key_warp, i32_constant(share)))
        column = arith.muli(self._lane.pair, i32_constant(2 * _F32_BYTES))
        is_first = arith.cmpi(arith.CmpIPredicate.eq, self._lane.pair, i32_constant(0))
        for number, part in enumerate(totals):
            total = self._across(part, arith.addf)
            half = number % 2
            guard = scf.IfOp(arith.cmpi(arith.CmpIPredicate.slt, rows[number], end))
            with ir.InsertionPoint(guard.then_block):
                here = arith.index_cast(i32(), arith.subi(rows[number], self._first_row))
                row = byte_address(own, arith.muli(here, i32_constant(pitch * _F32_BYTES)))
                for group, four in enumerate(sums[number // 2]):
                    place = group * self._tile_columns * _F32_BYTES
                    where = byte_address(byte_address(row, column), place)
                    store(where, f32, four[2 * half : 2 * half + 2], 2 * _F32_BYTES)
                alone = scf.IfOp(is_first)
                with ir.InsertionPoint(alone.then_block):
                    where = byte_address(row, filled * _F32_BYTES)
                    store(where, f32, [most[number], total], STATES * _F32_BYTES)
                    scf.YieldOp([])
                scf.YieldOp([])
        gpu.barrier()
        count = arith.minsi(arith.subi(end, self._first_row), index_constant(configuration.rows))
        elements = arith.muli(count, index_constant(self._columns))
        threads = index_constant(configuration.threads)
        loop = scf.ForOp(as_index(self._lane.thread), elements, threads, [])
        with ir.InsertionPoint(loop.body):
            row, column = divided(loop.induction_variable, Size(self._columns), 1, self.parameters)
            first = arith.muli(arith.index_cast(i32(), row), i32_constant(pitch * _F32_BYTES))
            self._combine(byte_address(self._stages, first), share, row, column)
            scf.YieldOp([])

    def _combine(self, first: ir.Value, share: int, row: ir.Value, column: ir.Value) -> None:
        """Writes one result, or what is found of it in this part of the keys.

        `first` is the row's place in shared memory of the first warp; each other's is `share` bytes
        after the one before.
        """
        f32, filled = ir.F32Type.get(), columns_of(self._plan)
        at = arith.muli(arith.index_cast(i32(), column), i32_constant(_F32_BYTES))
        states: list[list[ir.Value]] = []
        sums: list[ir.Value] = []
        for warp in range(self._configuration.key_warps):
            own = byte_address(first, warp * share)
            states.append(
                load(byte_address(own, filled * _F32_BYTES), f32, STATES, STATES * _F32_BYTES)
            )
            sums += load(byte_address(own, at), f32, 1, 1)
        most = _folded([greatest for greatest, _ in states], arith.maximumf)
        zero, factor = constant(f32, 0.0), constant(f32, self._factor)
        base = base_of(most)
        total = sum_ = zero
        for (greatest, part), each in zip(states, sums, strict=True):
            weight = power(arith.mulf(arith.subf(greatest, base), factor))
            total, sum_ = math.fma(weight, part, total), math.fma(weight, each, sum_)
        row = arith.addi(self._first_row, row)
        if self._scratch is None:
            whole = arith.mulf(sum_, self._plan.inverse(total, self.parameters))
            self._store(row, column, [self._plan.result(whole, self.parameters)])
            return
        kept = self._kept_row(row)
        where = arith.addi(arith.muli(kept, index_constant(filled)), column)
        kept_sums, kept_states = (self.parameters.pointer(buffer) for buffer in self._scratch)
        store(address(kept_sums, f32, where), f32, [sum_], 1)
        is_first = arith.cmpi(arith.CmpIPredicate.eq, column, index_constant(0))
        guard = scf.IfOp(is_first)
        with ir.InsertionPoint(guard.then_block):
            where = address(kept_states, f32, arith.muli(kept, index_constant(STATES)))
            store(where, f32, [most, total], MATRIX_BYTES // 2)
            scf.YieldOp([])

    def _kept_row(self, row: ir.Value) -> ir.Value:
        """The number of a row's part of the keys among those of all."""
        number = arith.addi(arith.muli(self._head, self.parameters.size(self._plan.rows)), row)
        return arith.addi(arith.muli(number, self.parameters.size(self._plan.parts)), self._part)

    def _keep(
        self, row: ir.Value, most: ir.Value, total: ir.Value, pairs: list[list[ir.Value]]
    ) -> None:
        """Writes what is found of a row in this part of the keys."""
        assert self._scratch is not None
        f32 = ir.F32Type.get()
        sums, states = (self.parameters.pointer(buffer) for buffer in self._scratch)
        number = self._kept_row(row)
        first = arith.muli(number, index_constant(columns_of(self._plan)))
        first = arith.addi(first, as_index(arith.shli(self._lane.pair, i32_constant(1))))
        for group, pair in enumerate(pairs):
            where = address(sums, f32, _plus(first, group * self._tile_columns))
            store(where, f32, pair, MATRIX_BYTES // 2)
        is_first = arith.cmpi(arith.CmpIPredicate.eq, self._lane.pair, i32_constant(0))
        guard = scf.IfOp(is_first)
        with ir.InsertionPoint(guard.then_block):
            where = address(states, f32, arith.muli(number, index_constant(STATES)))
            store(where, f32, [most, total], MATRIX_BYTES // 2)
            scf.YieldOp([])

    def _write(self, row: ir.Value, group: int, sums: Sequence[ir.Value]) -> None:
        """Writes a lane's two neighbouring results."""
        values = [self._plan.result(sum_, self.parameters) for sum_ in sums]
        first = group * self._tile_columns
        column = _plus(as_index(arith.shli(self._lane.pair, i32_constant(1))), first)
        is_whole = first + self._tile_columns <= self._columns
        count = 2 if self._plan.wide else 1
        for number in range(0, 2, count):
            place = _plus(column, number)
            guard = None if is_whole else scf.IfOp(is_below(place, index_constant(self._columns)))
            with ir.InsertionPoint(guard.then_block) if guard else ir.InsertionPoint.current:
                self._store(row, place, values[number : number + count])
                if guard is not None:
                    scf.YieldOp([])

    def _store(self, row: ir.Value, column: ir.Value, values: list[ir.Value]) -> None:
        """Writes neighbouring results of a row."""
        (output,) = self._work.outputs
        places = self._plan.places_of(row)
        steps = [(at, output.strides[loop]) for loop, at in places.items()]
        steps.append((column, output.strides[self._attention.columns]))
        where = address(
            self._starts[output.number], output.element, self.parameters.place(ZERO, steps)
        )
        count = len(values)
        alignment = count * element_bytes(output.element) if count > 1 else 1
        store(where, output.element, values, alignment)


@dataclass(frozen=True)
class Bounds:
    """Tiles of keys from `first` to before `last`; keys of which the same holds for all rows."""

    first: ir.Value
    last: ir.Value
    first_sure: ir.Value
    last_sure: ir.Value


def _folded(values: list[ir.Value], combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """All values combined, neighbours first."""
    while len(values) > 1:
        pairs = [combine(*values[at : at + 2]) for at in range(0, len(values) - 1, 2)]
        values = pairs + values[len(values) - len(values) % 2 :]
    return values[0]


def nested(values: list[ir.Value], tiles: int) -> list[list[list[ir.Value]]]:
    """Values by row tile, tile of columns, and element."""
    fours = [values[at : at + 4] for at in range(0, len(values), 4)]
    return [fours[at : at + tiles] for at in range(0, len(fours), tiles)]


def flat(values: list[list[list[ir.Value]]]) -> list[ir.Value]:
    """Values in one row: what `nested` takes."""
    return [each for tile in values for four in tile for each in four]


def _plus(value: ir.Value, number: int) -> ir.Value:
    return arith.addi(value, index_constant(number)) if number else value
