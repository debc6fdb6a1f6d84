"""Pools: what torch-mlir fails on, or computes of other windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import torch
from torch import SymInt, Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .export_guards import pooled_size
from .halves import widened
from .places import elements_along

_ATEN = torch.ops.aten
# Adaptive average pools, and of how many dims they are.
ADAPTIVE_MEANS = {_ATEN._adaptive_avg_pool2d.default: 2, _ATEN._adaptive_avg_pool3d.default: 3}
# Elements of larger windows are gathered.
_MOST_COMPARED = 36
# So many bits has the number of a window's element along a dim.
_BITS = 6
# Set while an operator stands for torch-mlir's own.
_lowered = ContextVar("_lowered", default=False)


def pool_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of pools."""
    return {
        # Of what is no batch torch-mlir's own is wrong.
        _ATEN.avg_pool2d.default: partial(_of_batch, _ATEN.avg_pool2d.default, 2),
        _ATEN.max_pool2d_with_indices.default: _max_pool2d,
        # Their places alone would take more operations than all else of many networks.
        _ATEN.max_pool1d.default: _max_pool1d,
        _ATEN.max_pool2d.default: partial(_values_alone, _max_pool2d),
        _ATEN.max_pool3d.default: partial(_values_alone, _max_pool3d),
        **{
            operator: partial(_adaptive_avg_pool, operator, dims)
            for operator, dims in ADAPTIVE_MEANS.items()
        },
        _ATEN.adaptive_max_pool2d.default: _adaptive_max_pool,
        _ATEN.adaptive_max_pool3d.default: _adaptive_max_pool,
        _ATEN.max_pool3d_with_indices.default: _max_pool3d,
        _ATEN.avg_pool3d.default: _avg_pool3d,
        # torch-mlir lowers none, or one of two dims that is wrong.
        **{
            each: decomposition_table[each]
            for each in (_ATEN.max_unpool2d.default, _ATEN.max_unpool3d.default)
        },
    }


def _adaptive_avg_pool(
    operator: OpOverload, dims: int, x: Tensor, output_size: Sequence[int | SymInt]
) -> Tensor:
    """torch-mlir takes only windows that are equally large."""
    sizes, wanted = _known(x.shape[-dims:]), _known(output_size)
    if sizes is not None and wanted is not None and _all_divide(sizes, wanted):
        return _of_batch(operator, dims, x, output_size)
    if wanted is not None and set(wanted) == {1}:
        return widened(x).mean(list(range(-dims, 0)), keepdim=True).to(x.dtype)
    total: Tensor = widened(x)
    count: Any = 1.0
    axes = range(x.dim() - dims, x.dim())
    size: Any
    out: Any
    for axis, size, out in zip(axes, x.shape[-dims:], output_size, strict=True):
        if statically_known_true(size == out):
            continue
        if statically_known_true(out == 1):
            total = total.mean(axis, keepdim=True)
            continue
        if statically_known_true(size % out == 0):
            total, count = total.unflatten(axis, (out, -1)).sum(axis + 1), count * (size // out)
            continue
        total, counts = sums_of_windows(total, axis, out)
        total = total / counts
    return (total / count if count != 1 else total).to(x.dtype)


def sums_of_windows(x: Tensor, axis: int, out: Any) -> tuple[Tensor, Tensor]:
    """Returns the sums over the windows of an adaptive pool along a dim, and their lengths.

    The lengths have the dims from this one on.
    """
    size: Any = x.shape[axis]
    along = [1] * (x.dim() - 1 - axis)
    places, ends = _places(size, out, x)
    windows = x.index_select(axis, places.clamp(max=size - 1).flatten())
    windows = windows.unflatten(axis, list(places.shape))
    seen = (places < ends).reshape(*places.shape, *along)
    sums = torch.where(seen, windows, 0.0).sum(axis + 1)
    return sums, (ends - places[:, :1]).reshape(-1, *along)


def _adaptive_max_pool(x: Tensor, output_size: Sequence[int | SymInt]) -> tuple[Tensor, Tensor]:
    """torch-mlir takes windows for equally large, which they are where the sizes divide.

    A smaller window repeats its last element.
    """
    dims = len(output_size)
    sizes = x.shape[-dims:]
    known, wanted = _known(sizes), _known(output_size)
    if dims == 3 and known is not None and wanted is not None and _all_divide(known, wanted):
        return NotImplemented
    taken: list[Tensor] = []
    for size, out in zip(sizes, output_size, strict=True):
        places, ends = _places(size, out, x)
        taken.append(torch.minimum(places, ends - 1))
    values = x
    for axis, each in zip(range(x.dim() - dims, x.dim()), taken, strict=True):
        values = values.index_select(axis, each.flatten()).unflatten(axis, list(each.shape))
        values = values.amax(axis + 1)
    return values, _places_in_windows(x, taken)


def _places_in_windows(x: Tensor, taken: Sequence[Tensor]) -> Tensor:
    """Returns where among all elements of the last dims the greatest of each window is.

    `taken` has the positions along each of the last dims: (windows, elements of a window).
    """
    dims = len(taken)
    sizes: Any = x.shape[-dims:]
    place = torch.arange(math.prod(sizes), device=x.device).reshape(sizes)
    windows, first = x, x.dim() - dims
    for axis, each in enumerate(taken):
        # Of the axes before this one two were made each.
        windows = windows.index_select(first + 2 * axis, each.flatten())
        windows = windows.unflatten(first + 2 * axis, list(each.shape))
        place = place.index_select(2 * axis, each.flatten())
        place = place.unflatten(2 * axis, list(each.shape))
    order = [first + 2 * axis for axis in range(dims)] + [first + 2 * i + 1 for i in range(dims)]
    windows = windows.permute([*range(first), *order]).flatten(-dims)
    place = place.permute([each - first for each in order]).flatten(-dims)
    where = windows.argmax(-1, keepdim=True)
    found = place.expand(windows.shape).gather(-1, where).squeeze(-1)
    if x.is_floating_point():
        # Of several nan torch takes the last.
        last = torch.where(windows.isnan(), place, -1).amax(-1)
        found = torch.where(last >= 0, last, found)
    return found


def _known(sizes: Sequence[int | SymInt]) -> list[int] | None:
    """Returns the sizes where none is open."""
    found = [size for size in sizes if not isinstance(size, SymInt)]
    return found if len(found) == len(sizes) else None


def _all_divide(sizes: Sequence[int], output_size: Sequence[int]) -> bool:
    return not any(size % out for size, out in zip(sizes, output_size, strict=True))


def _places(size: Any, out: Any, like: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the positions of each window's elements, and the ends of the windows.

    Each window has at least as many positions as the widest has elements.
    """
    width: Any = (size + out - 1) // out + 1
    if isinstance(size, int) and isinstance(out, int):
        width = max(-(-(i + 1) * size // out) - i * size // out for i in range(out))
    number = torch.arange(out, device=like.device).unsqueeze(1)
    first = torch.div(number * size, out, rounding_mode="floor")
    last = torch.div((number + 1) * size + (out - 1), out, rounding_mode="floor")
    return first + torch.arange(width, device=like.device), last


def _of_batch(operator: Callable[..., Any], dims: int, x: Tensor, *given: Any, **named: Any) -> Any:
    """Returns a pool of what is no batch, as of a batch of one."""
    if x.dim() != dims + 1:
        return NotImplemented
    found = operator(x.unsqueeze(0), *given, **named)
    return (
        tuple(each.squeeze(0) for each in found) if isinstance(found, tuple) else found.squeeze(0)
    )


def _seen(
    x: Tensor, windows: Sequence[int], steps: Sequence[int], pads: Sequence[int], value: float
) -> tuple[Tensor, Sequence[int]]:
    """What windows see of a tensor, and how it is padded still.

    Where the last of a dim are in no window torch-mlir's pools of three dims are wrong.
    """
    sizes: list[Any] = list(x.shape[-3:])
    beyond = [
        0 if isinstance(size, SymInt) else (size + 2 * pad - window) % step
        for size, window, step, pad in zip(sizes, windows, steps, pads, strict=True)
    ]
    if not any(beyond):
        return x, pads
    if any(pads):
        x = torch.nn.functional.pad(
            x, [pad for pad in reversed(pads) for _ in range(2)], value=value
        )
    for axis, size, each, pad in zip((-3, -2, -1), sizes, beyond, pads, strict=True):
        x = x.narrow(axis, 0, size + 2 * pad - each)
    return x, [0, 0, 0]


def _each(dims: int, given: Sequence[int]) -> list[int]:
    """Returns what is given for each dim, or once for all."""
    return [*given] * (dims // len(given))


def _max_pool2d(x: Tensor, *given: Any, has_places: bool = True, **named: Any) -> Any:
    """Returns values and their places, also where all of a window is -inf or some of it nan.

    torch-mlir begins with place -1 and -inf, and takes only elements that are greater; of what is
    no batch its own ends the process.
    """
    if _lowered.get():
        return NotImplemented
    if x.dim() == 3:
        pool = partial(_max_pool2d, has_places=has_places)
        return _of_batch(pool, 2, x, *given, **named)
    taken = _Windows.of(2, x, *given, **named)
    if not x.is_floating_point():
        # torch-mlir compares them as floats.
        return taken.greatest()
    values, _ = _as_lowered(_ATEN.max_pool2d_with_indices.default, x, *taken.how)
    return values, taken.places() if has_places else values


def _values_alone(pool: Callable[..., Any], *given: Any, **named: Any) -> Tensor:
    return pool(*given, has_places=False, **named)[0]


def _max_pool1d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    """As of pictures of one row."""
    windows, steps = [1, *kernel_size], [1, *(stride or kernel_size)]
    how = (windows, steps, [0, *padding], [1, *dilation], ceil_mode)
    return _values_alone(_max_pool2d, x.unsqueeze(-2), *how).squeeze(-2)


@dataclass(frozen=True)
class _Windows:
    """Windows of a tensor's last dims; `apart` is how far elements of a window are apart."""

    x: Tensor
    windows: Sequence[int]
    steps: Sequence[int]
    pads: Sequence[int]
    apart: Sequence[int]
    ceil_mode: bool

    @classmethod
    def of(
        cls,
        dims: int,
        x: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> _Windows:
        """Returns those that torch's operator of so many dims takes."""
        given = (kernel_size, stride or kernel_size, padding, dilation)
        windows, steps, pads, apart = (_each(dims, each) for each in given)
        return cls(x, windows, steps, pads, apart, ceil_mode)

    @property
    def how(self) -> tuple[Any, ...]:
        """What an operator takes beside the tensor."""
        return self.windows, self.steps, self.pads, self.apart, self.ceil_mode

    @property
    def dims(self) -> int:
        return len(self.windows)

    @property
    def sizes(self) -> list[Any]:
        return list(self.x.shape[-self.dims :])

    @cached_property
    def counts(self) -> list[Any]:
        """How many there are along each dim."""
        given = zip(self.sizes, self.windows, self.steps, self.pads, self.apart, strict=True)
        return [
            pooled_size(size, window, pad, pad, step, gap, self.ceil_mode)
            for size, window, step, pad, gap in given
        ]

    @cached_property
    def first(self) -> list[Tensor]:
        """Where they begin along each dim."""
        return [
            torch.arange(count, device=self.x.device) * step - pad
            for count, step, pad in zip(self.counts, self.steps, self.pads, strict=True)
        ]

    def greatest(self) -> tuple[Tensor, Tensor]:
        """Returns the greatest element of each, and its place, of numbers that are no floats."""
        places = self.places()
        found = self.x.flatten(-self.dims).gather(-1, places.flatten(-self.dims))
        return found.unflatten(-1, self.counts), places

    def places(self) -> Tensor:
        """Returns where among all elements of the last dims the greatest of each window is.

        Of several it is the first, but of several nan the last; of -inf alone the first that lies
        in the tensor. Elements of small windows are compared one after the other.
        """
        if math.prod(self.windows) > _MOST_COMPARED:
            taken = [
                self._inside(
                    axis, begin.unsqueeze(1) + torch.arange(window, device=begin.device) * gap
                )
                for axis, (begin, window, gap) in enumerate(
                    zip(self.first, self.windows, self.apart, strict=True)
                )
            ]
            return _places_in_windows(self.x, taken)
        # The places along each dim of all windows' elements of each number.
        along = [
            [self._inside(axis, begin + number * gap) for number in range(window)]
            for axis, (begin, window, gap) in enumerate(
                zip(self.first, self.windows, self.apart, strict=True)
            )
        ]
        greatest: Any = None
        # The element's numbers in its window, as bits of one number.
        found: Any = None
        for numbers in product(*map(range, self.windows)):
            at = [places[number] for places, number in zip(along, numbers, strict=True)]
            element = elements_along(self.x, self.x.dim() - self.dims, at)
            if greatest is None:
                greatest, found = element, torch.zeros_like(element, dtype=torch.int32)
                continue
            is_greater = element > greatest
            if self.x.is_floating_point():
                is_greater = is_greater | element.isnan()
            greatest = torch.where(is_greater, element, greatest)
            code = sum(number << _BITS * axis for axis, number in enumerate(numbers))
            found = torch.where(is_greater, code, found)
        place: Any = 0
        for axis, (size, begin, gap) in enumerate(
            zip(self.sizes, self.first, self.apart, strict=True)
        ):
            number = (found >> _BITS * axis) & ((1 << _BITS) - 1)
            one = begin.reshape(-1, *[1] * (self.dims - 1 - axis)) + number.long() * gap
            place = place * size + self._inside(axis, one)
        return place

    def _inside(self, axis: int, place: Tensor) -> Tensor:
        """Another place of the same window where one lies outside."""
        size, gap = self.sizes[axis], self.apart[axis]
        if gap == 1:
            return place.clamp(0, size - 1)
        place = torch.where(place < 0, place % gap, place)
        return place - (place - (size - gap)).clamp(min=0) // gap * gap


def _as_lowered(operator: OpOverload, *given: Any) -> Any:
    """Returns what torch-mlir's own gives."""
    token = _lowered.set(True)
    try:
        return operator(*given)
    finally:
        _lowered.reset(token)


def _max_pool3d(x: Tensor, *given: Any, has_places: bool = True, **named: Any) -> Any:
    """torch-mlir takes steps that are left out for 1, ends the process for whole numbers, and has
    no places.
    """
    if _lowered.get():
        return NotImplemented
    taken = _Windows.of(3, x, *given, **named)
    if not x.is_floating_point():
        return taken.greatest()
    seen = x if x.dim() == 5 else x.unsqueeze(0)
    windows, steps, pads, apart, ceil_mode = taken.how
    if not ceil_mode and not any(pads):
        widths = [(size - 1) * each + 1 for size, each in zip(windows, apart, strict=True)]
        seen, pads = _seen(seen, widths, steps, pads, -math.inf)
    operator = _ATEN.max_pool3d_with_indices.default
    values, _ = _as_lowered(operator, seen, windows, steps, pads, apart, ceil_mode)
    values = values if x.dim() == 5 else values.squeeze(0)
    return values, taken.places() if has_places else values


def _avg_pool3d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """torch-mlir takes steps that are left out for 1, and fails where rounding up is no matter."""
    batch = x if x.dim() == 5 else x.unsqueeze(0)
    windows, steps, pads = (_each(3, of) for of in (kernel_size, stride or kernel_size, padding))
    sizes: list[Any] = list(batch.shape[-3:])
    given_ceil = ceil_mode
    if ceil_mode:
        left = [
            not isinstance(size, SymInt) and (size + 2 * pad - window) % step
            for size, pad, window, step in zip(sizes, pads, windows, steps, strict=True)
        ]
        ceil_mode = any(left)
    seen = batch
    if not ceil_mode and (count_include_pad or not any(pads)):
        seen, pads = _seen(batch, windows, steps, pads, 0.0)
    operator = _ATEN.avg_pool3d.default
    if seen is x and stride and given_ceil == ceil_mode:
        return NotImplemented
    found = operator(seen, windows, steps, pads, ceil_mode, count_include_pad, divisor_override)
    return found if x.dim() == 5 else found.squeeze(0)
