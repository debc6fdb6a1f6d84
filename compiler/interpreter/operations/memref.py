"""Upstream's memref operations on buffers, and casts that change no bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....dialects.hir.layout import DYNAMIC
from ....dialects.mlir import dense_bytes, ir
from .. import fault
from ..buffer import Buffer, packed_strides
from ..convert import convert
from ..dtypes import dtype_of, element_type_of
from ..frame import Frame
from ..memory import Allocation, Owner
from ..registry import interprets
from ..scalar_numbers import as_numbers, from_number
from ..shapes import reshaped_strides, text_of
from ..torch_import import torch


@interprets("memref.dim")
def dim(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    place = frame.number(op.operands[1])
    if not 0 <= place < len(buffer.sizes):
        fault.fail(op, f"{buffer.name} has {len(buffer.sizes)} dims, and no dim {place}")
    return [buffer.sizes[place]]


@interprets("memref.get_global")
def constant(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    kept = frame.interpreter.constants
    if name not in kept:
        kept[name] = _constant(op, name, frame)
    return [kept[name]]


def _constant(op: ir.Operation, name: str, frame: Frame) -> Buffer:
    """Returns the memory of a constant, which lies with the host's code or in device code."""
    shaped = op.results[0].type
    element = element_type_of(shaped)
    assert isinstance(shaped, ir.MemRefType)
    value = _value_of(frame.interpreter.module.operation, name)
    data = dense_bytes(value, element.bytes) if value is not None and element is not None else None
    if data is None or element is None:
        fault.refuse(op, f"the interpreter has memory of constants, and none of @{name}")
    count = math.prod(shaped.shape)
    if count * element.bytes > len(data):
        data *= count
    memory = torch.empty(len(data), dtype=torch.uint8, device=frame.interpreter.device)
    if data:
        memory.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    allocation = Allocation(f"@{name}", Owner.CONSTANT, len(data), memory.data_ptr(), memory)
    flat = memory.view(dtype_of(element))
    sizes = tuple(shaped.shape)
    return Buffer(flat.as_strided(sizes, tuple(packed_strides(sizes)), 0), element, allocation)


def _value_of(module: ir.Operation, name: str) -> ir.Attribute | None:
    """Returns the value of the constant of that name, of the host's or in a gpu.module."""
    for child in module.regions[0].blocks[0]:
        op = child.operation
        found = _value_of(op, name) if op.name == "gpu.module" else None
        is_it = op.name == "memref.global" and "constant" in op.attributes
        if is_it and ir.StringAttr(op.attributes["sym_name"]).value == name:
            found = op.attributes.get("initial_value", None)
        if found is not None:
            return found
    return None


@interprets("memref.extract_strided_metadata")
def metadata(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns the element that the offset counts from as a buffer, the offset, sizes
    and strides.
    """
    buffer = frame.buffer(op, op.operands[0])
    base = buffer.view([], [], -buffer.offset)
    return [base, buffer.offset, *buffer.sizes, *buffer.strides]


@interprets("memref.extract_aligned_pointer_as_index")
def pointer(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [frame.buffer(op, op.operands[0]).tensor.data_ptr()]


@interprets("memref.reinterpret_cast")
def reinterpret(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    offsets, sizes, strides = _parts(op, frame)
    start = offsets[0] - buffer.offset
    places = zip(sizes, strides, strict=True)
    ends = [start, start + sum((size - 1) * stride for size, stride in places)]
    address, each = buffer.tensor.data_ptr(), buffer.element.bytes
    first, beyond = (address + min(ends) * each, address + (max(ends) + 1) * each)
    allocation = buffer.allocation
    is_inside = allocation.address <= first and beyond <= allocation.address + allocation.bytes
    if 0 not in sizes and not is_inside:
        fault.fail(op, f"{text_of(sizes)} from {offsets[0]} lies outside of {buffer.name}")
    return [buffer.view(sizes, strides, start if 0 not in sizes else 0)]


@interprets("memref.subview")
def subview(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns a part of each dim; dims that the result's type has not are of size 1 and dropped."""
    buffer = frame.buffer(op, op.operands[0])
    offsets, sizes, steps = _parts(op, frame)
    for place, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        if offset < 0 or (size and offset + (size - 1) * step >= buffer.sizes[place]):
            fault.fail(
                op,
                f"{size} elements from {offset}, {step} apart, do not lie within dim {place} of "
                f"{buffer.name}, which has size {buffer.sizes[place]}",
            )
    strides = [stride * step for stride, step in zip(buffer.strides, steps, strict=True)]
    places = zip(offsets, buffer.strides, strict=True)
    start = sum(offset * stride for offset, stride in places) if 0 not in sizes else 0
    shaped = op.results[0].type
    assert isinstance(shaped, ir.MemRefType)
    for place in reversed(range(len(sizes))):
        if len(sizes) > shaped.rank and sizes[place] == 1 and not _is_kept(shaped, sizes, place):
            del sizes[place], strides[place]
    return [buffer.view(sizes, strides, start)]


@interprets("memref.cast")
def cast(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    shaped = op.results[0].type
    if not isinstance(shaped, ir.MemRefType):
        fault.refuse(op, f"the interpreter has no {shaped}")
    declared = shaped.get_strides_and_offset()[0]
    for size, stride, actual in zip(buffer.sizes, declared, buffer.strides, strict=True):
        if size > 1 and stride not in (DYNAMIC, actual):
            fault.fail(op, f"{buffer.name} has strides {list(buffer.strides)}, and not {declared}")
    return [buffer]


@interprets("memref.collapse_shape", "memref.expand_shape")
def reshape(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Dims that lie packed one within the other as one, or one as several."""
    buffer = frame.buffer(op, op.operands[0])
    if op.name == "memref.collapse_shape":
        groups = [
            [ir.IntegerAttr(dim_).value for dim_ in ir.ArrayAttr(group)]
            for group in ir.ArrayAttr(op.attributes["reassociation"])
        ]
        sizes = [math.prod(buffer.sizes[dim_] for dim_ in group) for group in groups]
    else:
        rest = iter(list(op.operands)[1:])
        known = ir.DenseI64ArrayAttr(op.attributes["static_output_shape"])
        sizes = [frame.number(next(rest)) if size == DYNAMIC else size for size in known]
    strides = reshaped_strides(buffer.sizes, buffer.strides, sizes)
    if strides is None or math.prod(sizes) != math.prod(buffer.sizes):
        fault.fail(op, f"{buffer.name}, {text_of(buffer.sizes)}, is not {text_of(sizes)}")
    return [buffer.view(sizes, strides)]


@interprets("memref.copy")
def copy(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    source, target = (frame.buffer(op, operand) for operand in op.operands)
    if source.sizes != target.sizes:
        fault.fail(op, f"{text_of(source.sizes)} is copied to {text_of(target.sizes)}")
    numbers = frame.read(op, source)
    frame.write(target, convert(numbers, source.element, target.element))
    return []


@interprets("memref.load")
def load(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    element = _element(op, frame, op.operands[0], list(op.operands)[1:])
    return [from_number(frame.read(op, element), element.element)]


@interprets("memref.store")
def store(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    value, target, *places = op.operands
    element = _element(op, frame, target, places)
    number = as_numbers(frame.value(value), value.type, element.element, frame.interpreter.device)
    frame.write(element, number)
    return []


@interprets("builtin.unrealized_conversion_cast")
def conversion(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Returns the same bytes as another element type of the same size, or the same number."""
    if len(op.operands) != 1 or len(op.results) != 1:
        fault.refuse(op, "the interpreter converts one value to one")
    value = frame.value(op.operands[0])
    if not isinstance(value, Buffer):
        return [value]
    value = frame.buffer(op, op.operands[0])
    element = element_type_of(op.results[0].type)
    if element is None or element.bytes != value.element.bytes:
        fault.refuse(op, f"{value.element.name} cannot be seen as {op.results[0].type}")
    return [value.as_element(element)]


@interprets("memref.assume_alignment")
def assume_alignment(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    buffer = frame.buffer(op, op.operands[0])
    alignment = ir.IntegerAttr(op.attributes["alignment"]).value
    if buffer.tensor.data_ptr() % alignment:
        fault.fail(op, f"{buffer.name} is not aligned to {alignment} bytes")
    return [buffer] if len(op.results) else []


@interprets("memref.dealloc", "memref.alloc")
def refused(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    fault.refuse(op, "memory of a program is hir.allocate's and hir.deallocate's")


def _element(
    op: ir.Operation, frame: Frame, operand: ir.Value, places: Sequence[ir.Value]
) -> Buffer:
    """One element as a buffer without dims."""
    buffer = frame.buffer(op, operand)
    indices = [frame.number(place) for place in places]
    for dim_, (index, size) in enumerate(zip(indices, buffer.sizes, strict=True)):
        if not 0 <= index < size:
            fault.fail(
                op, f"index {index} is out of range for dim {dim_} of {buffer.name}: size {size}"
            )
    offset = sum(i * stride for i, stride in zip(indices, buffer.strides, strict=True))
    return buffer.view([], [], offset)


def _parts(op: ir.Operation, frame: Frame) -> tuple[list[int], list[int], list[int]]:
    """Returns the offsets, sizes and strides of an operation: attributes, open ones operands in
    order.
    """
    rest = iter(list(op.operands)[1:])

    def numbers(name: str) -> list[int]:
        known = ir.DenseI64ArrayAttr(op.attributes[name])
        return [frame.number(next(rest)) if item == DYNAMIC else item for item in known]

    return numbers("static_offsets"), numbers("static_sizes"), numbers("static_strides")


def _is_kept(shaped: ir.MemRefType, sizes: Sequence[int], place: int) -> bool:
    """Returns whether the result's type still has this dim of size 1, from the end on."""
    after = len(sizes) - place
    return after <= shaped.rank and shaped.shape[shaped.rank - after] == 1
