"""Attention of f32 by ordinary multiplications, whose results lie as those of warp matrices do."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, ir, math, scf
from ...i32 import i32_constant, narrow
from ...rewriting import constant, index_constant
from ..elements import load, store
from ..warp_matrices import DEPTH, MATRIX_BYTES, byte_address
from .kernel import AttentionKernel, nested

# Numbers of one shared access.
_WIDTH = 4
_BYTES = 4
_WHOLE_WARP = -1


class PlainKernel(AttentionKernel):
    """Emits the body. A lane reads the rows and columns of its results, four numbers at a time.

    Shared memory gives a multiprocessor 32 numbers a cycle, whether or not lanes ask for the same
    ones, and 128 can be multiplied: so results of a lane are as near to a square as they come.
    """

    _tile_rows, _tile_columns = 8, 16
    # So the keys of eight lanes, which are read at once, lie in different banks.
    _key_strides = (1, 8)

    def _begin_shared(self) -> None:
        super()._begin_shared()
        configuration = self._configuration
        self._weight_pitch = configuration.weight_pitch
        rows = configuration.warps * configuration.warp_rows
        self._weights = self.shared.area(rows * self._weight_pitch)

    def _load_queries(self) -> list[list[list[ir.Value]]]:
        return []

    def _scores(
        self, keys: ir.Value, operands: list[list[list[ir.Value]]] | None
    ) -> list[list[list[ir.Value]]]:
        del operands
        f32 = ir.F32Type.get()
        tiles, groups = self._row_tiles, self._key_tiles
        pitch = self._key_pitch
        across, beside = self._key_strides
        queries = byte_address(self._queries, self._row_offset(self._row_warp, pitch))
        own = arith.muli(self._lane.pair, i32_constant(across * pitch))
        keys = byte_address(self._own_share(keys, pitch), own)
        zero = constant(f32, 0.0)
        steps = index_constant(self._depth_steps * DEPTH // _WIDTH)
        loop = scf.ForOp(index_constant(0), steps, index_constant(1), [zero] * (4 * tiles * groups))
        with ir.InsertionPoint(loop.body):
            offset = arith.muli(narrow(loop.induction_variable), i32_constant(MATRIX_BYTES))
            here, there = byte_address(queries, offset), byte_address(keys, offset)
            rows = self._rows(here, pitch)
            sums: list[ir.Value] = [*loop.inner_iter_args]
            for group in range(groups):
                for side in range(2):
                    place = (group * self._tile_columns + side * beside) * pitch
                    key = load(byte_address(there, place), f32, _WIDTH, MATRIX_BYTES)
                    for number, row in enumerate(rows):
                        at = (number // 2 * groups + group) * 4 + number % 2 * 2 + side
                        for one, other in zip(row, key, strict=True):
                            sums[at] = math.fma(one, other, sums[at])
            scf.YieldOp(sums)
        return nested(list(loop.results), groups)

    def _add_values(
        self,
        values: ir.Value,
        powers: list[list[list[ir.Value]]],
        sums: list[list[list[ir.Value]]],
    ) -> list[list[list[ir.Value]]]:
        """Powers go to the lanes that share a row through shared memory."""
        configuration, f32 = self._configuration, ir.F32Type.get()
        pitch = self._weight_pitch
        weights = byte_address(self._weights, self._row_offset(self._lane.warp, pitch))
        across, beside = self._key_strides
        own = byte_address(weights, arith.muli(self._lane.pair, i32_constant(across * _BYTES)))
        for tile, groups in enumerate(powers):
            for group, four in enumerate(groups):
                for number, power in enumerate(four):
                    key = group * self._tile_columns + number % 2 * beside
                    place = self._row_of(tile, number // 2) * pitch + key * _BYTES
                    store(byte_address(own, place), f32, [power], _BYTES)
        ir.Operation.create("nvvm.bar.warp.sync", operands=[i32_constant(_WHOLE_WARP)])
        pair_bytes = arith.muli(self._lane.pair, i32_constant(2 * _BYTES))
        columns = byte_address(self._own_share(values, self._value_pitch), pair_bytes)
        flat = [each for tile in sums for four in tile for each in four]
        steps = index_constant(configuration.warp_keys // _WIDTH)
        loop = scf.ForOp(index_constant(0), steps, index_constant(1), flat)
        with ir.InsertionPoint(loop.body):
            step = narrow(loop.induction_variable)
            here = byte_address(weights, arith.muli(step, i32_constant(MATRIX_BYTES)))
            there = byte_address(
                columns, arith.muli(step, i32_constant(_WIDTH * self._value_pitch))
            )
            rows = self._rows(here, pitch)
            added: list[ir.Value] = [*loop.inner_iter_args]
            for key in range(_WIDTH):
                for group in range(self._column_tiles):
                    place = key * self._value_pitch + group * self._tile_columns * _BYTES
                    value = load(byte_address(there, place), f32, 2, 2 * _BYTES)
                    for number, row in enumerate(rows):
                        at = (number // 2 * self._column_tiles + group) * 4 + number % 2 * 2
                        for side in range(2):
                            added[at + side] = math.fma(row[key], value[side], added[at + side])
            scf.YieldOp(added)
        return nested(list(loop.results), self._column_tiles)

    def _rows(self, where: ir.Value, pitch: int) -> list[list[ir.Value]]:
        """Loads what the lane has of each of its rows: numbers of one access."""
        f32 = ir.F32Type.get()
        return [
            load(byte_address(where, self._row_of(tile, half) * pitch), f32, _WIDTH, MATRIX_BYTES)
            for tile in range(self._row_tiles)
            for half in range(2)
        ]

    def _lowered(self, base: ir.Value) -> Callable[[ir.Value], ir.Value]:
        """The difference is exact for the greatest powers; a product of the score would not be."""
        factor = constant(ir.F32Type.get(), self._factor)
        return lambda value: arith.mulf(arith.subf(value, base), factor)

    def _row_offset(self, warp: ir.Value, pitch: int) -> ir.Value:
        """Where the lane's first row lies, of rows of all warps up to one."""
        first = arith.muli(warp, i32_constant(self._configuration.warp_rows))
        return arith.muli(arith.addi(first, self._lane.group), i32_constant(pitch))
