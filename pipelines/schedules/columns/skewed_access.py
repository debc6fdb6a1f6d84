"""Elements of rows at any address, in the aligned pieces of 16 bytes that they lie in."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..elements import address, load
from ..parameters import Parameters
from ..region_operations import is_harmless
from ..size import ONE, ZERO
from ..work import Operand
from .access import ColumnAccess
from .plan import ColumnPlan
from .space import ColumnSpace


class SkewedAccess(ColumnAccess):
    """A piece from a column on, which may lie before the first one: its first elements then belong
    to the row before, as its last ones may to the next.

    `outer` are the indices of the parallel loops around the columns.
    """

    def __init__(
        self,
        plan: ColumnPlan,
        parameters: Parameters,
        outer: Sequence[ir.Value],
        column: ir.Value,
    ) -> None:
        self._outer = outer
        super().__init__(plan, parameters, column)

    def load_fixed(self, operand: Operand) -> list[ir.Value]:
        """Elements of an operand that the collective loop does not move, one by one."""
        if self._plan.space.lane_stride(operand) == ZERO:
            return super().load_fixed(operand)
        if operand.number not in self._fixed:
            self._fixed[operand.number] = self._load_single(operand, self._base(operand))
        return self._fixed[operand.number]

    def load_row(self, operand: Operand, number: ir.Value) -> list[ir.Value]:
        """A piece's elements in an iteration, one by one."""
        where = self._address(operand, [number])
        if self._plan.space.lane_stride(operand) == ZERO:
            return load(where, operand.element, 1, 1)
        return self._load_single(operand, where)

    def _load_single(self, operand: Operand, where: ir.Value) -> list[ir.Value]:
        """Elements of a piece whose first would be at an address; the nearest column's for those
        that are of other rows.
        """
        found: list[ir.Value] = []
        stride = self._parameters.size(self._plan.space.lane_stride(operand))
        for element in range(self._plan.width):
            steps = arith.subi(self._column(self._columns[-1], element), self._columns[-1])
            place = address(where, operand.element, arith.muli(steps, stride))
            found += load(place, operand.element, 1, 1)
        return found

    def _place(self, vector: ir.Value) -> list[ir.Value]:
        return [*self._outer, vector]

    def _column(self, first: ir.Value, element: int) -> ir.Value:
        zero, one = index_constant(0), index_constant(1)
        last = arith.subi(self._parameters.size(self._plan.space.lane.extent), one)
        column = arith.addi(first, index_constant(element))
        return arith.maxsi(arith.minsi(column, last), zero)


def shifted_operands(space: ColumnSpace) -> list[Operand] | None:
    """The operands whose rows are read in pieces, where all of them lie alike; else None.

    What is read of other rows in a piece is computed with, too, which must do no harm.
    """
    if len(space.levels) != 1 or space.full_outputs or len(space.collective) != 1:
        return None
    if not is_harmless(space.work):
        return None
    moved = [each for each in space.work.inputs if space.varies_along(each, space.collective)]
    found = [each for each in moved if space.lane_stride(each) != ZERO]
    loops = (*space.parallel, *space.collective)
    steps = {tuple(loop.stride_of(space.work, each.number) for loop in loops) for each in found}
    sizes = {each.element for each in found}
    are_alike = len(steps) == 1 and len(sizes) == 1
    if any(step.known < 0 for each in steps for step in each):
        return None  # What lies before the first row is told by its address.
    return found if are_alike and space.lane_stride(found[0]) == ONE else None
