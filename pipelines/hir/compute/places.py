"""argmin and argmax: the best number so far and its place are kept, in two buffers."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ...rewriting import constant
from ..host_checks import check
from ..index_arithmetic import Index, IndexArithmetic, materialized
from .accumulator import fill, scratch
from .elements import load
from .floats import is_nan
from .generic import loop_index
from .kind_emitters import find_emitter
from .operand import Operand
from .reduced import Reduced
from .reductions import greatest, least
from .sizes import subject


def lower_place(op: ir.Operation, kind: str, reduced: Reduced, result: Operand) -> None:
    """One generic into the numbers and the places; the loops go up, so the first place wins."""
    element = reduced.x.element
    sizes = reduced.sizes()
    _check_some(op, sizes)
    is_less = kind == "argmin"
    precedes = find_emitter(op, "lt" if is_less else "gt", element)
    best = scratch(result, ir.MemRefType(reduced.x.stored.type).element_type)
    fill(best, greatest(element) if is_less else least(element))
    fill(result.stored, 0)

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        stored, best_stored, best_place = arguments
        number, so_far = load(stored, element), load(best_stored, element)
        better = precedes(number, so_far)
        if element.is_float:
            true = constant(better.type, 1)
            is_first_nan = arith.andi(is_nan(number), arith.xori(is_nan(so_far), true))
            better = arith.ori(better, is_first_nan)
        place = arith.index_cast(best_place.type, _place(reduced.axes, sizes))
        return [
            arith.select(better, stored, best_stored),
            arith.select(better, place, best_place),
        ]

    reduced.emit([best, result.stored], body)
    ir.Operation.create("hir.deallocate", operands=[best])


def _place(axes: Sequence[int], sizes: Sequence[Index]) -> ir.Value:
    """The number of an element among those that are reduced, in row-major order."""
    numbers = IndexArithmetic()
    place: Index = 0
    for axis, size in zip(axes, sizes, strict=True):
        place = numbers.add(numbers.multiply(place, size), loop_index(axis))
    return materialized(place)


def _check_some(op: ir.Operation, sizes: Sequence[Index]) -> None:
    """There must be an element that can have a place."""
    text = f"{subject(op)} of no elements: a size that it reduces is 0"
    for size in sizes:
        if not isinstance(size, int):
            some = arith.cmpi(arith.CmpIPredicate.ne, size, materialized(0))
            check(some, text)
