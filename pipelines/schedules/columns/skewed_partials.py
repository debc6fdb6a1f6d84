"""Running values of a block's threads, of pieces of any skew, made into one for each column."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, gpu, ir
from ...rewriting import index_constant
from ..collective import Collective
from ..elements import address, element_bytes, load, store
from ..shared import SharedMemory
from .plan import ColumnPlan


class SkewedPartials:
    """A row of shared memory for each row of threads, in which a column has the same place.

    The first whole column of a block lies past the pieces' first elements; `skew` is how many of
    those belong to columns before. The result is the same in every run.
    """

    def __init__(self, plan: ColumnPlan, level: Sequence[Collective], shared: SharedMemory) -> None:
        self._plan, self._level = plan, level
        self._pitch = _pitch(plan)
        self._areas = [
            [shared.area(_area_bytes(plan, kind)) for kind in each.types] for each in level
        ]

    def publish(
        self, row: ir.Value, lane: ir.Value, skew: ir.Value, running: Sequence[ir.Value]
    ) -> None:
        """Puts a thread's running values where all can read them, and waits for the others."""
        width, values = self._plan.width, iter(running)
        last = arith.subi(index_constant(width - 1), skew)
        piece = arith.addi(arith.muli(lane, index_constant(width)), last)
        first = arith.addi(arith.muli(row, index_constant(self._pitch)), piece)
        for each, areas in zip(self._level, self._areas, strict=True):
            for element in range(width):
                place = arith.addi(first, index_constant(element))
                for kind, area in zip(each.types, areas, strict=True):
                    store(address(area, kind, place), kind, [next(values)], 1)
        gpu.barrier()

    def totals(self, column: ir.Value) -> list[ir.Value]:
        """The running values of one of the block's whole columns."""
        found: list[ir.Value] = []
        for each, areas in zip(self._level, self._areas, strict=True):
            parts = [
                [
                    load(address(area, kind, self._place(row, column)), kind, 1, 1)[0]
                    for kind, area in zip(each.types, areas, strict=True)
                ]
                for row in range(self._plan.depth)
            ]
            total = parts[0]
            for part in parts[1:]:
                total = each.merged(total, part)
            found += total
        return found

    def _place(self, row: int, column: ir.Value) -> ir.Value:
        return arith.addi(column, index_constant(row * self._pitch + self._plan.width - 1))


def shared_bytes(plan: ColumnPlan) -> int:
    """The shared memory of a block."""
    kinds = [kind for level in plan.space.levels for each in level for kind in each.types]
    return sum(_area_bytes(plan, kind) for kind in kinds)


def _area_bytes(plan: ColumnPlan, kind: ir.Type) -> int:
    return element_bytes(kind) * plan.depth * _pitch(plan)


def _pitch(plan: ColumnPlan) -> int:
    return (plan.lanes + 1) * plan.width
