"""Sizes, strides and addresses of buffers, and buffers made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.hir.layout import DYNAMIC, strides_and_offset
from ....dialects.mlir import ir, memref
from ...host.buffer import data_address
from ..index_arithmetic import Index, materialized
from .state import ProgramState


@dataclass(frozen=True)
class Extents:
    """A buffer's sizes, strides and offset in elements."""

    sizes: list[Index]
    strides: list[Index]
    offset: Index


def extents_of(buffer: ir.Value) -> Extents:
    """A buffer's extents: numbers where the type says them."""
    kind = ir.MemRefType(buffer.type)
    sizes = list(kind.shape)
    strides, offset = strides_and_offset(kind)
    if DYNAMIC not in (*sizes, *strides, offset):
        return Extents(list(sizes), list(strides), offset)
    metadata = memref.ExtractStridedMetadataOp(buffer)
    read = list(metadata.results)[1:]
    return Extents(
        _known(sizes, read[1 : 1 + kind.rank]),
        _known(strides, read[1 + kind.rank :]),
        _known([offset], read[:1])[0],
    )


def _known(numbers: Sequence[int], values: Sequence[ir.Value]) -> list[Index]:
    return [
        value if number == DYNAMIC else number
        for number, value in zip(numbers, values, strict=True)
    ]


def view_of(buffer: ir.Value, kind: ir.MemRefType, extents: Extents) -> ir.Value:
    """The view of type `kind` of the memory of `buffer`. What the type says stands."""
    strides, offset = strides_and_offset(kind)
    sizes = list(kind.shape)
    return memref.ReinterpretCastOp(
        kind,
        buffer,
        _open([offset], [extents.offset]),
        _open(sizes, extents.sizes),
        _open(strides, extents.strides),
        [offset],
        sizes,
        strides,
    ).result


def _open(numbers: Sequence[int], values: Sequence[Index]) -> list[ir.Value]:
    """The values where the type leaves a number open."""
    return [
        materialized(value)
        for number, value in zip(numbers, values, strict=True)
        if number == DYNAMIC
    ]


def pack(
    state: ProgramState,
    kind: ir.MemRefType,
    allocated: ir.Value,
    first: ir.Value,
    sizes: Sequence[Index],
    strides: Sequence[Index],
) -> ir.Value:
    """The buffer whose first element is at `first`."""
    emit = state.emit
    descriptor = emit.undefined(emit.types.descriptor(kind.rank))
    descriptor = emit.insert(descriptor, allocated, 0)
    descriptor = emit.insert(descriptor, first, 1)
    descriptor = emit.insert(descriptor, emit.i64(0), 2)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        descriptor = emit.insert(descriptor, as_i64(state, size), 3, axis)
        descriptor = emit.insert(descriptor, as_i64(state, stride), 4, axis)
    return emit.cast(descriptor, kind)


def repacked(state: ProgramState, buffer: ir.Value, kind: ir.MemRefType) -> ir.Value:
    """The same buffer as a value of type `kind`, its offset in the address."""
    emit = state.emit
    extents = extents_of(buffer)
    allocated = emit.extract(emit.convert(buffer), emit.types.ptr, 0)
    first = data_address(emit, buffer)
    return pack(state, kind, allocated, first, extents.sizes, extents.strides)


def as_i64(state: ProgramState, number: Index) -> ir.Value:
    """A number as C functions take it."""
    return state.emit.i64(number) if isinstance(number, int) else state.emit.convert(number)
