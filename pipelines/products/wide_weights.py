"""Weights that a program takes with more rows than they have: memory follows them."""

from __future__ import annotations

from math import prod

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.mlir import ir
from ..tensors import part_of
from ..walking import operations_where
from ..weights import MARK, read_layout


def may_widen(value: ir.Value, axes: dict[int, int]) -> bool:
    """Returns whether a tensor is a weight whose memory has room for the sizes that dims are to
    have.

    What is in the memory behind it is not known.
    """
    weight = _behind(value)
    if weight is None or list(axes) != [0]:
        return False
    function = weight.owner.owner.operation
    name = _weight_name(weight, function)
    layout = None if name is None else read_layout(_module(function))
    if name is None or layout is None or _is_called(function):
        return False
    kind = ir.RankedTensorType(value.type)
    row = prod(kind.shape[1:]) * ELEMENT_TYPES[str(kind.element_type)].bytes
    return layout.places[name] + axes[0] * row <= layout.room


def widened(value: ir.Value, kind: ir.RankedTensorType) -> ir.Value:
    """Returns the weight as a tensor of that type; what else reads it reads the part
    that it was.
    """
    weight = _behind(value)
    assert weight is not None
    if weight.type == kind:
        return weight
    old = ir.RankedTensorType(weight.type)
    uses = list(weight.uses)
    function = weight.owner.owner.operation
    weight.set_type(kind)
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(
            [each.type for each in weight.owner.arguments],
            ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results,
        )
    )
    with function.location, ir.InsertionPoint.at_block_begin(weight.owner):
        part = part_of(weight, old)
    for use in uses:
        use.owner.operation.operands[use.operand_number] = part
    return weight


def _behind(value: ir.Value) -> ir.BlockArgument | None:
    """Returns the argument that a tensor is, or is the first rows of since that was widened."""
    if isinstance(value.owner, ir.Block):
        return ir.BlockArgument(value)
    op = value.owner.operation
    if op.name != "tensor.extract_slice" or not isinstance(op.operands[0].owner, ir.Block):
        return None
    offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    part, whole = (ir.RankedTensorType(each.type) for each in (value, op.operands[0]))
    is_rows = part.rank == whole.rank and part.shape[1:] == whole.shape[1:]
    return ir.BlockArgument(op.operands[0]) if is_rows and not any(offsets) else None


def _weight_name(value: ir.BlockArgument, function: ir.Operation) -> str | None:
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return None
    given = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[value.arg_number])
    return ir.StringAttr(given[MARK]).value if MARK in given else None


def _module(function: ir.Operation) -> ir.Operation:
    module = function.parent
    assert module is not None
    return module.operation


def _is_called(function: ir.Operation) -> bool:
    """Returns whether another function hands it the weight, which is then a tensor as any."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    return bool(
        operations_where(
            _module(function),
            lambda op: (
                op.name == "func.call"
                and ir.FlatSymbolRefAttr(op.attributes["callee"]).value == name
            ),
        )
    )
