"""The types of the parts of buffers that are spread over a mesh, and of views of parts."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.hir.layout import (
    DYNAMIC,
    LayoutError,
    buffer_type,
    has_identity_layout,
    strides_and_offset,
)
from ....dialects.hir.mesh import Mesh, Spreads
from ....dialects.hir.refusal import constant_value
from ....dialects.hir.views import (
    expand_type,
    permute_type,
    reshape_type,
    select_type,
    slice_type,
)
from ....dialects.mlir import ir


def local_shape(whole: ir.MemRefType, spreads: Spreads, mesh: Mesh) -> list[int]:
    """Returns the sizes of a part, DYNAMIC where they are open."""
    return [mesh.part(spreads, dim, size) for dim, size in enumerate(whole.shape)]


def local_type(whole: ir.MemRefType, spreads: Spreads, mesh: Mesh) -> ir.MemRefType:
    """Returns the type of a part, whose dims lie in memory in the order of the whole's.

    LayoutError: the whole's strides leave gaps, which a part's do not follow from.
    """
    shape = local_shape(whole, spreads, mesh)
    strides, offset = strides_and_offset(whole)
    if has_identity_layout(whole) or shape == list(whole.shape):
        return buffer_type(shape, whole.element_type) if has_identity_layout(whole) else whole
    if all(stride == DYNAMIC for stride in strides):
        return buffer_type(shape, whole.element_type, strides, offset)
    order = sorted(range(len(shape)), key=lambda dim: -strides[dim])
    if DYNAMIC in (*shape, *strides) or strides != _dense(list(whole.shape), order):
        raise LayoutError(f"{whole} is divided, so it is packed, or leaves its strides open")
    return buffer_type(shape, whole.element_type, _dense(shape, order), offset)


def _dense(shape: list[int], order: list[int]) -> list[int]:
    """Returns the strides without gaps of dims in an order, the outermost first."""
    strides, stride = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim] = stride
        stride *= shape[dim]
    return strides


def view_type(op: ir.Operation, source: ir.MemRefType, shape: list[int]) -> ir.MemRefType:
    """Returns the type of a view of a part, of these sizes. LayoutError where there is no such
    view.
    """
    return _VIEW_TYPES[op.name](op, source, shape)


def _slice_type(op: ir.Operation, source: ir.MemRefType, shape: list[int]) -> ir.MemRefType:
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    step = ir.IntegerAttr(op.attributes["step"]).value if "step" in op.attributes else 1
    return slice_type(source, axis, shape[axis], step, constant_value(op.operands[1]))


def _select_type(op: ir.Operation, source: ir.MemRefType, shape: list[int]) -> ir.MemRefType:
    del shape
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    return select_type(source, axis, constant_value(op.operands[1]))


def _permute_type(op: ir.Operation, source: ir.MemRefType, shape: list[int]) -> ir.MemRefType:
    del shape
    return permute_type(source, list(ir.DenseI64ArrayAttr(op.attributes["order"])))


_VIEW_TYPES: dict[str, Callable[[ir.Operation, ir.MemRefType, list[int]], ir.MemRefType]] = {
    "hir.select": _select_type,
    "hir.slice": _slice_type,
    "hir.permute": _permute_type,
    "hir.expand": lambda _, source, shape: expand_type(source, shape),
    "hir.reshape": lambda _, source, shape: reshape_type(source, shape),
}
