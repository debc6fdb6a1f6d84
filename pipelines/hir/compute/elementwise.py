"""Elementwise operations: one linalg.generic over the result's dims."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.hir.element_types import ElementType
from ....dialects.mlir import ir
from ...generics import emit_generic, map_of
from .broadcast import check_broadcast, elementwise, index_operand
from .casts import cast
from .elements import load
from .operand import Operand


def lower_elementwise(
    op: ir.Operation,
    operands: Sequence[Operand],
    elements: Sequence[ElementType | None],
    result: Operand,
    compute: Callable[..., ir.Value],
    *,
    may_repeat_all: bool = False,
) -> ir.Operation:
    """Computes each element of the result from the operands' elements.

    `elements` are the types that operands are converted to; `compute` takes them in their computing
    types, or as stored where there is None, and gives what is stored.
    """
    rank = len(result.shape)
    indexed = [elementwise(operand, rank) for operand in operands if operand.is_buffer]
    # Scalars alone stand for every element.
    may_repeat_all = may_repeat_all or not indexed
    repeats = check_broadcast(op, indexed, result, rank, may_repeat_all=may_repeat_all)
    mapped = [
        index_operand(elementwise(operand, rank), result, rank, repeats)
        if operand.is_buffer
        else (operand.stored, map_of(rank, []))
        for operand in operands
    ]
    captured = [number for number, operand in enumerate(operands) if _is_constant(operand)]

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        given = iter(arguments)
        numbers = [
            _converted(operand.stored if number in captured else next(given), operand, element)
            for number, (operand, element) in enumerate(zip(operands, elements, strict=True))
        ]
        return [compute(*numbers)]

    inputs = [mapped[number] for number in range(len(operands)) if number not in captured]
    return emit_generic(rank, (), inputs, [(result.stored, map_of(rank, range(rank)))], body)


def _is_constant(operand: Operand) -> bool:
    """Returns whether it is a number that kernels repeat instead of taking it as an argument."""
    owner = operand.stored.owner
    is_block = isinstance(owner, ir.Block)
    return not operand.is_buffer and not is_block and owner.operation.name == "arith.constant"


def _converted(stored: ir.Value, operand: Operand, element: ElementType | None) -> ir.Value:
    """Returns an operand's element, or the scalar, as a number of `element` in its
    computing type.
    """
    if element is None:
        return stored
    number = load(stored, operand.element)
    if operand.element == element:
        return number
    return load(cast(number, operand.element, element), element)
