"""Which loops of an operation lie across each other."""

from __future__ import annotations

from ....dialects.records import dataclass
from ...walking import is_used
from ..elements import element_bytes
from ..size import ONE, ZERO
from ..space import Loop, collapsed, in_memory_order
from ..work import Operand, Work


@dataclass(frozen=True)
class Crossing:
    """`row` is contiguous in all outputs and `column` in the inputs `across`; `batch` the rest."""

    work: Work
    row: Loop
    column: Loop
    batch: tuple[Loop, ...]
    across: tuple[Operand, ...]


def find_crossing(work: Work) -> Crossing | None:
    """The loops of an operation, or None where nothing lies across the outputs."""
    if work.collectives or not work.outputs:
        return None
    loops = collapsed(work, in_memory_order(work, work.parallel))
    if len(loops) < 2:
        return None
    row = loops[-1]
    column = _column(work, loops)
    if column is None or any(row.stride_of(work, each.number) != ONE for each in work.outputs):
        return None
    across = [each for each in read_inputs(work) if _is_across(work, each, row, column)]
    batch = [loop for loop in loops if loop not in (row, column)]
    return Crossing(work, row, column, tuple(batch), tuple(across))


def read_inputs(work: Work) -> list[Operand]:
    """The inputs that the region uses."""
    arguments = work.block.arguments
    return [operand for operand in work.inputs if is_used(arguments[operand.number])]


def _is_across(work: Work, operand: Operand, row: Loop, column: Loop) -> bool:
    return column.stride_of(work, operand.number) == ONE and row.stride_of(
        work, operand.number
    ) not in (ZERO, ONE)


def _column(work: Work, loops: list[Loop]) -> Loop | None:
    """The loop in which most bytes of the operands that lie across the last one are contiguous."""

    def weight(column: Loop) -> int:
        return sum(
            element_bytes(operand.element)
            for operand in read_inputs(work)
            if _is_across(work, operand, loops[-1], column)
        )

    best = max(loops[:-1], key=weight)
    return best if weight(best) else None
