"""Patches of an image of few channels: all that a tile of results reads, in shared memory once.

Pixels lie in chunks of 16 bytes of channels (see contractions/chunks.py), those of a row of the
image side by side: in memory, and in the patch that the copy engine brings of it. Eight such pixels
are what a warpgroup takes as one of its core matrices where rows are not swizzled (PTX ISA, "Shared
Memory Matrix Layout"); the next eight rows of a product are the pixels below, and its two chunks of
terms any two places of the window. So each product reads the patch where it lies, from another
pixel on, and none is copied twice.

A product's 64 rows are 8 by 8 results; or 64 beside one another, of which there are fewer tiles
where results are a few long rows, or one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..elements import element_bytes
from ..size import MOST_IN_32_BITS, ONE
from ..warpgroup_matrices import (
    CHUNK_BYTES,
    MOST_DIMS,
    MOST_IN_BOX,
    MOST_PAIRS,
    PATCH_SIDE,
    ROWS,
)
from .form import Factor, Form, coordinates_of
from .window import Axis, Window

# The copy engine writes to multiples of so many bytes, and steps of matrices are below so many.
_ALIGNMENT, _MOST_FAR = 128, 1 << 18
# Boxes of a patch that lies in one row of the image.
_MOST_BOXES = 16


@dataclass(frozen=True, eq=False)
class Box:
    """A copy of a part of a patch: `at` so many bytes, from `places` beyond the first ones on."""

    at: int
    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """A patch in shared memory, under a tile of `box` results.

    It lies densely, with so many places along each axis, as does each of its `boxes`, which are of
    `box_sizes` (outermost first). `is_wide` says that products have 64 results side by side.
    """

    box: tuple[int, ...]
    sizes: tuple[int, ...]
    box_sizes: tuple[int, ...]
    boxes: tuple[Box, ...]
    is_wide: bool

    @property
    def bytes(self) -> int:
        """Those of a patch, up to where another one may begin."""
        found = prod(self.sizes) * CHUNK_BYTES
        return -(-found // _ALIGNMENT) * _ALIGNMENT

    @property
    def copied_bytes(self) -> int:
        """Those that the copies bring."""
        return prod(self.sizes) * CHUNK_BYTES

    def pitch(self, axis: int) -> int:
        """Returns the bytes from a place along an axis to the next."""
        return prod(self.sizes[axis + 1 :]) * CHUNK_BYTES


@dataclass(frozen=True, eq=False)
class Patch(Window):
    """How the copy engine sees an image in chunks, of which it copies each patch once.

    `axes` have the pixels of a row first, whose places are chunks, and then others; `terms` are the
    loops of the sum, of which the innermost goes along a chunk.
    """

    terms: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()

    @property
    def chunks(self) -> int:
        """How many chunks a result's window has."""
        return prod(self.counts[:-1])

    @property
    def pairs(self) -> int:
        """How many products sum them, of two chunks each."""
        return -(-self.chunks // 2)

    @property
    def is_odd(self) -> bool:
        """Whether the last product has a chunk of zeros."""
        return self.chunks % 2 == 1

    def box(self, rows: int) -> tuple[int, ...] | None:
        found = self.layout(rows)
        return None if found is None else found.box

    def layout(self, rows: int) -> Layout | None:
        """Returns the patch under so many results, so that these have few tiles; None where there
        is none.
        """
        return self._layouts.get(rows)

    @cached_property
    def _layouts(self) -> _Layouts:
        return _Layouts(self)

    def offset_of(self, layout: Layout, chunk: int) -> int:
        """Returns the bytes from the first pixel of a result's window to a chunk of it."""
        found = 0
        for loop, count in zip(self.terms[-2::-1], self.counts[-2::-1], strict=True):
            chunk, at = divmod(chunk, count)
            for place, axis in enumerate(self.axes[::-1]):
                found += at * axis.factors.get(loop, 0) * layout.pitch(place)
        return found

    def down(self, layout: Layout) -> int:
        """Returns the bytes from eight rows of a product to the next."""
        if layout.is_wide:
            return PATCH_SIDE * CHUNK_BYTES
        return self._pitch_of(layout, self.rows[-2])

    def _pitch_of(self, layout: Layout, row: int) -> int:
        return sum(
            axis.factors.get(row, 0) * layout.pitch(place)
            for place, axis in enumerate(self.axes[::-1])
        )

    def group_steps(self, layout: Layout) -> tuple[int, int, int]:
        """Returns how many products lie side by side, and the bytes to the next, and below."""
        if layout.is_wide:
            return layout.box[-1] // ROWS, ROWS * CHUNK_BYTES, 0
        below = PATCH_SIDE * self._pitch_of(layout, self.rows[-2])
        return layout.box[-1] // PATCH_SIDE, PATCH_SIDE * CHUNK_BYTES, below


class _Layouts:
    """The layouts of patches under tiles, by rows."""

    def __init__(self, patch: Patch) -> None:
        self._patch = patch
        self._known: dict[int, Layout | None] = {}

    def get(self, rows: int) -> Layout | None:
        """Returns the one of least tiles, and then of least bytes in few copies."""
        if rows not in self._known:
            self._known[rows] = min(self._of(rows), key=self._key, default=None)
        return self._known[rows]

    def _key(self, layout: Layout) -> tuple[int, int]:
        tiles = prod(
            -(-extent // size) for extent, size in zip(self._patch.extents, layout.box, strict=True)
        )
        return tiles, len(layout.boxes) * layout.bytes

    def _of(self, rows: int) -> Iterator[Layout]:
        patch = self._patch
        rank = len(patch.extents)
        if rank > 1:
            for wide in (
                each
                for each in range(PATCH_SIDE, rows + 1, PATCH_SIDE)
                if rows % (each * PATCH_SIDE) == 0
            ):
                box = (*[1] * (rank - 2), rows // wide, wide)
                found = self._square(box)
                if found is not None:
                    yield found
        found = self._wide((*[1] * (rank - 1), rows))
        if found is not None:
            yield found

    def _sizes(self, box: tuple[int, ...]) -> list[int]:
        """Returns how many places a patch has along each axis, outermost first."""
        patch = self._patch
        of_rows = dict(zip(patch.rows, box, strict=True))
        of_terms = dict(zip(patch.terms, patch.counts, strict=True))
        return [
            1
            + sum(
                by * ((of_rows.get(loop) or of_terms.get(loop) or 1) - 1)
                for loop, by in axis.factors.items()
            )
            for axis in patch.axes[::-1]
        ]

    def _square(self, box: tuple[int, ...]) -> Layout | None:
        patch = self._patch
        sizes = self._sizes(box)
        count = patch.counts[-1]
        sizes_of_box = (*sizes[:-1], sizes[-1] * count)
        if max(sizes_of_box) > MOST_IN_BOX:
            return None
        layout = Layout(
            box, tuple(sizes), sizes_of_box, (Box(0, (0,) * len(sizes)),), is_wide=False
        )
        return layout if self._is_near(layout) else None

    def _wide(self, box: tuple[int, ...]) -> Layout | None:
        """Of one row of results, pieces of which lie behind one another."""
        patch = self._patch
        *outer, inner = self._sizes(box)
        count = patch.counts[-1]
        most = MOST_IN_BOX // count
        pieces = -(-inner // most)
        # A piece begins where a copy may.
        piece = -(-inner // (pieces * PATCH_SIDE)) * PATCH_SIDE
        if prod(outer) * pieces > _MOST_BOXES:
            return None
        sizes = (*outer, piece * pieces)
        boxes: list[Box] = []
        for number in range(prod(outer)):
            places, rest = list[int](), number
            for size in reversed(outer):
                rest, at = divmod(rest, size)
                places.insert(0, at)
            for each in range(pieces):
                at = (number * pieces + each) * piece * CHUNK_BYTES
                boxes.append(Box(at, (*places, each * piece)))
        layout = Layout(box, sizes, (*[1] * len(outer), piece * count), tuple(boxes), is_wide=True)
        return layout if self._is_near(layout) else None

    def _is_near(self, layout: Layout) -> bool:
        """Returns whether products may step through a patch."""
        patch = self._patch
        offsets = [patch.offset_of(layout, chunk) for chunk in range(patch.chunks)]
        steps = [offsets[at + 1] - offsets[at] for at in range(0, patch.chunks - 1, 2)]
        return (
            min(steps, default=1) > 0
            and 2 * layout.bytes < _MOST_FAR
            and patch.down(layout) < _MOST_FAR
        )


def read_patch(form: Form) -> Patch | None:
    """Returns how the first factor is read in patches; None where its pixels lie in no chunks."""
    factor, work = form.first, form.work
    if form.is_promoted or not form.is_of_matrices or len(form.terms) < 2:
        return None
    size = element_bytes(factor.element)
    count = CHUNK_BYTES // size
    *_, inner = form.terms
    if work.extents[inner].known != count or not all(each.is_known for each in work.extents):
        return None
    axes = _axes(form, factor)
    if axes is None:
        return None
    chunk, *found = axes
    pixels = next(iter(found), None)
    if chunk.factors != {inner: 1} or chunk.size != count or pixels is None:
        return None
    row = form.rows[-1]
    if pixels.factors.get(row) != 1 or pixels.stride != count or len(found) > MOST_DIMS:
        return None
    for axis in found:
        if any(by < 1 for by in axis.factors.values()):
            return None
        if sum(loop in form.rows for loop in axis.factors) > 1 or inner in axis.factors:
            return None
    # Copies say where they begin in elements, in 32 bits, also behind the end: there zeros are.
    if pixels.size * count > MOST_IN_32_BITS:
        return None
    along = [loop for axis in found for loop in axis.factors]
    if len(set(along)) < len(along) or not {*form.rows, *form.terms[:-1]} <= set(along):
        return None
    extents = tuple(work.extents[loop].known for loop in form.rows)
    counts = tuple(work.extents[loop].known for loop in form.terms)
    made = Patch(factor, extents, tuple(found), 0, None, form.terms, counts, form.rows)
    return made if made.pairs <= MOST_PAIRS else None


def _axes(form: Form, factor: Factor) -> list[Axis] | None:
    """Returns the dims of the buffer, innermost first; None where it is no whole of these.

    Those beyond whose edges something is read have the zeros there that a copy gives.
    """
    coordinates = coordinates_of(form.work, factor)
    kind = ir.MemRefType(factor.buffer.type)
    if coordinates is None or not kind.has_static_shape:
        return None
    strides, offset = kind.get_strides_and_offset()
    expected = 1
    for size, stride in zip(kind.shape[::-1], strides[::-1], strict=True):
        if stride != expected:
            return None
        expected *= size
    if offset or factor.strides[form.terms[-1]] != ONE:
        return None
    found: list[Axis] = []
    guards = list(factor.guards)
    extents = form.work.extents
    for each, size, stride in zip(coordinates, kind.shape, strides, strict=True):
        factors = {loop: by for loop, by in each.factors.items() if extents[loop] != ONE}
        if each.by != 1:
            return None
        own = [
            guard
            for guard in guards
            if guard.factors == each.factors and guard.constant == each.constant
        ]
        if len(own) > 1 or any(guard.by != 1 or guard.bound.known != size for guard in own):
            return None
        guards = [guard for guard in guards if guard not in own]
        if size == 1 and not factors and not own and not each.constant:
            continue
        found.append(Axis(size, stride, each.constant, factors))
    return None if guards else found[::-1]
