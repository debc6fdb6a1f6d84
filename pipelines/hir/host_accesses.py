"""Single elements of device memory, read and written by host code."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.layout import buffer_type
from ...dialects.mlir import ir, memref
from .view_ops import select


def load_element(buffer: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
    """Returns an element of a buffer as a scalar; the host waits for it.

    It is copied to pinned memory, where the host can read it.
    """
    element = _element(buffer, indices)
    pinned = ir.Operation.create(
        "hir.allocate",
        results=[buffer_type([], ir.MemRefType(buffer.type).element_type)],
        attributes={"memory": ir.StringAttr.get("pinned")},
    ).results[0]
    ir.Operation.create("hir.set", operands=[element, pinned])
    ir.Operation.create("hir.synchronize")
    return memref.load(pinned, [])


def store_element(value: ir.Value, buffer: ir.Value, indices: Sequence[ir.Value]) -> None:
    """Writes a scalar to an element of a buffer, in the order of the stream."""
    ir.Operation.create("hir.set", operands=[value, _element(buffer, indices)])


def _element(buffer: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
    for index in indices:
        buffer = select(buffer, 0, index)
    return buffer
