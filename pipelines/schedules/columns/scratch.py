"""Partial results of the column schedule in global memory: a row of columns for each part."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..collective import Collective, merged
from ..elements import ACCESS_BYTES, address, element_bytes, load, store
from ..parameters import Parameters
from ..size import Size
from .plan import ColumnPlan
from .sweep import Sweep, chosen

_UNROLL = 4


class ColumnScratch:
    """A level's buffers in a kernel, one for each running value of each of its collectives."""

    def __init__(
        self,
        plan: ColumnPlan,
        parameters: Parameters,
        vector: ir.Value,
        level: Sequence[Collective],
        buffers: Sequence[ir.Value],
    ) -> None:
        self._plan = plan
        self._level = level
        self._columns = parameters.size(plan.space.columns)
        self._first = arith.muli(vector, index_constant(plan.width))
        self._pointers = [parameters.pointer(buffer) for buffer in buffers]

    def write(self, part: ir.Value, totals: Sequence[ir.Value]) -> None:
        """Writes a part's running values of the vector, each collective's columns in turn."""
        pointers = iter(self._pointers)
        rest = list(totals)
        for each in self._level:
            count = self._plan.width * len(each.types)
            found, rest = rest[:count], rest[count:]
            for number, kind in enumerate(each.types):
                where = address(next(pointers), kind, self._place(part))
                store(where, kind, found[number :: len(each.types)], self._alignment(kind))

    def merged(
        self, row: ir.Value, depth: int | ir.Value, count: ir.Value, extent: Size | None
    ) -> list[ir.Value]:
        """The running values of the thread's share of the parts: that of its row of `depth`."""

        def step(
            numbers: list[ir.Value], valid: list[ir.Value | None], running: list[ir.Value]
        ) -> list[ir.Value]:
            for part, is_there in zip(map(self._read, numbers), valid, strict=True):
                both = merged(self._level, self._plan.width, running, part)
                running = chosen(is_there, both, running)
            return running

        starts = [
            start for each in self._level for _ in range(self._plan.width) for start in each.start()
        ]
        sweep = Sweep(row, depth, index_constant(0), count, extent)
        return sweep.go(_UNROLL, starts, step)

    def _read(self, part: ir.Value) -> list[ir.Value]:
        pointers = iter(self._pointers)
        found: list[ir.Value] = []
        for each in self._level:
            read = [
                load(
                    address(next(pointers), kind, self._place(part)),
                    kind,
                    self._plan.width,
                    self._alignment(kind),
                )
                for kind in each.types
            ]
            found += [value for values in zip(*read, strict=True) for value in values]
        return found

    def _place(self, part: ir.Value) -> ir.Value:
        return arith.addi(arith.muli(part, self._columns), self._first)

    def _alignment(self, kind: ir.Type) -> int:
        return min(ACCESS_BYTES, self._plan.width * element_bytes(kind))
