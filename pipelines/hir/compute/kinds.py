"""The operations that compute a kind: hir.unary, hir.binary, hir.ternary."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.element_rules import operand_element
from ....dialects.hir.element_types import ELEMENT_TYPES, ElementType
from ....dialects.hir.kinds import BINARY, TERNARY, UNARY, Gives, Kind
from ....dialects.mlir import arith, ir
from ...pass_base import fail
from .casts import cast
from .elements import store
from .elementwise import lower_elementwise
from .floats import FLOATS
from .integers import SIGNED, UNSIGNED, Emitter
from .operand import Operand, read_destination, read_operand
from .registry import lowers

# The kinds of an operation, and how many operands it has.
_OPERATIONS = {"hir.unary": (UNARY, 1), "hir.binary": (BINARY, 2), "hir.ternary": (TERNARY, 3)}
# False is less than true.
_TRUTHS: dict[str, Emitter] = {
    **{name: UNSIGNED[name] for name in ("not", "and", "or", "xor")},
    **{name: UNSIGNED[name] for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "min": UNSIGNED["and"],
    "max": UNSIGNED["or"],
}
_EMITTERS = {"float": FLOATS, "signed": SIGNED, "unsigned": UNSIGNED, "truth": _TRUTHS}


def kind_name(op: ir.Operation) -> str:
    """Returns the operation's kind."""
    return ir.StringAttr(op.attributes["kind"]).value


@lowers("hir.unary")
@lowers("hir.binary")
@lowers("hir.ternary")
def lower_kind(op: ir.Operation) -> ir.Operation:
    """Returns an elementwise function of operands of one element type; of `where` the first is an
    i1.
    """
    kinds, count = _OPERATIONS[op.name]
    name = kind_name(op)
    kind = kinds[name]
    result = read_destination(op)
    operands = [read_operand(op, number) for number in range(count)]
    first = [ELEMENT_TYPES["i1"]] if name == "where" else []
    element = _common(kind, operands[len(first) :], result.element)
    elements = [*first, *[element] * (count - len(first))]
    if kind.gives is Gives.CHOSEN:

        def convert(number: ir.Value) -> ir.Value:
            return cast(number, element, result.element)

        return lower_elementwise(op, operands, elements, result, convert)
    emitter = _emitter(op, name, element)

    def compute(*numbers: ir.Value) -> ir.Value:
        found = emitter(*numbers)
        return store(found, result.element) if result.element.is_float else found

    return lower_elementwise(op, operands, elements, result, compute)


def _common(kind: Kind, operands: Sequence[Operand], result: ElementType) -> ElementType:
    """Returns the element type that the operands are converted to."""
    buffers = [operand.element for operand in operands if operand.is_buffer]
    scalars = [operand.element for operand in operands if not operand.is_buffer]
    return operand_element(buffers, scalars, result if kind.gives is Gives.SAME else None)


def _emitter(op: ir.Operation, kind: str, element: ElementType) -> Emitter:
    """Returns what computes a kind from operands in the computing type of `element`."""
    if kind == "where":
        return arith.select
    emitter = _EMITTERS.get(element.kind, {}).get(kind)
    if emitter is None:
        fail(op, f"{op.name} '{kind}' does not compute with {element.name}")
    return emitter
