"""What the lowerings need of a memref: where it begins and how large it is."""

from __future__ import annotations

from ...dialects.mlir import ir
from .emitter import Emitter
from .types import DYNAMIC, element_bytes


def data_address(emit: Emitter, buffer: ir.Value) -> ir.Value:
    """Address of a ranked memref's first element."""
    kind = ir.MemRefType(buffer.type)
    descriptor = emit.convert(buffer)
    aligned = emit.extract(descriptor, emit.types.ptr, 1)
    _, offset = kind.get_strides_and_offset()
    if offset == 0:
        return aligned
    width = ir.IntegerType.get_signless(8 * element_bytes(kind.element_type))
    return emit.offset_address(aligned, width, emit.extract(descriptor, emit.types.i64, 2))


def sizes(emit: Emitter, buffer: ir.Value) -> list[ir.Value]:
    """A ranked memref's sizes, as i64."""
    kind = ir.MemRefType(buffer.type)
    descriptor = emit.convert(buffer)
    return [
        emit.extract(descriptor, emit.types.i64, 3, axis) if size == DYNAMIC else emit.i64(size)
        for axis, size in enumerate(kind.shape)
    ]


def strides(emit: Emitter, buffer: ir.Value) -> list[ir.Value]:
    """A ranked memref's strides in elements, as i64."""
    kind = ir.MemRefType(buffer.type)
    descriptor = emit.convert(buffer)
    static, _ = kind.get_strides_and_offset()
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
    """A stack array of i64 values, and its address."""
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
