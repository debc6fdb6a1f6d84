"""hir.reduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

from ....dialects.hir.element_types import ElementType
from ....dialects.mlir import arith, ir
from ...rewriting import constant
from ..index_arithmetic import Index
from .accumulator import accumulator, fill, fill_by
from .casts import is_not_zero, resize
from .elements import computing_type, load, store
from .kind_emitters import find_emitter
from .kinds import kind_name
from .operand import Operand, read_destination
from .places import lower_place
from .reduced import Reduced, is_none, read_reduced
from .reductions import REDUCTIONS
from .registry import lowers


@lowers("hir.reduce")
def lower_reduce(op: ir.Operation) -> None:
    """Fills the result with the number of no elements, then takes in one after another."""
    kind = kind_name(op)
    result = read_destination(op)
    reduced = read_reduced(op, result)
    if kind in ("argmin", "argmax"):
        lower_place(op, kind, reduced, result)
    elif kind in ("sum", "prod", "mean"):
        _accumulate(op, kind, reduced, result)
    else:
        _select(op, kind, reduced, result)


def _accumulate(op: ir.Operation, kind: str, reduced: Reduced, result: Operand) -> None:
    """Sums and products, in the computing type of the result."""
    element, target = reduced.x.element, result.element
    reduction = REDUCTIONS[kind]
    combine = find_emitter(op, reduction.combine, target)

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        stored, so_far = arguments
        number = load(stored, element)
        if not target.is_float:
            number = resize(number, element, target)
        return [combine(so_far, number)]

    numbers = accumulator(result)
    numbers.fill(reduction.start(target))
    reduced.emit([numbers.buffer], body)
    numbers.finish(_divide_by(reduced.count(), target) if kind == "mean" else None)


def _divide_by(count: Index, element: ElementType) -> Callable[[ir.Value], ir.Value]:
    """What makes the mean of a sum."""
    kind = computing_type(element)
    divisor: float | ir.Value = 0.0
    if isinstance(count, int):
        divisor = float(count)
    else:
        whole = arith.index_cast(ir.IntegerType.get_signless(64), count)
        divisor = arith.sitofp(kind, whole)

    def divide(total: ir.Value) -> ir.Value:
        by = divisor if isinstance(divisor, ir.Value) else constant(kind, divisor)
        return arith.divf(total, by)

    return divide


def _select(op: ir.Operation, kind: str, reduced: Reduced, result: Operand) -> None:
    """Kinds that give one of the elements or a truth: no number is rounded on the way."""
    element, target = reduced.x.element, result.element
    is_truth = kind in ("any", "all")
    reduction = REDUCTIONS[kind]
    combine = find_emitter(op, reduction.combine, target)

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        stored, so_far = arguments
        number = load(stored, element)
        if is_truth:
            return [combine(so_far, is_not_zero(number))]
        found = combine(load(so_far, element), number)
        return [store(found, element) if element.is_float else found]

    start = reduction.start(target)
    if kind in ("fmin", "fmax"):
        _fill_for_numbers(reduced, result, start)
    else:
        fill(result.stored, start)
    reduced.emit([result.stored], body)


def _fill_for_numbers(reduced: Reduced, result: Operand, start: float) -> None:
    """Where nan does not count all begins with nan, unless there are no elements."""
    count = reduced.count()
    if isinstance(count, int):
        fill(result.stored, start if count == 0 else nan)
    else:
        fill_by(result.stored, is_none(count), start, nan)
