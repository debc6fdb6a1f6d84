"""Attention of few rows, whose keys and values the copy engine (TMA) brings.

Each warp of a block has a share of the keys of a tile, and rings of stages of its own for them: one
of its threads has the copy engine fill a stage as soon as the warp has read it, and nobody waits
for other warps before the end. Rows of 128 bytes lie in shared memory as the copy engine swizzles
them, so that ldmatrix reads 8 of them with few conflicts.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, gpu, ir, scf
from ....dialects.records import dataclass
from ...i32 import i32_constant, narrow
from ...rewriting import index_constant
from ..async_copies import commit_copies, wait_for_copies
from ..cache_priority import policy
from ..size import ONE, ZERO, Size
from ..warp_matrices import DEPTH, MATRIX_BYTES, byte_address, load_matrices
from ..warpgroup_matrices import (
    BARRIER_BYTES,
    MOST_DIMS,
    PATTERN_ROWS,
    ROW_BYTES,
    Barrier,
    begin_copies_and_barriers,
    copy_box,
    order_copies_after,
    tensor_map,
    wait_for_warp,
)
from ..work import Operand
from .configuration import up
from .kernel import AttentionKernel, Bounds, flat
from .plan import outer_loops

# The second-level cache is not to read 256 bytes where 128 are asked for, but of rows that are no
# multiples of 128: in us, with and without, 8x32x1x128 with 4096 keys 134.6 and 122.4 (cuDNN
# 125.9), with 8192 that four heads share 70.1 and 66.4 (69.9), 32x16x1x64 36.3 and 34.4 (35.8),
# 4x16x2x256 73.1 and 68.8; 16x24x1x96 107.3 and 109.5. To evict what is read once first takes 0.2
# to 3 % more off.
# Of 512 bytes, or more, four rows or eight of a box that has whole ones lie in the same banks.
_MOST_WHOLE = 3
_PIECES = ROW_BYTES // MATRIX_BYTES


@dataclass(frozen=True)
class _Stream:
    """Keys, number 0, or values, 1: how they pass through shared memory.

    A row of the loop `head` has so many `chunks` of 128 bytes. If it `is_whole`, those of a row
    follow one another in a box; else a box has one of each row. A warp has `bytes` of a tile.
    """

    number: int
    operand: Operand
    head: int
    chunks: int
    is_whole: bool
    bytes: int


class EngineKernel(AttentionKernel):
    """Emits the body."""

    def _begin_shared(self) -> None:
        configuration, attention = self._configuration, self._attention
        self._line = ROW_BYTES // self._bytes
        self._streams = (
            self._stream(0, self._key, attention.depth),
            self._stream(1, self._value, attention.columns),
        )
        self._maps = [self._map(each) for each in self._streams]
        self._policies = [self._policy(each.operand) for each in self._streams]
        stages, warps = configuration.stages, configuration.warps
        self._stage_bytes = warps * sum(each.bytes for each in self._streams)
        # Swizzled rows first: these begin at multiples of 1024 bytes.
        self._stages = self.shared.area(configuration.area_bytes(self._plan.heads))
        self._queries = self.shared.area(configuration.rows * self._key_pitch)
        self._barriers = self.shared.area(len(self._streams) * warps * stages * BARRIER_BYTES)
        keys, values = self._streams
        lane = self._lane
        self._key_places = self._places_of(keys, *lane.columns_pieces())
        self._value_places = self._places_of(values, *lane.rows_pieces())

    def _stream(self, number: int, operand: Operand, head: int) -> _Stream:
        size, dims = self._plan.head(head), 3 + len(outer_loops(operand, self._plan.grid))
        chunks = up(size, self._line) // self._line
        fills = size % self._line == 0 and dims <= MOST_DIMS
        bytes_ = chunks * self._configuration.warp_keys * ROW_BYTES
        return _Stream(number, operand, head, chunks, fills and 1 < chunks <= _MOST_WHOLE, bytes_)

    def _map(self, stream: _Stream) -> ir.Value:
        """The address of the descriptor of keys or values: a head, keys, and what is around."""
        operand = stream.operand
        loops = [stream.head, self._attention.keys, *outer_loops(operand, self._plan.grid)]
        sizes: list[Size] = [self._work.extents[loop] for loop in loops]
        strides = [operand.strides[loop] for loop in loops]
        box = [*[1] * (len(loops) - 2), self._configuration.warp_keys, self._line]
        if stream.is_whole:
            sizes[:1] = [Size(self._line), Size(stream.chunks)]
            strides[:1] = [ONE, Size(self._line)]
            box[-1:] = [stream.chunks, self._line]
        name, source = ("keys", "values")[stream.number], (operand.buffer, operand.offset)
        return tensor_map(
            self.parameters, name, source, sizes[::-1], strides[::-1], box,
            promotes=self._plan.head(stream.head) % self._line > 0,
        )  # fmt: skip

    def _policy(self, operand: Operand) -> ir.Value | None:
        """The second-level cache's policy for keys or values that one block alone reads."""
        plan = self._plan
        is_read_once = plan.row_count == ONE and all(
            operand.strides[loop] != ZERO for loop in plan.grid
        )
        return policy("evict_first") if is_read_once else None

    def _places_of(self, stream: _Stream, row: ir.Value, piece: ir.Value) -> list[ir.Value]:
        """Where the lane reads a row's pieces, of 16 bytes, of two: of each chunk, four places."""
        found: list[ir.Value] = []
        for chunk in range(stream.chunks):
            if stream.is_whole:
                line = arith.addi(arith.muli(row, i32_constant(stream.chunks)), i32_constant(chunk))
                first = arith.muli(line, i32_constant(ROW_BYTES))
            else:
                line, far = row, chunk * self._configuration.warp_keys * ROW_BYTES
                first = arith.addi(arith.muli(line, i32_constant(ROW_BYTES)), i32_constant(far))
            mixed = arith.xori(piece, arith.andi(line, i32_constant(PATTERN_ROWS - 1)))
            for pair in range(0, _PIECES, 2):
                place = arith.xori(mixed, i32_constant(pair))
                found.append(arith.addi(first, arith.muli(place, i32_constant(MATRIX_BYTES))))
        return found

    # Copies.

    def _begin_reading(self, bounds: Bounds) -> None:
        stages, warps = self._configuration.stages, self._configuration.warps

        def begin_barriers() -> None:
            for number in range(len(self._streams) * warps * stages):
                Barrier(byte_address(self._barriers, number * BARRIER_BYTES)).begin(1)

        begin_copies_and_barriers(self._lane.thread, self._maps, begin_barriers)
        for stage in range(stages):
            for stream in self._streams:
                self._fill(stream, index_constant(stage), bounds, i32_constant(stage))
        self._read_queries()
        commit_copies()
        wait_for_copies(0)
        gpu.barrier()

    def _load_queries(self) -> list[list[list[ir.Value]]]:
        return self._query_operands()

    def _full(self, stream: _Stream, slot: ir.Value) -> Barrier:
        """The barrier of a stage of the warp."""
        warps, stages = self._configuration.warps, self._configuration.stages
        first = i32_constant(stream.number * warps * stages)
        number = arith.addi(arith.muli(self._lane.warp, i32_constant(stages)), slot)
        far = arith.muli(arith.addi(first, number), i32_constant(BARRIER_BYTES))
        return Barrier(byte_address(self._barriers, far))

    def _stage(self, stream: _Stream, slot: ir.Value) -> ir.Value:
        """Where a stage of the warp begins."""
        warps, stages = self._configuration.warps, self._configuration.stages
        before = sum(each.bytes for each in self._streams[: stream.number])
        start = byte_address(self._stages, warps * stages * before)
        number = arith.addi(arith.muli(self._lane.warp, i32_constant(stages)), slot)
        return byte_address(start, arith.muli(number, i32_constant(stream.bytes)))

    def _fill(self, stream: _Stream, number: ir.Value, bounds: Bounds, slot: ir.Value) -> None:
        """Begins the copies of what the warp has of a tile, if there is such a tile."""
        tile = self._tile(number, bounds)
        is_lead = arith.cmpi(arith.CmpIPredicate.eq, self._lane.lane, i32_constant(0))
        exists = arith.cmpi(arith.CmpIPredicate.slt, tile, bounds.last)
        guard = scf.IfOp(arith.andi(is_lead, exists))
        with ir.InsertionPoint(guard.then_block):
            warp_keys = self._configuration.warp_keys
            full = self._full(stream, slot)
            full.expect(stream.bytes)
            own = arith.muli(self._key_warp, i32_constant(warp_keys))
            whole = arith.muli(narrow(tile), i32_constant(self._configuration.keys))
            loops = outer_loops(stream.operand, self._plan.grid)
            rows = [arith.addi(whole, own), *(narrow(self._places[loop]) for loop in loops)]
            to, map_ = self._stage(stream, slot), self._maps[stream.number]
            policy_ = self._policies[stream.number]
            none = i32_constant(0)
            if stream.is_whole:
                copy_box(to, map_, [none, none, *rows], full.address, policy=policy_)
            for chunk in range(0 if stream.is_whole else stream.chunks):
                where = byte_address(to, chunk * warp_keys * ROW_BYTES)
                places = [i32_constant(chunk * self._line), *rows]
                copy_box(where, map_, places, full.address, policy=policy_)
            scf.YieldOp([])

    # Products.

    def _key_words(self, keys: ir.Value) -> Callable[[int, int], list[ir.Value]]:
        bytes_ = _bytes_of_16(self._streams[0])

        def load_words(pair: int, step: int) -> list[ir.Value]:
            where = byte_address(keys, self._key_places[step])
            return load_matrices(byte_address(where, pair * bytes_))

        return load_words

    def _value_words(self, values: ir.Value) -> Callable[[int, int], list[ir.Value]]:
        bytes_ = _bytes_of_16(self._streams[1])

        def load_words(pair: int, step: int) -> list[ir.Value]:
            where = byte_address(values, self._value_places[pair])
            return load_matrices(byte_address(where, step * bytes_), transposed=True)

        return load_words

    def _step(
        self,
        number: ir.Value,
        bounds: Bounds,
        carried: list[ir.Value],
        operands: list[list[list[ir.Value]]] | None,
    ) -> list[ir.Value]:
        count = self._configuration.stages
        stages, passed = i32_constant(count), narrow(number)
        turn = arith.divui(passed, stages)
        slot = arith.subi(passed, arith.muli(turn, stages))
        parity = arith.andi(turn, i32_constant(1))
        later = arith.addi(number, index_constant(count))
        keys, values = self._streams
        self._full(keys, slot).wait(parity)
        scores = self._scores(self._stage(keys, slot), operands)
        order_copies_after()
        wait_for_warp()
        self._fill(keys, later, bounds, slot)
        tile = self._tile(number, bounds)
        most, totals, powers, sums = self._weighed(tile, bounds, scores, carried)
        self._full(values, slot).wait(parity)
        sums = self._add_values(self._stage(values, slot), powers, sums)
        order_copies_after()
        wait_for_warp()
        self._fill(values, later, bounds, slot)
        return [*most, *totals, *flat(sums)]


def _bytes_of_16(stream: _Stream) -> int:
    """Bytes from 16 rows to the next ones, in a stage."""
    return DEPTH * ROW_BYTES * (stream.chunks if stream.is_whole else 1)
