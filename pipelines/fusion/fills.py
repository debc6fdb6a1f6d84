"""Tensors whose elements are all the same value."""

from __future__ import annotations

from ...dialects.mlir import ir
from .generic import inputs_of, outs_of


def filled_with(value: ir.Value) -> ir.Value | None:
    """Returns the scalar that every element of a tensor is, where an operation says so."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name == "linalg.fill":
        scalar = inputs_of(op)[0]
        element = ir.RankedTensorType(value.type).element_type
        return scalar if scalar.type == element else None
    if op.name == "tensor.splat":
        return op.operands[0]
    if op.name == "arith.constant" and isinstance(value.type, ir.RankedTensorType):
        return _splat(op)
    if op.name in ("tensor.cast", "tensor.expand_shape", "tensor.collapse_shape"):
        return filled_with(op.operands[0])
    return None


def is_zero_constant(value: ir.Value | None) -> bool:
    """Returns whether a scalar is the constant integer 0."""
    if value is None or isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name != "arith.constant":
        return False
    attribute = op.attributes["value"]
    return isinstance(attribute, ir.IntegerAttr) and attribute.value == 0


def unfilled(value: ir.Value) -> ir.Value:
    """Returns what a chain of fills writes over; the value itself where it is not filled."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name == "linalg.fill":
        value = outs_of(value.owner.operation)[0]
    return value


def _splat(op: ir.Operation) -> ir.Value | None:
    """Returns the element of a constant of equal elements, as a constant beside it."""
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    with op.location, ir.InsertionPoint(op):
        return ir.Operation.create(
            "arith.constant",
            results=[ir.RankedTensorType(op.results[0].type).element_type],
            attributes={"value": attribute.get_splat_value()},
        ).results[0]
