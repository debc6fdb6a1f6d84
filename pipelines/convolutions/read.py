"""Reading a sum of products as a convolution."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod

from ...dialects.hir.layout import DYNAMIC, has_identity_layout, strides_and_offset
from ...dialects.hir.library_convolution import (
    CHANNELS,
    FIRST_PLACE,
    MOST_PLACES,
    NO_DIM,
    OUTER,
)
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import linear_terms, reassociation
from ..schedules.contraction.form import Coordinate, Factor, Form, coordinates_of
from ..schedules.size import ONE, Size
from ..schedules.work import Operand
from ..walking import made_by
from .convolution import Convolution, Numbered, Place
from .turned import Turned

_ELEMENTS = ("f32", "f16", "bf16")
# What cuDNN's descriptors hold.
_MOST_ELEMENTS = 2**31 - 1


@dataclass(frozen=True)
class _Dim:
    """A dim of a buffer, of which the element at (constant + sum(factors[l] * il)) / by is read.

    Where it is guarded none is read beyond the dim's ends.
    """

    constant: int
    factors: Mapping[int, int]
    by: int
    is_guarded: bool
    size: int

    @property
    def is_plain(self) -> bool:
        """Whether it is gone through as it lies."""
        return (self.constant, self.by, self.is_guarded) == (0, 1, False)


@dataclass(frozen=True)
class _Loops:
    """What loops are: `outer` index image and result, `groups` those and the weights, `filters`
    weights and result; over `summed` the sums go, along channels and windows.
    """

    outer: frozenset[int]
    groups: frozenset[int]
    filters: frozenset[int]
    summed: frozenset[int]


@dataclass(frozen=True)
class _Along:
    """How a window moves along a dim of the image, by the loops of results and of the window's
    places, each of which may be none.
    """

    dim: _Dim
    results: int | None
    window: int | None


def read_convolution(
    form: Form, find_turned: Callable[[ir.Value], Turned | None]
) -> Convolution | None:
    """Returns the convolution of cuDNN's that has the same sums; None where there is none.

    What is made of the sums does not count. `find_turned` tells of what a buffer is a copy.
    """
    if len(form.work.outputs) != 1 or not _has_elements(form):
        return None
    for image, weights in ((form.first, form.second), (form.second, form.first)):
        copy = find_turned(weights.buffer) if weights.operand is not None else None
        for turned in (copy, None) if copy is not None else (None,):
            found = _Reader(form, image, weights, turned).read()
            if found is not None:
                return found
    return None


def _has_elements(form: Form) -> bool:
    factors = (form.first, form.second)
    elements = {str(each.element) for each in (*factors, form.work.outputs[0])}
    return (
        len(elements) == 1
        and elements <= set(_ELEMENTS)
        and str(form.total) == "f32"
        and all((each.extension is None) == (elements == {"f32"}) for each in factors)
    )


class _Reader:
    """Reads a sum with the factors in this order, and the weights behind a copy if there is one."""

    def __init__(self, form: Form, image: Factor, weights: Factor, copy: Turned | None) -> None:
        self._form = form
        self._extents = form.work.extents
        self._image = image
        self._weights = weights
        self._output = form.work.outputs[0]
        self._copy = copy
        self._weights_buffer = weights.buffer if copy is None else copy.source

    def read(self) -> Convolution | None:
        found = [self._factor_dims(each) for each in (self._image, self._weights)]
        image, weights = found
        result = self._operand_dims(self._output)
        if image is None or weights is None or result is None:
            return None
        if self._copy is not None:
            none = _Dim(0, {}, 1, is_guarded=False, size=1)
            weights = [none if axis is None else weights[axis] for axis in self._copy.dims]
        loops = _loops(*map(_loops_in, (image, weights, result)))
        if loops is None or not all(each.is_plain for each in (*weights, *result)):
            return None
        # Of windows that go over a whole dim any dim that is summed over may be the channels'.
        channels = [
            loop
            for each in image
            for loop in each.factors
            if each.is_plain and loop in loops.summed and each.factors[loop] == 1
        ]
        for channel in dict.fromkeys((*channels, None)):
            made = self._read(image, weights, result, loops, channel)
            if made is not None:
                return made
        return None

    def _read(
        self,
        image: Sequence[_Dim],
        weights: Sequence[_Dim],
        result: Sequence[_Dim],
        loops: _Loops,
        channel: int | None,
    ) -> Convolution | None:
        outer = next(
            (
                loop
                for each in image
                for loop in each.factors
                if each.is_plain and loop in loops.outer and each.factors == {loop: 1}
            ),
            None,
        )
        roles = dict.fromkeys(loops.groups, CHANNELS)
        roles |= {} if channel is None else {channel: CHANNELS}
        roles |= {} if outer is None else {outer: OUTER}
        alongs: list[_Along] = []
        image_roles: list[int] = []
        for each in image:
            role = self._role(each, roles)
            if role is None:
                along = _along(each, loops)
                if along is None or {along.results, along.window} & set(roles):
                    return None
                role = FIRST_PLACE + len(alongs)
                alongs.append(along)
            image_roles.append(role)
        if len(alongs) > MOST_PLACES:
            return None
        is_gradient = self._copy is not None or any(each.dim.by != 1 for each in alongs)
        places = self._places(alongs, is_gradient=is_gradient)
        if places is None:
            return None
        of_results = {
            each.results: FIRST_PLACE + number
            for number, each in enumerate(alongs)
            if each.results is not None
        }
        of_windows = {
            each.window: FIRST_PLACE + number
            for number, each in enumerate(alongs)
            if each.window is not None
        }
        of_result = {**roles, **dict.fromkeys(loops.filters, CHANNELS), **of_results}
        of_weights = {
            **dict.fromkeys(loops.groups, OUTER),
            **dict.fromkeys(loops.filters, CHANNELS if is_gradient else OUTER),
            **({} if channel is None else {channel: OUTER if is_gradient else CHANNELS}),
            **of_windows,
        }
        result_roles = [self._role(each, of_result) for each in result]
        weights_roles = [self._role(each, of_weights) for each in weights]
        numbered = [
            self._numbered(self._image.buffer, image, image_roles, loops),
            self._numbered(self._weights_buffer, weights, weights_roles, loops),
            self._numbered(self._output.buffer, result, result_roles, loops),
        ]
        image_, weights_, result_ = numbered
        if image_ is None or weights_ is None or result_ is None:
            return None
        groups = [self._extents[loop] for loop in loops.groups]
        if len(groups) > 1 or not all(each.is_known for each in groups):
            return None
        operands = image_, weights_, result_
        if not _is_filter(weights_) or not all(map(_is_in_range, operands)):
            return None
        # For gradients of images with channels last cuDNN has nothing, but where all lie so.
        lasts = [_has_channels_last(each) for each in operands]
        if is_gradient and lasts[0] and not all(lasts):
            return None
        return Convolution(
            image_,
            weights_,
            result_,
            # Of a product of matrices the window has one place.
            tuple(places or [Place()]),
            prod(each.known for each in groups),
            is_gradient,
            self._form.is_rounded,
        )

    def _factor_dims(self, factor: Factor) -> list[_Dim] | None:
        coordinates = coordinates_of(self._form.work, factor)
        if coordinates is None:
            return None
        shape = ir.MemRefType(factor.buffer.type).shape
        guards = list(factor.guards)
        dims: list[_Dim] = []
        for each, size in zip(coordinates, shape, strict=True):
            own = [
                guard
                for guard in guards
                if (guard.constant, dict(guard.factors), guard.by)
                == (each.constant, dict(each.factors), each.by)
                and guard.bound == Size(size)
            ]
            guards = [guard for guard in guards if guard not in own]
            dims.append(self._dim(each, size, is_guarded=bool(own)))
        # A guard that is none of a dim's end.
        return None if guards else dims

    def _operand_dims(self, operand: Operand) -> list[_Dim] | None:
        maps = ir.ArrayAttr(self._form.work.op.attributes["indexing_maps"])
        found = [
            linear_terms(each) for each in ir.AffineMapAttr(maps[operand.number]).value.results
        ]
        shape = ir.MemRefType(operand.buffer.type).shape
        dims = [
            self._dim(Coordinate(*each, 1), size, is_guarded=False)
            for each, size in zip(found, shape, strict=True)
            if each is not None
        ]
        return dims if len(dims) == len(found) else None

    def _dim(self, each: Coordinate, size: int, *, is_guarded: bool) -> _Dim:
        factors = {
            loop: factor for loop, factor in each.factors.items() if self._extents[loop] != ONE
        }
        return _Dim(each.constant, factors, each.by, is_guarded, size)

    def _role(self, dim: _Dim, roles: Mapping[int, int]) -> int | None:
        """Returns what a dim is that goes along loops with one role; None for another one."""
        if not dim.is_plain:
            return None
        if not dim.factors:
            return NO_DIM if dim.size == 1 else None
        step = 1
        for loop, factor in sorted(dim.factors.items(), key=lambda item: item[1]):
            extent = self._extents[loop]
            if factor != step or loop not in roles:
                return None
            if len(dim.factors) > 1 and not extent.is_known:
                return None
            step *= extent.known
        sizes = [self._extents[loop] for loop in dim.factors]
        if all(each.is_known for each in sizes) and dim.size not in (step, DYNAMIC):
            return None  # Some of it is not read.
        found = {roles[loop] for loop in dim.factors}
        return found.pop() if len(found) == 1 else None

    def _numbered(
        self,
        buffer: ir.Value,
        dims: Sequence[_Dim],
        roles: Sequence[int | None],
        loops: _Loops,
    ) -> Numbered | None:
        """Returns a buffer with what its dims are, where those that are one follow one another as
        one does: a group's before its channels or filters.
        """
        known = [each for each in roles if each is not None]
        if len(known) < len(roles):
            return None
        for number in set(known) - {NO_DIM}:
            axes = [axis for axis, each in enumerate(known) if each == number]
            of_groups = [bool(set(dims[axis].factors) & loops.groups) for axis in axes]
            if len(axes) > 2 or (len(axes) == 2 and of_groups != [True, False]):
                return None
            if len(axes) == 2 and not _steps_as_one(buffer, axes):
                return None
            inner = [min(dims[axis].factors, key=dims[axis].factors.__getitem__) for axis in axes]
            if any(
                len(dims[axis].factors) == 2 and loop in loops.groups
                for axis, loop in zip(axes, inner, strict=True)
            ):
                return None
        return Numbered(buffer, tuple(known))

    def _places(self, alongs: Sequence[_Along], *, is_gradient: bool) -> list[Place] | None:
        read = self._gradient_place if is_gradient else self._forward_place
        found = [read(each) for each in alongs]
        places = [each for each in found if each is not None]
        return places if len(places) == len(found) else None

    def _forward_place(self, along: _Along) -> Place | None:
        dim = along.dim
        stride = 1 if along.results is None else dim.factors[along.results]
        dilation = 1 if along.window is None else dim.factors[along.window]
        padding = -dim.constant
        if dim.by != 1 or min(stride, dilation) < 1 or padding < 0:
            return None
        if dim.is_guarded:
            sizes = Size(dim.size), self._extent(along.window), self._extent(along.results)
            if not _has_places(sizes, stride, padding, dilation):
                return None
        return Place(stride, padding, dilation)

    def _gradient_place(self, along: _Along) -> Place | None:
        dim, window = along.dim, self._extent(along.window)
        step = 1 if along.results is None else dim.factors[along.results]
        slope = 0 if along.window is None else dim.factors[along.window]
        padding = dim.constant
        if not window.is_known or step != 1:
            return None
        if along.window is not None and self._is_turned(along.window):
            padding += slope * (window.known - 1)
            slope = -slope
        if along.window is not None and slope >= 0:
            return None
        dilation = max(-slope, 1)
        sizes = self._extent(along.results), window, Size(dim.size)
        if padding < 0 or not _has_places(sizes, dim.by, padding, dilation, is_exact=True):
            return None
        return Place(dim.by, padding, dilation)

    def _is_turned(self, window: int) -> bool:
        """Returns whether the weights that are read along a window's loop are turned round."""
        if self._copy is None or self._weights.operand is None:
            return False
        dims = self._operand_dims(self._weights.operand) or []
        return any(
            is_turned and axis is not None and window in dims[axis].factors
            for axis, is_turned in zip(self._copy.dims, self._copy.is_turned, strict=True)
        )

    def _extent(self, loop: int | None) -> Size:
        return ONE if loop is None else self._extents[loop]


def _loops_in(dims: Sequence[_Dim]) -> frozenset[int]:
    return frozenset(loop for each in dims for loop in each.factors)


def _loops(image: frozenset[int], weights: frozenset[int], result: frozenset[int]) -> _Loops | None:
    """Returns what loops are, where each indexes two operands at least."""
    if (image | weights | result) != (image & weights) | (image & result) | (weights & result):
        return None
    return _Loops(
        (image & result) - weights,
        image & weights & result,
        (weights & result) - image,
        (image & weights) - result,
    )


def _along(dim: _Dim, loops: _Loops) -> _Along | None:
    results = [loop for loop in dim.factors if loop in loops.outer]
    windows = [loop for loop in dim.factors if loop in loops.summed]
    if len(results) > 1 or len(windows) > 1 or len(results) + len(windows) < len(dim.factors):
        return None
    if not dim.factors:
        return None
    return _Along(dim, results[0] if results else None, windows[0] if windows else None)


def _has_places(
    sizes: Sequence[Size], stride: int, padding: int, dilation: int, *, is_exact: bool = False
) -> bool:
    """Returns whether an image, padded so on each side, has so many places for a window.

    What follows the last one may be left unread where there is no padding, unless `is_exact`.
    """
    if not all(each.is_known for each in sizes):
        return False
    image, window, results = (each.known for each in sizes)
    whole = (image + 2 * padding - dilation * (window - 1) - 1) // stride + 1
    return results == whole or (results < whole and padding == 0 and not is_exact)


def _steps_as_one(buffer: ir.Value, axes: Sequence[int]) -> bool:
    """Returns whether a step of the outer dim is as far as all of the inner one."""
    outer, inner = axes
    if inner != outer + 1:
        return False
    kind = ir.MemRefType(buffer.type)
    strides, _ = strides_and_offset(kind)
    known = strides[outer], strides[inner], kind.shape[inner]
    if DYNAMIC not in known:
        return known[0] == known[1] * known[2]
    expand = made_by(buffer, "memref.expand_shape")
    if expand is not None:
        return any({outer, inner} <= set(group) for group in reassociation(expand))
    return has_identity_layout(kind)


def _is_filter(weights: Numbered) -> bool:
    """Returns whether weights lie as cuDNN takes them: filters first, channels second or last."""
    if not has_identity_layout(ir.MemRefType(weights.value.type)):
        return False
    numbers = [number for number in weights.dims if number != NO_DIM]
    # Those that are one are neighbours.
    order = list(dict.fromkeys(numbers))
    last = [number if number != CHANNELS else FIRST_PLACE + MOST_PLACES for number in order]
    return order == sorted(order) or last == sorted(last)


def _has_channels_last(operand: Numbered) -> bool:
    return max(operand.dims) >= FIRST_PLACE and operand.dims[-1] == CHANNELS


def _is_in_range(operand: Numbered) -> bool:
    """Returns whether sizes, as far as they are known, fit into cuDNN's descriptors."""
    known: Collection[int] = [
        size for size in ir.MemRefType(operand.value.type).shape if size != DYNAMIC
    ]
    return prod(known) <= _MOST_ELEMENTS
