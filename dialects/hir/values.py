"""What programs pass around: buffers and scalars, and whether one fits where it is wanted."""

from ..mlir import ir
from .element_types import find_element_type
from .layout import DYNAMIC, LayoutError, strides_and_offset


def is_scalar(value_type: ir.Type) -> bool:
    """Returns whether it is an index, an integer or a float."""
    if isinstance(value_type, ir.IndexType):
        return True
    element = find_element_type(value_type)
    return element is not None and element.kind != "complex"


def not_a_buffer(value_type: ir.Type) -> str | None:
    """Why the type is no buffer, or None where it is one."""
    if not isinstance(value_type, ir.MemRefType):
        return "is no memref"
    if find_element_type(value_type.element_type) is None:
        return f"has elements of {value_type.element_type}, which buffers cannot hold"
    if value_type.memory_space is not None:
        return "has a memory space; buffers have none (hir.allocate has `memory`)"
    if not has_strides(value_type):
        return "has a layout that is not strided"
    return None


def not_a_value(value_type: ir.Type) -> str | None:
    """Why the type is neither a buffer nor a scalar, or None where it is one."""
    if is_scalar(value_type):
        return None
    reason = not_a_buffer(value_type)
    return "is neither a buffer nor a scalar" if reason == "is no memref" else reason


def has_strides(buffer: ir.MemRefType) -> bool:
    """Returns whether the type's layout is described by strides."""
    try:
        strides_and_offset(buffer)
    except LayoutError:
        return False
    return True


def mismatch(given: ir.Type, wanted: ir.Type) -> str | None:
    """Why a value of type `given` cannot stand where `wanted` is declared; None where it can.

    Of buffers, element type and sizes bind; strides do not. A size open in one type is checked when
    the program runs.
    """
    if not isinstance(given, ir.MemRefType) or not isinstance(wanted, ir.MemRefType):
        return None if given == wanted else f"expected {wanted}, not {given}"
    if given.element_type != wanted.element_type:
        return f"expected elements of {wanted.element_type}, not {given.element_type}"
    if given.rank != wanted.rank:
        return f"expected {wanted.rank} dims, not {given.rank}: {wanted}, not {given}"
    for axis, (here, there) in enumerate(zip(given.shape, wanted.shape, strict=True)):
        if DYNAMIC not in (here, there) and here != there:
            return f"expected size {there} of dim {axis}, not {here}"
    return None


def element_count(buffer: ir.MemRefType) -> int | None:
    """Returns the number of elements; None where the type leaves a size open."""
    count = 1
    for size in buffer.shape:
        if size == DYNAMIC:
            return None
        count *= size
    return count
