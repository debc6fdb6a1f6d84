"""The views: hir.select, hir.slice, hir.permute, hir.reshape, hir.expand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..registry import interprets
from ..shapes import filled_sizes, reshaped_strides, text_of


@interprets("hir.select")
def select(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    axis, index = _attribute(op, "axis"), frame.number(op.operands[1])
    sizes, strides = list(buffer.sizes), list(buffer.strides)
    size, stride = sizes.pop(axis), strides.pop(axis)
    if not 0 <= index < size:
        fault.fail(
            op, f"index {index} is out of range for axis {axis} of {buffer.name}: size {size}"
        )
    return [buffer.view(sizes, strides, index * stride)]


@interprets("hir.slice")
def slice_(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    axis = _attribute(op, "axis")
    start, stop = frame.number(op.operands[1]), frame.number(op.operands[2])
    step = _attribute(op, "step") if "step" in op.attributes else 1
    sizes, strides = list(buffer.sizes), list(buffer.strides)
    if not 0 <= start <= stop <= sizes[axis]:
        fault.fail(
            op,
            f"bounds [{start}, {stop}) do not lie within axis {axis} of {buffer.name}, which has "
            f"size {sizes[axis]}: 0 <= start <= stop <= size",
        )
    offset = start * strides[axis]
    sizes[axis], strides[axis] = -((start - stop) // step), strides[axis] * step
    # No element, no place: an offset past the end would be one outside the memory.
    return [buffer.view(sizes, strides, 0 if 0 in sizes else offset)]


@interprets("hir.permute")
def permute(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    order = list(ir.DenseI64ArrayAttr(op.attributes["order"]))
    return [
        buffer.view([buffer.sizes[dim] for dim in order], [buffer.strides[dim] for dim in order])
    ]


@interprets("hir.reshape")
def reshape(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    sizes = _sizes(op, frame)
    if math.prod(sizes) != math.prod(buffer.sizes):
        fault.fail(
            op,
            f"{buffer.name} has {text_of(buffer.sizes)} elements, which are not {text_of(sizes)}",
        )
    strides = reshaped_strides(buffer.sizes, buffer.strides, sizes)
    if strides is None:
        fault.fail(
            op,
            f"{buffer.name}, {text_of(buffer.sizes)} with strides {list(buffer.strides)}, cannot "
            f"be seen as {text_of(sizes)}",
            hint="hir.set makes a packed copy, which can",
        )
    return [buffer.view(sizes, strides)]


@interprets("hir.expand")
def expand(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    sizes = _sizes(op, frame)
    added = len(sizes) - len(buffer.sizes)
    strides = [0] * added
    for dim, (old, new) in enumerate(zip(buffer.sizes, sizes[added:], strict=True)):
        if old not in (1, new):
            fault.fail(
                op,
                f"dim {dim} of {buffer.name} has size {old} and cannot be repeated to {new}: only "
                "a size of 1 repeats",
            )
        strides.append(buffer.strides[dim] if old == new else 0)
    return [buffer.view(sizes, strides)]


def _sizes(op: ir.Operation, frame: Frame) -> tuple[int, ...]:
    """Returns the result's sizes; an open one is an operand, after the buffer."""
    given = [frame.number(size) for size in list(op.operands)[1:]]
    sizes = filled_sizes(op.results[0].type, given)
    if any(size < 0 for size in sizes):
        fault.fail(op, f"a size is negative: {text_of(sizes)}")
    return sizes


def _attribute(op: ir.Operation, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value
