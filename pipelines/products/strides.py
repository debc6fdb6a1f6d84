"""The strides of a product's operands, as their types say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ...dialects.hir.layout import DYNAMIC, packed_strides, strides_and_offset
from ...dialects.mlir import ir
from ..fusion.access import reassociation
from .product import Indexed


def strides_of(operand: Indexed) -> list[int]:
    """Returns the strides as the type says them; a tensor's are those that it will have as a
    buffer.
    """
    kind = operand.value.type
    if isinstance(kind, ir.MemRefType):
        return strides_and_offset(kind)[0]
    return _of_tensor(operand.value)


def _of_tensor(value: ir.Value) -> list[int]:
    """Returns the strides of a part or another shape of a tensor in its memory;
    others are packed.
    """
    views = list[ir.Operation]()
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        views.append(value.owner.operation)
        value = value.owner.operation.operands[0]
    strides = packed_strides(ir.RankedTensorType(value.type).shape)
    for view in reversed(views):
        found = _VIEWS[view.name](view, strides)
        # What steps through memory in several ways is copied.
        shape = ir.RankedTensorType(view.results[0].type).shape
        strides = packed_strides(shape) if found is None else found
    return strides


def _of_slice(op: ir.Operation, strides: Sequence[int]) -> list[int] | None:
    steps = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    if ir.RankedTensorType(op.results[0].type).rank != len(steps):
        return None
    return [_times(stride, step) for stride, step in zip(strides, steps, strict=True)]


def _of_expanded(op: ir.Operation, strides: Sequence[int]) -> list[int]:
    shape = ir.RankedTensorType(op.results[0].type).shape
    if not strides:
        # One element has no group, whatever number of dims it is expanded to.
        return packed_strides(shape)
    found = list[int]()
    for stride, group in zip(strides, reassociation(op), strict=True):
        inner = packed_strides([shape[axis] for axis in group])
        found += [_times(stride, each) for each in inner]
    return found


def _of_collapsed(op: ir.Operation, strides: Sequence[int]) -> list[int] | None:
    shape = ir.RankedTensorType(op.operands[0].type).shape
    found = [_as_one(shape, strides, group) for group in reassociation(op)]
    return [each for each in found if each is not None] if None not in found else None


def _as_one(sizes: Sequence[int], strides: Sequence[int], group: Sequence[int]) -> int | None:
    """Returns the stride of several dims as one; None where they certainly are none."""
    axes = [axis for axis in group if sizes[axis] != 1] or list(group)[-1:]
    for outer, inner in pairwise(axes):
        known = strides[outer], strides[inner], sizes[inner]
        if DYNAMIC not in known and strides[outer] != strides[inner] * sizes[inner]:
            return None
    return strides[axes[-1]] if axes else 1


def _times(stride: int, factor: int) -> int:
    return DYNAMIC if DYNAMIC in (stride, factor) else stride * factor


_VIEWS: dict[str, Callable[[ir.Operation, Sequence[int]], list[int] | None]] = {
    "tensor.extract_slice": _of_slice,
    "tensor.expand_shape": _of_expanded,
    "tensor.collapse_shape": _of_collapsed,
}
