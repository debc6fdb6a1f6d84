"""The types of views: what is known of their sizes, strides and offset from the buffer's type."""

from collections.abc import Sequence

from ..mlir import ir
from .layout import (
    DYNAMIC,
    LayoutError,
    buffer_type,
    has_identity_layout,
    is_packed,
    packed_strides,
    product,
    show_sizes,
    strides_and_offset,
)


def select_type(buffer: ir.MemRefType, axis: int, index: int | None = None) -> ir.MemRefType:
    """Returns the view at `index` along `axis`, without the axis; `index` is None where it is not
    known.
    """
    strides, offset = strides_and_offset(buffer)
    check_axis(buffer, axis)
    size = buffer.shape[axis]
    if index is not None and (index < 0 or (size != DYNAMIC and index >= size)):
        raise LayoutError(f"index {index} is out of range for axis {axis} of {buffer}")
    return buffer_type(
        _without(buffer.shape, axis),
        buffer.element_type,
        _without(strides, axis),
        _add(offset, product([DYNAMIC if index is None else index, strides[axis]])),
    )


def slice_size(size: int, start: int | None, stop: int | None, step: int) -> int:
    """Returns how many elements start, start + step, ... lie below stop; None and DYNAMIC are
    unknown.

    LayoutError: the bounds are certainly outside of 0 <= start <= stop <= size.
    """
    if step < 1:
        raise LayoutError(f"the step of a slice is at least 1, not {step}")
    lowest = 0 if start is None else start
    highest = size if stop is None else stop
    bounds = f"[{'?' if start is None else start}, {'?' if stop is None else stop})"
    if (
        lowest < 0
        or (stop is not None and stop < lowest)
        or (size != DYNAMIC and max(lowest, highest) > size)
    ):
        sized = "of unknown size" if size == DYNAMIC else f"of size {size}"
        raise LayoutError(
            f"bounds {bounds} do not lie within an axis {sized}: 0 <= start <= stop <= size"
        )
    if start is None or stop is None:
        return DYNAMIC
    return -((start - stop) // step)


def slice_type(
    buffer: ir.MemRefType, axis: int, size: int, step: int = 1, start: int | None = None
) -> ir.MemRefType:
    """Returns the view of `size` (or DYNAMIC) elements along `axis`, `step` apart from `start` on.

    `start` is None where it is not known. slice_size gives the size.
    """
    check_axis(buffer, axis)
    strides, offset = strides_and_offset(buffer)
    shape = list(buffer.shape)
    shape[axis] = size
    offset = _add(offset, product([DYNAMIC if start is None else start, strides[axis]]))
    strides[axis] = product([strides[axis], step])
    return buffer_type(shape, buffer.element_type, strides, offset)


def permute_type(buffer: ir.MemRefType, order: Sequence[int]) -> ir.MemRefType:
    """Returns the view whose dim `i` is dim `order[i]` of the buffer."""
    if sorted(order) != list(range(buffer.rank)):
        raise LayoutError(
            f"the order has each of the {buffer.rank} dims of {buffer} once; it is {list(order)}"
        )
    if list(order) == list(range(buffer.rank)):
        return buffer
    strides, offset = strides_and_offset(buffer)
    return buffer_type(
        [buffer.shape[dim] for dim in order],
        buffer.element_type,
        [strides[dim] for dim in order],
        offset,
    )


def expand_type(buffer: ir.MemRefType, shape: Sequence[int]) -> ir.MemRefType:
    """Returns the view that repeats dims of size 1, and adds leading ones, to have these sizes.

    Where a size of the buffer is open and may be 1, the stride is open too.
    """
    added = len(shape) - buffer.rank
    if added < 0:
        raise LayoutError(f"{buffer} has more dims than {show_sizes(shape)}")
    strides, offset = strides_and_offset(buffer)
    for size, old_size in zip(shape[added:], buffer.shape, strict=True):
        if old_size not in (1, DYNAMIC) and size not in (old_size, DYNAMIC):
            raise LayoutError(
                f"sizes {show_sizes(buffer.shape)} cannot be repeated to {show_sizes(shape)}: "
                f"only a size of 1 repeats, not {old_size}"
            )
    repeated = map(_expanded_stride, buffer.shape, shape[added:], strides)
    return buffer_type(shape, buffer.element_type, [*[0] * added, *repeated], offset)


def _expanded_stride(old_size: int, size: int, stride: int) -> int:
    if old_size == 1:
        return stride if size == 1 else 0
    # An open size may be 1, which repeats, unless the new one is 1 too.
    return DYNAMIC if old_size == DYNAMIC and size != 1 and stride != 0 else stride


def reshape_type(buffer: ir.MemRefType, shape: Sequence[int]) -> ir.MemRefType:
    """Returns the view of the same elements, in row-major order, with these sizes.

    LayoutError: the number of elements differs, or the strides allow no such view.
    """
    _check_same_number(buffer.shape, shape)
    if list(shape) == list(buffer.shape) and DYNAMIC not in shape:
        return buffer
    _, offset = strides_and_offset(buffer)
    if has_identity_layout(buffer):
        return buffer_type(shape, buffer.element_type)
    if is_packed(buffer) or 0 in shape:
        strides = packed_strides(shape)
    else:
        strides = _reshaped_strides(buffer, shape)
    return buffer_type(shape, buffer.element_type, strides, offset)


def _reshaped_strides(buffer: ir.MemRefType, shape: Sequence[int]) -> list[int]:
    """Torch's rule, from the innermost dim outwards, as far as sizes and strides are known.

    Dims of the buffer form runs, each packed within itself; dims of the result must cover each run
    evenly. `available` counts the elements of the run so far, `taken` those that dims of the result
    cover.
    """
    old_shape = buffer.shape
    old_strides, _ = strides_and_offset(buffer)
    strides = [DYNAMIC] * len(shape)
    place = len(shape)  # from here on the strides are found
    base, available, taken = (old_strides[-1] if old_strides else 1), 1, 1
    for dim in reversed(range(len(old_shape))):
        if DYNAMIC in (old_shape[dim], base):
            if place and dim == 0 and taken == available:
                strides[place - 1] = product([taken, base])
            return strides
        available *= old_shape[dim]
        while place and (taken < available or shape[place - 1] == 1):
            place -= 1
            strides[place] = taken * base
            if shape[place] == DYNAMIC:
                return strides
            taken *= shape[place]
        next_size, next_stride = (old_shape[dim - 1], old_strides[dim - 1]) if dim else (1, 0)
        if next_size == 1 or next_stride == available * base:
            continue
        if taken != available and DYNAMIC in (next_size, next_stride):
            return strides
        if taken != available:
            raise LayoutError(
                f"{buffer} cannot be seen with sizes {show_sizes(shape)}: its dims {dim - 1} and "
                f"{dim} do not lie packed one within the other; hir.set makes a packed copy"
            )
        base, available, taken = next_stride, 1, 1
    return strides


def _check_same_number(old_shape: Sequence[int], shape: Sequence[int]) -> None:
    old, new = product(old_shape), product(shape)
    if (
        (DYNAMIC not in (old, new) and old != new)
        or (new == DYNAMIC != old and not _may_fill(shape, old))
        or (old == DYNAMIC != new and not _may_fill(old_shape, new))
    ):
        raise LayoutError(
            f"sizes {show_sizes(shape)} do not have as many elements as {show_sizes(old_shape)}"
        )


def _may_fill(shape: Sequence[int], number: int) -> bool:
    """Returns whether open sizes can be chosen so that there are `number` elements."""
    return number % product([size for size in shape if size != DYNAMIC]) == 0


def check_axis(buffer: ir.MemRefType, axis: int) -> None:
    """LayoutError where the buffer has no such axis."""
    if not 0 <= axis < buffer.rank:
        raise LayoutError(f"axis {axis} is out of range for {buffer}, of rank {buffer.rank}")


def _without(values: Sequence[int], place: int) -> list[int]:
    return [*values[:place], *values[place + 1 :]]


def _add(a: int, b: int) -> int:
    return DYNAMIC if DYNAMIC in (a, b) else a + b
