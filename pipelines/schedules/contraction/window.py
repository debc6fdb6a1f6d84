"""Windows of an image as boxes for the copy engine: convolutions whose channels lie together.

A tile of results is a box of places in the image, such as 2 images by 8 rows by 8 columns. What it
reads for a place of the window is a box of the same sizes, which lies further along in the image.
Beyond the image's edges the copy engine gives zeros, as padding does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import gcd, prod

from ....dialects.records import dataclass
from ..elements import element_bytes
from ..size import ONE, ZERO
from ..warpgroup_matrices import (
    DEPTH_BYTES,
    MOST_DIMS,
    MOST_IN_BOX,
    MOST_STEP,
    ROW_BYTES,
    ROWS,
    STRIDE_BYTES,
)
from .form import Factor, Form

# What neighbouring places of an image take to copy at least, in rows of ROW_BYTES: 28 cycles of a
# multiprocessor, where a row of many takes 3.3. Boxes of 128 places as 2x64, 32x4, 64x2 and 128x1
# of these took 137, 218, 340 and 570 us on an H200, and 2x64, 8x16 and 16x8 137 to 149 (3x3 in
# f16, 64 images of 64x64 with 128 channels to 128).
_LEAST_LINE = 8.5
# A copy of a tile's least rows takes one of so many places at most.
_MOST_PASSED = MOST_IN_BOX // ROWS


@dataclass(frozen=True, eq=False)
class Axis:
    """A dim of an image: places `constant + sum(factors[l] * il)`, of which there are `size`.

    They lie `stride` elements apart. What is read of other places is 0. With `by` above 1 it has
    the quotients of places by that number, or if it `is_rest` what these leave. With a `step` above
    1 a copy takes so far apart places.
    """

    size: int
    stride: int
    constant: int
    factors: Mapping[int, int]
    by: int = 1
    is_rest: bool = False
    step: int = 1


@dataclass(frozen=True, eq=False)
class Window:
    """How the copy engine sees a factor that is read in windows: `axes`, innermost first.

    The first has the loop of the terms alone, the next ones one loop of rows each, innermost first;
    rows have `extents` iterations, outermost first. The first element lies at `offset` of the
    factor's buffer. Terms of places, or of groups, that lie `beside` one another may follow each
    other along the first axis.
    """

    factor: Factor
    extents: tuple[int, ...]
    axes: tuple[Axis, ...]
    offset: int
    beside: Axis | None = None

    @property
    def is_along_terms(self) -> bool:
        return True

    def box(self, rows: int) -> tuple[int, ...] | None:
        """Returns the box of so many results that a tile has: those that take least to copy.

        None where no copy brings so many.
        """
        steps = [axis.step for axis in self.axes[len(self.extents) : 0 : -1]]
        return _best_box(self.extents, tuple(MOST_IN_BOX // step for step in steps), rows)

    def count(self, rows: int) -> int:
        """Returns how many tiles of so many results there are."""
        box = self.box(rows)
        assert box is not None
        return _count(self.extents, box)

    def copied_rows(self, rows: int, columns: int) -> float:
        """Returns in how many rows' time a tile's box and so many columns' terms are copied."""
        box = self.box(rows)
        assert box is not None
        return _copied_rows(box, columns)


@cache
def _best_box(extents: tuple[int, ...], most: tuple[int, ...], rows: int) -> tuple[int, ...] | None:
    def key(box: tuple[int, ...]) -> tuple[float, list[int]]:
        # As for a tile with as many columns.
        return _count(extents, box) * _copied_rows(box, rows), [-size for size in box[::-1]]

    def fits(box: tuple[int, ...]) -> bool:
        return all(size <= limit for size, limit in zip(box, most, strict=True))

    return min(filter(fits, _boxes(rows, len(extents))), key=key, default=None)


def _copied_rows(box: Sequence[int], columns: int) -> float:
    *lines, _ = box
    return max(prod(box), _LEAST_LINE * prod(lines)) + columns


def _boxes(rows: int, dims: int) -> Iterator[tuple[int, ...]]:
    if dims == 1:
        yield (rows,)
        return
    for size in (each for each in range(1, rows + 1) if rows % each == 0):
        for rest in _boxes(rows // size, dims - 1):
            yield size, *rest


def _count(extents: Sequence[int], box: Sequence[int]) -> int:
    return prod(-(-extent // size) for extent, size in zip(extents, box, strict=True))


def read_window(form: Form) -> Window | None:
    """Returns how the first factor is read in windows, of known sizes; None where no box is."""
    factor, work = form.first, form.work
    *outer, inner = form.terms
    loops = [*form.rows, *outer, *form.batch]
    along = [loop for loop in loops if factor.strides[loop] != ZERO]
    sizes = [factor.offset, *(work.extents[loop] for loop in (*along, inner))]
    if not all(each.is_known for each in (*sizes, *(factor.strides[loop] for loop in along))):
        return None
    if factor.strides[inner] != ONE or factor.guards_along(inner):
        return None
    if any(factor.strides[loop].known <= 0 for loop in along):
        return None
    found = _guarded_axes(form, factor)
    if found is None:
        return None
    used = {loop for axis in found for loop in axis.factors}
    rows = [loop for loop in form.rows if loop not in used]
    found += _plain_axes(form, rows, [loop for loop in along if loop not in {*used, *rows}])
    ordered: list[Axis] = []
    for row in reversed(form.rows):
        own = [axis for axis in found if row in axis.factors]
        if len(own) != 1 or own[0] in ordered:
            return None
        ordered += own
    offset = factor.offset.known - sum(axis.constant * axis.stride for axis in found)
    rests: list[Axis] = []
    others = [axis for axis in found if axis not in ordered]
    for place, (row, axis) in enumerate(zip(reversed(form.rows), ordered, strict=True)):
        by = axis.factors[row]
        if axis.size % by or 1 < by <= _MOST_PASSED:
            ordered[place] = replace(axis, step=by)
        elif by > 1:
            rests.append(replace(axis, size=by, by=by, is_rest=True))
            ordered[place] = replace(axis, size=axis.size // by, stride=axis.stride * by, by=by)
    channels = Axis(work.extents[inner].known, 1, 0, {inner: 1})
    beside = next((axis for axis in rests if axis.stride == channels.size), None)
    if beside is not None and channels.size * element_bytes(factor.element) % ROW_BYTES == 0:
        rests.remove(beside)
        channels = replace(channels, size=channels.size * beside.size)
    else:
        beside = None
    if len(ordered) + len(rests) + len(others) >= MOST_DIMS and beside is None:
        beside = _beside(channels, others, element_bytes(factor.element))
        if beside is not None:
            others.remove(beside)
            channels = replace(channels, size=channels.size * beside.size)
    ordered += [*rests, *others]
    count = STRIDE_BYTES // element_bytes(factor.element)
    if len(ordered) >= MOST_DIMS or offset < 0 or offset % count:
        return None
    if any(axis.stride % count for axis in ordered):
        return None
    if any(axis.size < 1 for axis in (channels, *ordered)):
        return None  # The copy engine takes no tensors without elements.
    if any(axis.step > MOST_STEP for axis in ordered):
        return None
    extents = tuple(work.extents[loop].known for loop in form.rows)
    window = Window(factor, extents, (channels, *ordered), offset, beside)
    return None if window.box(ROWS) is None else window


def _beside(channels: Axis, others: Sequence[Axis], element: int) -> Axis | None:
    """Returns the dim along which channels of groups follow one another, if a step of them has none
    of the next group's that is multiplied.
    """
    row = channels.size * element
    if row % ROW_BYTES and (row > ROW_BYTES or row % DEPTH_BYTES):
        return None
    for axis in others:
        is_first = not axis.constant and [*axis.factors.values()] == [1]
        if is_first and axis.stride == channels.size:
            return axis
    return None


def _guarded_axes(form: Form, factor: Factor) -> list[Axis] | None:
    """Returns the axes along which there are edges; None where they are no dims in memory.

    They have those places that are read: every so many'th where all loops go so far.
    """
    found: list[Axis] = []
    used: set[int] = set()
    for guard in factor.guards:
        extents = form.work.extents
        moving = {loop: by for loop, by in guard.factors.items() if extents[loop] != ONE}
        loops = moving or guard.factors
        if guard.by != 1 or not guard.bound.is_known or used & loops.keys():
            return None
        strides = {
            (factor.strides[loop].known // by, factor.strides[loop].known % by)
            for loop, by in loops.items()
            if by > 0
        }
        if len(strides) != 1 or any(by < 1 for by in loops.values()):
            return None
        ((stride, rest),) = strides
        if rest or not stride:
            return None
        used |= loops.keys()
        every = gcd(*loops.values())
        constant, first = divmod(guard.constant, every)
        size = -(-(guard.bound.known - first) // every)
        factors = {loop: by // every for loop, by in loops.items()}
        found.append(Axis(size, stride * every, constant, factors))
    return found


def _plain_axes(form: Form, rows: Sequence[int], others: Sequence[int]) -> list[Axis]:
    """Returns the axes of loops without edges; places of the window lie along those of rows.

    Results lie as far apart as places do, several times as far, or several times as near.
    """
    strides, extents = form.first.strides, form.work.extents
    found = {row: [row] for row in rows}
    rest: list[int] = []
    for loop in others:

        def steps(row: int, stride: int = strides[loop].known) -> tuple[int, int]:
            base = gcd(stride, strides[row].known)
            return strides[row].known // base, stride // base

        along = [row for row in rows if loop in form.terms and steps(row)[0] <= _MOST_PASSED]
        if along:
            found[min(along, key=lambda row: sum(steps(row)))].append(loop)
        else:
            rest.append(loop)
    axes: list[Axis] = []
    for loops in (*found.values(), *([loop] for loop in rest)):
        stride = gcd(*(strides[loop].known for loop in loops))
        factors = {loop: strides[loop].known // stride for loop in loops}
        size = 1 + sum(by * (extents[loop].known - 1) for loop, by in factors.items())
        axes.append(Axis(size, stride, 0, factors))
    return axes
