"""Replacing operations one by one: what the expanding passes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import cast

from ..dialects.mlir import ir, vector
from .pass_base import fail_at

# Emits an operation's replacement and returns the values that stand for its results, or returns
# None to leave the operation as it is.
Rule = Callable[[ir.Operation], Sequence[ir.Value] | None]


def rewrite_each(root: ir.Operation, rules: Mapping[str, Rule]) -> bool:
    """Applies the rule of its name to every operation within `root` that has one.

    What a rule emits comes in place of the operation and gets its location. Returns whether any
    rule emitted something.
    """
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in rules:
            found.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit)
    has_changed = False
    for op in found:
        with ir.InsertionPoint(op), op.location:
            values = rules[op.name](op)
        if values is None:
            continue
        has_changed = True
        for result, value in zip(op.results, values, strict=True):
            result.replace_all_uses_with(value)
        op.erase()
    return has_changed


def element_type(value_type: ir.Type) -> ir.Type:
    """Returns a vector's element type; any other type itself."""
    return value_type.element_type if isinstance(value_type, ir.VectorType) else value_type


def like(value_type: ir.Type, element: ir.Type) -> ir.Type:
    """`value_type` with `element` in place of its element type."""
    if isinstance(value_type, ir.VectorType):
        return ir.VectorType.get(value_type.shape, element)
    return element


def constant(value_type: ir.Type, value: int | float) -> ir.Value:
    """Returns a constant of an integer, index or float type, or a vector filled with it.

    Integers may be given as unsigned bits. Fails at the current location for what is computed of
    the program's sizes and does not fit into 64 bits.
    """
    element = element_type(value_type)
    if isinstance(element, ir.FloatType):
        attribute: ir.Attribute = ir.FloatAttr.get(element, value)
    else:
        number = _signed(int(value), element)
        if not -(2**63) <= number < 2**63:
            fail_at(
                cast(ir.Location, ir.Location.current),
                f"the sizes make a number beyond 64 bits: {value}",
            )
        attribute = ir.IntegerAttr.get(element, number)
    if isinstance(value_type, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(value_type, attribute)
    return ir.Operation.create(
        "arith.constant", results=[value_type], attributes={"value": attribute}
    ).results[0]


def index_constant(value: int) -> ir.Value:
    """Returns a constant of type index."""
    return constant(ir.IndexType.get(), value)


def zero_of(element: ir.Type) -> ir.Value:
    """Returns a constant zero of a type of elements, complex ones too."""
    if not isinstance(element, ir.ComplexType):
        return constant(element, 0)
    part = ir.FloatAttr.get(element.element_type, 0.0)
    attributes: dict[str, ir.Attribute] = {"value": ir.ArrayAttr.get([part, part])}
    return ir.Operation.create("complex.constant", [element], [], attributes).results[0]


def copied(value: ir.Value) -> ir.Value:
    """Emits a copy of a tensor in new memory."""
    return ir.Operation.create(
        "bufferization.alloc_tensor",
        [value.type],
        [value],
        {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])},
    ).results[0]


def each_element(
    emit: Callable[..., Sequence[ir.Value]],
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> list[ir.Value]:
    """Calls `emit` on the operands, element by element where they are vectors.

    `results` are the types of the values to return, vectors where the operands are.
    """
    shaped = results[0]
    if not isinstance(shaped, ir.VectorType):
        return list(emit(*operands))
    places = list(product(*(range(size) for size in shaped.shape)))
    rows = [emit(*(vector.extract(operand, [], place) for operand in operands)) for place in places]
    return [
        vector.from_elements(result, [row[number] for row in rows])
        for number, result in enumerate(results)
    ]


def _signed(value: int, element: ir.Type) -> int:
    if not isinstance(element, ir.IntegerType):
        return value
    value &= (1 << element.width) - 1
    return value - (1 << element.width) if value >> (element.width - 1) else value
