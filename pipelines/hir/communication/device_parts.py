"""Packed buffers for communication: a buffer as the parts that devices have, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import DYNAMIC, LayoutError, buffer_type, is_packed
from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..fresh_buffers import allocate
from ..host_checks import check
from ..runtime_sizes import size_value
from ..view_ops import permute, reshape, slice_between

# The sizes of a buffer: numbers, or values of the program.
Sizes = list[int | ir.Value]


def sizes_of(buffer: ir.Value) -> Sizes:
    """A buffer's sizes; computes those that its type leaves open."""
    shape = ir.MemRefType(buffer.type).shape
    return [
        size_value(buffer, axis) if size == DYNAMIC else size for axis, size in enumerate(shape)
    ]


def as_value(size: int | ir.Value) -> ir.Value:
    """A size as an index value."""
    return index_constant(size) if isinstance(size, int) else size


def times(size: int | ir.Value, number: int) -> int | ir.Value:
    """A size, `number` times."""
    if isinstance(size, int) or number == 1:
        return size * number if isinstance(size, int) else size
    return arith.muli(size, index_constant(number))


def divided(size: int | ir.Value, number: int) -> int | ir.Value:
    """The size of a part where `number` devices have one each; the program checks an open size."""
    if isinstance(size, int) or number == 1:
        return size // number if isinstance(size, int) else size
    parts = index_constant(number)
    is_even = arith.cmpi(arith.CmpIPredicate.eq, arith.remui(size, parts), index_constant(0))
    check(is_even, f"hir.reshard: a size that {number} devices divide is no multiple of {number}")
    return arith.divui(size, parts)


def new_packed(sizes: Sizes, element: ir.Type) -> ir.Value:
    """A fresh packed buffer."""
    return allocate(buffer_type(_shape(sizes), element), _open(sizes))


def packed(buffer: ir.Value) -> ir.Value:
    """The buffer where its type says that it is packed, else a packed copy."""
    declared = ir.MemRefType(buffer.type)
    if is_packed(declared):
        return buffer
    fresh = new_packed(sizes_of(buffer), declared.element_type)
    copy(buffer, fresh)
    return fresh


def copy(source: ir.Value, target: ir.Value) -> None:
    """hir.set of one buffer to another of the same sizes."""
    if source != target:
        ir.Operation.create("hir.set", operands=[source, target])


def parts_of(buffer: ir.Value, axis: int, number: int) -> ir.Value:
    """A packed buffer that holds the `number` parts of `axis` one after another."""
    declared = ir.MemRefType(buffer.type)
    if parts_are_in_order(declared, axis):
        return buffer
    parts = new_packed(_part_sizes(buffer, axis, number), declared.element_type)
    try:
        copy(_as_parts(buffer, axis, number), parts)
    except LayoutError:
        copy(_as_parts(packed(buffer), axis, number), parts)
    return parts


def part_at(buffer: ir.Value, axis: int, number: int, place: ir.Value) -> ir.Value:
    """Part `place` of the `number` parts of an axis, as a view."""
    size = as_value(divided(sizes_of(buffer)[axis], number))
    start = arith.muli(place, size)
    return slice_between(buffer, axis, start, arith.addi(start, size))


def put_parts(parts: ir.Value, target: ir.Value, axis: int, number: int) -> None:
    """Copies the `number` parts of `axis`, which lie one after another, to where they belong."""
    try:
        copy(parts, _as_parts(target, axis, number))
    except LayoutError:
        whole = new_packed(sizes_of(target), ir.MemRefType(target.type).element_type)
        copy(parts, _as_parts(whole, axis, number))
        copy(whole, target)


def parts_buffer(target: ir.Value, axis: int, number: int) -> ir.Value:
    """A buffer to receive the parts of `axis` of `target`: itself where they lie in order there."""
    declared = ir.MemRefType(target.type)
    if parts_are_in_order(declared, axis):
        return target
    return new_packed(_part_sizes(target, axis, number), declared.element_type)


def parts_are_in_order(buffer: ir.MemRefType, axis: int) -> bool:
    """Returns whether the parts of an axis follow one another in memory without gaps."""
    return is_packed(buffer) and all(size == 1 for size in buffer.shape[:axis])


def _part_sizes(buffer: ir.Value, axis: int, number: int) -> Sizes:
    sizes = sizes_of(buffer)
    return [number, *sizes[:axis], divided(sizes[axis], number), *sizes[axis + 1 :]]


def _as_parts(buffer: ir.Value, axis: int, number: int) -> ir.Value:
    """The view with the parts as outermost dim. LayoutError where the type allows none."""
    first, *rest = _part_sizes(buffer, axis, number)
    split = [*rest[:axis], first, *rest[axis:]]
    dims = range(len(split))
    order = [axis, *(dim for dim in dims if dim != axis)]
    return permute(reshape(buffer, _shape(split), _open(split)), order)


def _shape(sizes: Sequence[int | ir.Value]) -> list[int]:
    return [size if isinstance(size, int) else DYNAMIC for size in sizes]


def _open(sizes: Sequence[int | ir.Value]) -> list[ir.Value]:
    return [size for size in sizes if not isinstance(size, int)]
