"""Writing views: each takes its type from `dialects/hir/views`."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.refusal import constant_value
from ...dialects.hir.views import permute_type, reshape_type, select_type, slice_type
from ...dialects.mlir import ir
from ..attributes import i64_attribute


def select(buffer: ir.Value, axis: int, index: ir.Value) -> ir.Value:
    """hir.select at an index that is not known before the program runs."""
    view = select_type(ir.MemRefType(buffer.type), axis)
    return _create("hir.select", view, [buffer, index], {"axis": i64_attribute(axis)})


def slice_between(
    buffer: ir.Value, axis: int, start: ir.Value, stop: ir.Value, size: int = DYNAMIC
) -> ir.Value:
    """hir.slice with bounds that are values, of a `size` that may be known all the same."""
    view = slice_type(ir.MemRefType(buffer.type), axis, size, start=constant_value(start))
    return _create("hir.slice", view, [buffer, start, stop], {"axis": i64_attribute(axis)})


def permute(buffer: ir.Value, order: Sequence[int]) -> ir.Value:
    """hir.permute; the buffer itself where the order changes nothing."""
    if list(order) == list(range(len(order))):
        return buffer
    view = permute_type(ir.MemRefType(buffer.type), order)
    dims = ir.DenseI64ArrayAttr.get(list(order))
    return _create("hir.permute", view, [buffer], {"order": dims})


def reshape(buffer: ir.Value, shape: Sequence[int], sizes: Sequence[ir.Value]) -> ir.Value:
    """hir.reshape to a shape whose open sizes are `sizes`."""
    view = reshape_type(ir.MemRefType(buffer.type), shape)
    return _create("hir.reshape", view, [buffer, *sizes], {})


def _create(
    name: str, view: ir.Type, operands: list[ir.Value], attributes: dict[str, ir.Attribute]
) -> ir.Value:
    op = ir.Operation.create(name, results=[view], operands=operands, attributes=attributes)
    return op.results[0]
