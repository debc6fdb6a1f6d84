"""hir.set."""

from __future__ import annotations

from ....dialects.mlir import ir
from .casts import cast
from .elementwise import lower_elementwise
from .operand import read_destination, read_operand
from .registry import lowers


@lowers("hir.set")
def lower_set(op: ir.Operation) -> ir.Operation:
    """Returns a copy, which converts where the element types differ and fills where
    the sizes do.
    """
    result = read_destination(op)
    source = read_operand(op, 0)
    element, target = source.element, result.element

    def convert(number: ir.Value) -> ir.Value:
        return number if element == target else cast(number, element, target)

    taken = None if element == target else element
    return lower_elementwise(op, [source], [taken], result, convert, may_repeat_all=True)
