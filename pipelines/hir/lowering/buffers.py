"""Sizes, strides and addresses of buffers, and buffers made of them."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import DYNAMIC, strides_and_offset
from ....dialects.mlir import ir, memref
from ....dialects.records import dataclass
from ...constants import constant_value
from ...host.buffer import CAST, data_address, parts_of
from ...walking import is_used
from ..index_arithmetic import Index, index_of, materialized
from .state import ProgramState

# The words of `struct hirc_plan_cache` (compiler/runtime/hirc_runtime.h).
PLAN_CACHE_WORDS = 8


@dataclass(frozen=True)
class Extents:
    """A buffer's sizes, strides and offset in elements."""

    sizes: list[Index]
    strides: list[Index]
    offset: Index


def extents_of(buffer: ir.Value) -> Extents:
    """Returns a buffer's extents: numbers where the type says them."""
    kind = ir.MemRefType(buffer.type)
    sizes = list(kind.shape)
    strides, offset = strides_and_offset(kind)
    if DYNAMIC not in (*sizes, *strides, offset):
        return Extents(list(sizes), list(strides), offset)
    parts = parts_of(buffer)
    if parts is not None:
        given = iter(parts[2:])
        read_sizes = [index_of(next(given)) if size == DYNAMIC else size for size in sizes]
        read_strides = [index_of(next(given)) if each == DYNAMIC else each for each in strides]
        return Extents(read_sizes, read_strides, 0)
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
    """Returns the view of type `kind` of the memory of `buffer`. What the type says stands."""
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
    """Returns the values where the type leaves a number open."""
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
    """Returns the buffer whose first element is at `first`.

    It is made of its parts by one operation, which `unpack` ends: most buffers are asked for their
    parts alone.
    """
    known_strides, _ = strides_and_offset(kind)
    parts = [*_open(kind.shape, sizes), *_open(known_strides, strides)]
    op = ir.Operation.create(CAST, results=[kind], operands=[allocated, first, *parts])
    state.packs.append(op)
    return op.results[0]


def unpack(state: ProgramState) -> None:
    """Makes descriptors of the buffers that were packed, where any is used as a whole."""
    for op in reversed(state.packs):
        buffer = op.results[0]
        with state.before(op):
            extents = extents_of(buffer)
        for user in [use.owner.operation for use in buffer.uses]:
            _read_parts(user, extents)
        if is_used(buffer):
            with state.before(op):
                buffer.replace_all_uses_with(_descriptor(state, op, extents))
        op.erase()
    state.packs.clear()


def _read_parts(op: ir.Operation, extents: Extents) -> None:
    """Erases an operation that reads sizes and strides, which are at hand."""
    axis = constant_value(op.operands[1]) if op.name == "memref.dim" else None
    if axis is not None:
        numbers = [extents.sizes[axis]]
    elif op.name == "memref.extract_strided_metadata" and not is_used(op.results[0]):
        numbers = [0, extents.offset, *extents.sizes, *extents.strides]
    else:
        return
    with op.location, ir.InsertionPoint(op):
        for result, number in zip(op.results, numbers, strict=True):
            if is_used(result):
                result.replace_all_uses_with(materialized(number))
    op.erase()


def _descriptor(state: ProgramState, op: ir.Operation, extents: Extents) -> ir.Value:
    """Returns the buffer of a pack as MLIR's memref descriptor."""
    emit, kind = state.emit, ir.MemRefType(op.results[0].type)
    allocated, first = list(op.operands)[:2]
    descriptor = emit.begun_descriptor(kind.rank, allocated, first)
    for axis, (size, stride) in enumerate(zip(extents.sizes, extents.strides, strict=True)):
        descriptor = emit.insert(descriptor, as_i64(state, size), 3, axis)
        descriptor = emit.insert(descriptor, as_i64(state, stride), 4, axis)
    return emit.cast(descriptor, kind)


def allocated_address(state: ProgramState, buffer: ir.Value) -> ir.Value:
    """Where the memory of a buffer begins, which is what is freed."""
    parts = parts_of(buffer)
    if parts is not None:
        return parts[0]
    return state.emit.extract(state.emit.convert(buffer), state.emit.types.ptr, 0)


def repacked(state: ProgramState, buffer: ir.Value, kind: ir.MemRefType) -> ir.Value:
    """Returns the same buffer as a value of type `kind`, its offset in the address."""
    extents = extents_of(buffer)
    allocated = allocated_address(state, buffer)
    first = data_address(state.emit, buffer)
    return pack(state, kind, allocated, first, extents.sizes, extents.strides)


def as_i64(state: ProgramState, number: Index) -> ir.Value:
    """Returns a number as C functions take it."""
    return state.emit.i64(number) if isinstance(number, int) else state.emit.convert(number)
