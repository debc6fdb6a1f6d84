"""Destinations for what a hir.call gives, allocated by the caller."""

from __future__ import annotations

from ....dialects.hir.layout import (
    DYNAMIC,
    has_identity_layout,
    packed_strides,
    strides_and_offset,
)
from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.mlir import ir
from ...walking import defining_op
from ..compute_ops import COMPUTE_OPS
from ..extents import Extent, extent_of
from ..fresh_buffers import allocate
from ..runtime_sizes import size_value
from .buffer_uses import replace_buffer
from .destinations import add_call_destination
from .owners import callee_of, outputs_of, result_index


def allocate_call_outputs(call: ir.Operation) -> None:
    """Hands in a buffer for every output that the callee allocates, where its sizes can be told.

    They can where the callee's output is static, or as large as a dim of an input. Results that are
    not taken out, or not packed, stay the callee's to allocate.
    """
    callee = callee_of(call)
    if callee is None:
        return
    arguments = arguments_of(call.regions[0])
    given = {destination_of(argument) for argument in arguments}
    inputs = [each.operands[0] for each in arguments if destination_of(each) is None]
    outputs = [output.operands[0] for output in outputs_of(callee.regions[0].blocks[0])]
    for index, value in enumerate(outputs):
        taken = _taken(call, index)
        if index in given or not taken or value in outputs[:index] or not _is_allocated(value):
            continue
        kind = ir.MemRefType(taken[0].results[0].type)
        if not (has_identity_layout(kind) and _may_be_packed(value)):
            continue
        with ir.InsertionPoint(call), call.location:
            sizes = _open_sizes(kind, value, callee.regions[0].blocks[0], inputs)
            if sizes is None:
                continue
            buffer = allocate(kind, sizes)
        add_call_destination(call, index, buffer)
        for result in taken:
            replace_buffer(result.results[0], buffer)
            result.erase()


def _taken(call: ir.Operation, index: int) -> list[ir.Operation]:
    """Returns the hir.results that take value number `index`."""
    users = [use.owner.operation for use in call.results[0].uses]
    return [user for user in users if result_index(user) == index]


def _is_allocated(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and (
        op.name == "hir.allocate" or (op.name in COMPUTE_OPS and len(op.results) == 1)
    )


def _may_be_packed(value: ir.Value) -> bool:
    """Returns whether a packed buffer has the strides that the type says."""
    kind = ir.MemRefType(value.type)
    strides = strides_and_offset(kind)[0]
    pairs = zip(kind.shape, strides, packed_strides(kind.shape), strict=True)
    return has_identity_layout(kind) or all(
        size == 1 or stride in (DYNAMIC, packed) for size, stride, packed in pairs
    )


def _open_sizes(
    kind: ir.MemRefType, output: ir.Value, body: ir.Block, inputs: list[ir.Value]
) -> list[ir.Value] | None:
    """Returns the open sizes of the caller's buffer, where it is called; None where
    one is unknown.
    """
    known: dict[Extent, tuple[int, int]] = {}
    for number, argument in enumerate(body.arguments):
        if isinstance(argument.type, ir.MemRefType):
            for axis in range(argument.type.rank):
                known.setdefault(extent_of(argument, axis), (number, axis))
        else:
            known.setdefault(("value", argument), (number, -1))
    extents = [extent_of(output, axis) for axis, size in enumerate(kind.shape) if size == DYNAMIC]
    if any(isinstance(extent, int) or extent not in known for extent in extents):
        return None
    sizes: list[ir.Value] = []
    for extent in extents:
        number, axis = known[extent]
        sizes.append(inputs[number] if axis < 0 else size_value(inputs[number], axis))
    return sizes
