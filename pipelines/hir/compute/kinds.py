"""The operations that compute a kind: hir.unary, hir.binary, hir.ternary."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.element_rules import operand_element
from ....dialects.hir.element_types import ELEMENT_TYPES, ElementType
from ....dialects.hir.kinds import Gives, Kind
from ....dialects.mlir import ir
from .casts import cast
from .elements import store
from .elementwise import lower_elementwise
from .kind_emitters import find_emitter
from .operand import Operand, read_destination, read_operand


def kind_name(op: ir.Operation) -> str:
    """Returns the operation's kind."""
    return ir.StringAttr(op.attributes["kind"]).value


def lower_kind(op: ir.Operation, kind: Kind, count: int) -> ir.Operation:
    """Lowers an operation of that many operands, all of one element type.

    Of `where`, the first is an i1.
    """
    result = read_destination(op)
    operands = [read_operand(op, number) for number in range(count)]
    name = kind_name(op)
    first = [ELEMENT_TYPES["i1"]] if name == "where" else []
    element = _common(kind, operands[len(first) :], result.element)
    elements = [*first, *[element] * (count - len(first))]
    if kind.gives is Gives.CHOSEN:

        def convert(number: ir.Value) -> ir.Value:
            return cast(number, element, result.element)

        return lower_elementwise(op, operands, elements, result, convert)
    emitter = find_emitter(op, name, element)

    def compute(*numbers: ir.Value) -> ir.Value:
        found = emitter(*numbers)
        return store(found, result.element) if result.element.is_float else found

    return lower_elementwise(op, operands, elements, result, compute)


def _common(kind: Kind, operands: Sequence[Operand], result: ElementType) -> ElementType:
    """Returns the element type that the operands are converted to."""
    buffers = [operand.element for operand in operands if operand.is_buffer]
    scalars = [operand.element for operand in operands if not operand.is_buffer]
    return operand_element(buffers, scalars, result if kind.gives is Gives.SAME else None)
