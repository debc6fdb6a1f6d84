"""Views in a program's builder: indexing, other orders of dims, other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

from ..layout import DYNAMIC, LayoutError
from ..views import (
    expand_type,
    permute_type,
    reshape_type,
    select_type,
    slice_size,
    slice_type,
)
from .argument_kinds import REFUSED, taken
from .buffer import Buffer
from .errors import BuildError
from .memory import Memory
from .scalars import Scalars
from .sizes import Extent, Size, divide

# What stands in brackets: an index or bounds for each dim, from the first on.
Place: TypeAlias = "int | Size | slice | EllipsisType"
Index: TypeAlias = "Place | tuple[Place, ...]"


class Viewing(Memory, Scalars):
    """Views share the buffer's memory and never copy."""

    def view_at(self, buffer: Buffer, index: Index) -> Buffer:
        """Returns what `buffer[index]` is: an index drops its axis, bounds keep it."""
        axis = 0
        for place in self._for_each_dim(buffer, index):
            if isinstance(place, slice):
                buffer = self._bounds(buffer, axis, place)
                axis += 1
            else:
                buffer = self.select(buffer, axis, place)
        return buffer

    def select(self, buffer: Buffer, axis: int, index: Extent) -> Buffer:
        """Returns the view at `index` along `axis`, without it. A negative number counts from the
        end.
        """
        axis = _axis(buffer, axis)
        if isinstance(index, int) and index < 0:
            index = buffer.shape[axis] + index
        try:
            known = None if isinstance(index, Size) else index
            view = select_type(buffer.type, axis, known)
        except LayoutError as error:
            raise BuildError(str(error)) from None
        operands = [self.buffer_value(buffer), self.extent_value(index)]
        extents = [*buffer.shape[:axis], *buffer.shape[axis + 1 :]]
        attributes = {"axis": self.integer(axis)}
        return self.new_buffer(self.value("hir.select", operands, view, attributes), extents)

    def slice(
        self, buffer: Buffer, axis: int, start: Extent, stop: Extent, step: int = 1
    ) -> Buffer:
        """Returns the view of start, start + step, ... below stop along `axis`."""
        axis = _axis(buffer, axis)
        try:
            size = slice_size(buffer.type.shape[axis], _known(start), _known(stop), step)
            view = slice_type(buffer.type, axis, size, step, _known(start))
        except LayoutError as error:
            raise BuildError(str(error)) from None
        extents: list[Extent] = list(buffer.shape)
        extents[axis] = divide(self, "ceildiv", stop - start, step)
        attributes = {"axis": self.integer(axis)}
        if step != 1:
            attributes["step"] = self.integer(step)
        operands = [self.buffer_value(buffer), self.extent_value(start), self.extent_value(stop)]
        return self.new_buffer(self.value("hir.slice", operands, view, attributes), extents)

    def permute(self, buffer: Buffer, order: Sequence[int]) -> Buffer:
        """Returns the view whose dim `i` is dim `order[i]`."""
        numbers = [_axis(buffer, dim) for dim in order]
        try:
            view = permute_type(buffer.type, numbers)
        except LayoutError as error:
            raise BuildError(str(error)) from None
        extents = [buffer.shape[dim] for dim in numbers]
        attributes = {"order": self.integers(numbers)}
        value = self.value("hir.permute", [self.buffer_value(buffer)], view, attributes)
        return self.new_buffer(value, extents)

    def reshape(self, buffer: Buffer, shape: Sequence[Extent]) -> Buffer:
        """Returns the view of the same elements in row-major order; one size may be -1."""
        total = _product(buffer.shape)
        if _numbers(shape).count(-1) > 1:
            raise BuildError("one size of a reshape may be -1, the rest; there are several")
        if -1 in _numbers(shape):
            others = _product([size for size in shape if isinstance(size, Size) or size != -1])
            if (
                isinstance(others, int)
                and isinstance(total, int)
                and (not others or total % others)
            ):
                raise BuildError(
                    f"{total} elements do not divide into {_shown(shape)}: {others} to each"
                )
            rest = divide(self, "floordiv", total, others)
            shape = [rest if isinstance(size, int) and size == -1 else size for size in shape]
        sizes = self.sizes(shape)
        difference = total - _product(sizes)
        if isinstance(difference, int) and difference:
            raise BuildError(
                f"a buffer of {_shown(buffer.shape)} has no view of {_shown(sizes)}: "
                f"{total} elements are not {_product(sizes)}"
            )
        return self._resized("hir.reshape", buffer, sizes)

    def expand(self, buffer: Buffer, shape: Sequence[Extent]) -> Buffer:
        """Returns the view that repeats dims of size 1 and adds leading ones; -1 keeps a size."""
        added = len(shape) - buffer.rank
        if added < 0:
            raise BuildError(f"{buffer!r} has more dims than {_shown(shape)}")
        kept = [
            buffer.shape[dim - added]
            if isinstance(size, int) and size == -1 and dim >= added
            else size
            for dim, size in enumerate(shape)
        ]
        return self._resized("hir.expand", buffer, self.sizes(kept))

    def _resized(self, name: str, buffer: Buffer, sizes: Sequence[Extent]) -> Buffer:
        shape = [DYNAMIC if isinstance(size, Size) else size for size in sizes]
        infer = reshape_type if name == "hir.reshape" else expand_type
        try:
            view = infer(buffer.type, shape)
        except LayoutError as error:
            raise BuildError(str(error)) from None
        values = [self.extent_value(size) for size in sizes if isinstance(size, Size)]
        return self.new_buffer(self.value(name, [self.buffer_value(buffer), *values], view), sizes)

    def _bounds(self, buffer: Buffer, axis: int, bounds: slice) -> Buffer:
        size = buffer.shape[axis]
        start, stop, step = bounds.start, bounds.stop, bounds.step
        step = taken(int, 1 if step is None else step, lambda scalar: REFUSED)
        if step is REFUSED or step < 1:
            raise BuildError(f"the step of a slice is a number from 1 on, not {bounds.step!r}")
        start = self._bound(0 if start is None else start, size)
        stop = self._bound(size if stop is None else stop, size)
        whole = stop - start == size if isinstance(stop - start - size, int) else False
        if whole and isinstance(start, int) and start == 0 and step == 1:
            return buffer
        return self.slice(buffer, axis, start, stop, step)

    def _for_each_dim(self, buffer: Buffer, index: Index) -> list[int | Size | slice]:
        """One entry a dim: `...` stands for as many whole dims as are left, and so does nothing."""
        places = list(index) if isinstance(index, tuple) else [index]
        found: list[int | Size | slice] = []
        left = buffer.rank - sum(place is not Ellipsis for place in places)
        if left < 0:
            raise BuildError(f"{len(places)} indices for {buffer!r}, which has {buffer.rank} dims")
        if sum(place is Ellipsis for place in places) > 1:
            raise BuildError("an index has one `...` at most")
        for place in places if any(p is Ellipsis for p in places) else [*places, ...]:
            if place is Ellipsis:
                found.extend([slice(None)] * left)
            elif isinstance(place, slice):
                found.append(place)
            else:
                found.append(self._index(place, "an index is a number, a size, bounds or `...`"))
        return found

    def _bound(self, bound: object, size: Extent) -> Extent:
        place = self._index(bound, "a bound is a number or a size")
        return size + place if isinstance(place, int) and place < 0 else place

    def _index(self, place: object, wanted: str) -> Extent:
        """Returns a place in brackets; an integer scalar is made an index."""
        index = taken(int | Size, place, lambda scalar: self.cast_scalar(scalar, "index"))
        if index is REFUSED:
            raise BuildError(
                f"{wanted}, not {place!r}",
                'a float is made an index by .cast("index"); reshape adds dims of size 1',
            )
        return index


def _axis(buffer: Buffer, axis: int) -> int:
    if not -buffer.rank <= axis < buffer.rank:
        raise BuildError(
            f"axis {axis} is out of range for {buffer!r}, which has {buffer.rank} dims"
        )
    return axis % buffer.rank


def _known(extent: Extent) -> int | None:
    return None if isinstance(extent, Size) else extent


def _numbers(sizes: Sequence[Extent]) -> list[int]:
    return [size for size in sizes if isinstance(size, int)]


def _product(sizes: Sequence[Extent]) -> Extent:
    total: Extent = 1
    for size in sizes:
        total = total * size
    return total


def _shown(sizes: Sequence[Extent]) -> str:
    return "[" + ", ".join(str(size) for size in sizes) + "]"
