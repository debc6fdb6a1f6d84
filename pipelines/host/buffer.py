"""What the lowerings need of a memref: where it begins and how large it is."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..pass_base import fail
from .emitter import Emitter
from .types import DYNAMIC, element_bytes, strides_and_offset

CAST = "builtin.unrealized_conversion_cast"


def data_address(emit: Emitter, buffer: ir.Value) -> ir.Value:
    """Address of a ranked memref's first element."""
    parts = parts_of(buffer)
    if parts is not None:
        return parts[1]
    kind = ir.MemRefType(buffer.type)
    descriptor = emit.convert(buffer)
    aligned = emit.extract(descriptor, emit.types.ptr, 1)
    _, offset = _layout(emit, kind)
    if offset == 0:
        return aligned
    return emit.offset_address(
        aligned, _storage(emit, kind), emit.extract(descriptor, emit.types.i64, 2)
    )


def parts_of(buffer: ir.Value) -> list[ir.Value] | None:
    """Returns what a buffer is made of by one operation, where it is: see
    pipelines/hir/lowering/buffers.

    That is where its memory begins, where its first element is, and its open sizes and strides.
    """
    op = buffer.owner
    if isinstance(op, ir.Block) or op.operation.name != CAST or len(op.operation.operands) < 2:
        return None
    return list(op.operation.operands)


def _storage(emit: Emitter, kind: ir.MemRefType) -> ir.Type:
    """Returns a type as large as an element; LLVM pads integers that are no power of
    two of bytes.
    """
    size = element_bytes(kind.element_type)
    if size <= 8:
        return ir.IntegerType.get_signless(8 * size)
    return emit.types.array(size, ir.IntegerType.get_signless(8))


def _layout(emit: Emitter, kind: ir.MemRefType) -> tuple[list[int], int]:
    layout = strides_and_offset(kind)
    if layout is None:
        fail(emit.op, f"{kind} has a layout without strides; use a strided one")
    return layout


def sizes(emit: Emitter, buffer: ir.Value) -> list[ir.Value]:
    """Returns a ranked memref's sizes, as i64."""
    kind = ir.MemRefType(buffer.type)
    descriptor = emit.convert(buffer)
    return [
        emit.extract(descriptor, emit.types.i64, 3, axis) if size == DYNAMIC else emit.i64(size)
        for axis, size in enumerate(kind.shape)
    ]


def strides(emit: Emitter, buffer: ir.Value) -> list[ir.Value]:
    """Returns a ranked memref's strides in elements, as i64."""
    kind = ir.MemRefType(buffer.type)
    descriptor = emit.convert(buffer)
    static, _ = _layout(emit, kind)
    return [
        emit.extract(descriptor, emit.types.i64, 4, axis) if stride == DYNAMIC else emit.i64(stride)
        for axis, stride in enumerate(static)
    ]


def byte_size(emit: Emitter, buffer: ir.Value) -> ir.Value:
    """Bytes of a contiguous memref's elements, as i64."""
    kind = ir.MemRefType(buffer.type)
    return product(emit, sizes(emit, buffer), element_bytes(kind.element_type), kind)


def product(
    emit: Emitter, extents: list[ir.Value], bytes_each: int, kind: ir.MemRefType
) -> ir.Value:
    """Bytes of a memref of those sizes; the static ones are multiplied here."""
    static = bytes_each
    for size in kind.shape:
        if size != DYNAMIC:
            static *= size
    total = emit.i64(static)
    for size, extent in zip(kind.shape, extents, strict=True):
        if size == DYNAMIC:
            total = emit.multiply(total, extent)
    return total


def stack_array(emit: Emitter, values: list[ir.Value]) -> ir.Value:
    """Returns a stack array of i64 values, and its address."""
    kind = emit.types.array(max(1, len(values)), emit.types.i64)
    slot = emit.stack_slot(kind)
    for index, value in enumerate(values):
        emit.store(value, emit.element_address(slot, kind, index))
    return slot


def stack_descriptor(emit: Emitter, buffer: ir.Value) -> tuple[ir.Value, ir.Value]:
    """(rank, address of the ranked descriptor) of a ranked or unranked memref."""
    descriptor = emit.convert(buffer)
    if isinstance(buffer.type, ir.UnrankedMemRefType):
        rank = emit.extract(descriptor, emit.types.i64, 0)
        return rank, emit.extract(descriptor, emit.types.ptr, 1)
    slot = emit.stack_slot(descriptor.type)
    emit.store(descriptor, slot)
    return emit.i64(ir.MemRefType(buffer.type).rank), slot
