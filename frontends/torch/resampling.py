"""Resizing of images with antialiasing, and samples at places that a grid holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from math import prod
from typing import Any

import torch
from torch import SymFloat, SymInt, Tensor
from torch._decomp import decomposition_table
from torch._decomp.decompositions import upsample_compute_output_size
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .halves import HALVES, widened
from .places import elements_along

_ATEN = torch.ops.aten


def resampling_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of resizing halves and with antialiasing, and of sampling."""
    return {
        _ATEN._upsample_bilinear2d_aa.default: partial(_resized, _linear),
        _ATEN._upsample_bicubic2d_aa.default: partial(_resized, _cubic),
        _ATEN.upsample_linear1d.vec: _blended,
        _ATEN.upsample_bilinear2d.vec: _blended,
        _ATEN.upsample_trilinear3d.vec: _blended,
        _ATEN.upsample_bicubic2d.vec: _curved,
        _ATEN.grid_sampler_2d.default: _sampled,
        _ATEN.grid_sampler_3d.default: _sampled,
        _ATEN.affine_grid_generator.default: _affine_grid,
    }


def _affine_grid(theta: Tensor, size: Sequence[int | SymInt], align_corners: bool) -> Tensor:
    """Returns places in pictures.

    torch's own, here of open sizes alone, multiplies matrices of three padded parts, and makes a
    constant for a side of one place, which it does not export.
    """
    sides = list(size[2:])
    if any(isinstance(side, SymInt) for side in sides):
        return decomposition_table[_ATEN.affine_grid_generator.default](theta, size, align_corners)
    wide = widened(theta)
    ones = [1] * len(sides)
    found = wide[:, :, -1].reshape(-1, *ones, len(sides))
    for axis, side in enumerate(reversed(sides)):
        along: Any = side
        place = torch.arange(along, device=theta.device).to(wide.dtype)
        if align_corners:
            place = 0 * place if side == 1 else place * (2 / (along - 1)) - 1
        else:
            place = (2 * place + 1) * (1 / along) - 1
        at = [*ones, 1]
        at[len(sides) - 1 - axis] = -1
        found = found + place.reshape(at) * wide[:, :, axis].reshape(-1, *ones, len(sides))
    return found.to(theta.dtype)


def _blended(
    x: Tensor,
    output_size: Sequence[int | SymInt] | None,
    align_corners: bool,
    factors: Sequence[float] | None,
) -> Tensor:
    """Resizes halves linearly; they are widened once read, so that no wide picture is made."""
    if x.dtype not in HALVES:
        blended = decomposition_table[_ATEN.upsample_bilinear2d.vec]
        return blended(x, output_size, align_corners, factors)
    lows, highs, shares = list[Tensor](), list[Tensor](), list[Tensor]()
    sizes: Any = upsample_compute_output_size(x.shape, output_size, factors)
    for axis, (given, made) in enumerate(zip(x.shape[2:], sizes, strict=True)):
        new = torch.arange(made, device=x.device).to(torch.float32)
        place = _old_place(new, given, made, align_corners, factors[axis] if factors else None)
        place = place.clamp(min=0).reshape(-1, *[1] * (len(sizes) - 1 - axis))
        lows.append(place.to(torch.int64))
        highs.append((lows[-1] + 1).clamp(max=given - 1))
        shares.append((place - lows[-1]).clamp(0, 1))
    found = [
        widened(_ATEN._unsafe_index(x, [None, None, *each]))
        for each in product(*zip(lows, highs, strict=True))
    ]
    for share in reversed(shares):
        found = [
            low + (high - low) * share for low, high in zip(found[::2], found[1::2], strict=True)
        ]
    return found[0].to(x.dtype)


def _curved(
    x: Tensor,
    output_size: Sequence[int | SymInt] | None,
    align_corners: bool,
    factors: Sequence[float] | None,
) -> Tensor:
    """Resizes by Keys' cubic, along one axis after the other: each is one pass over memory."""
    if not x.dtype.is_floating_point:
        curved = decomposition_table[_ATEN.upsample_bicubic2d.vec]
        return curved(x, output_size, align_corners, factors)
    sizes: Any = upsample_compute_output_size(x.shape, output_size, factors)
    found = widened(x)
    # As torch has it, along the width first.
    for axis in (1, 0):
        given: Any = x.shape[2 + axis]
        new = torch.arange(sizes[axis], device=x.device).to(found.dtype)
        place = _old_place(
            new, given, sizes[axis], align_corners, factors[axis] if factors else None
        )
        lower = place.floor()
        apart = place - lower
        parts: list[Tensor] = []
        for step in (-1, 0, 1, 2):
            index = (lower + step).clamp(0, given - 1).to(torch.int64)
            share = _share(2, apart, step).reshape(-1, *[1] * (1 - axis))
            parts.append(elements_along(found, 2 + axis, [index]) * share)
        found = sum(parts[1:], parts[0])
    return found.to(x.dtype)


def _old_place(
    new: Tensor, given: Any, made: Any, align_corners: bool, factor: float | None
) -> Tensor:
    """Returns where among `given` places along an axis those of `made` new ones lie."""
    if align_corners:
        return new * ((given - 1.0) / (made - 1.0) if made > 1 else 0)
    return (new + 0.5) * (1 / factor if factor else given / made) - 0.5


def _resized(
    kernel: Callable[[Tensor], Tensor],
    x: Tensor,
    output_size: Sequence[int | SymInt],
    align_corners: bool,
    *scales: float | None,
) -> Tensor:
    if align_corners:
        return NotImplemented
    wide = widened(x)
    factors = scales or (None, None)
    rows, columns = (
        _shares(kernel, x.shape[axis], size, factor, wide)
        for axis, size, factor in zip((-2, -1), output_size, factors, strict=True)
    )
    return (rows @ (wide @ columns.mT)).to(x.dtype)


def _shares(
    kernel: Callable[[Tensor], Tensor], given: Any, made: Any, factor: float | None, like: Tensor
) -> Tensor:
    """Returns what each new place takes of each old one, (made, given).

    Where places become fewer the kernel is as wide as those that become one.
    """
    step: Any = 1 / factor if factor else given / made
    if isinstance(step, SymFloat):
        number: Any = step
        step = torch.full((), number, dtype=torch.float64, device=like.device)
    old, new = (torch.arange(each, device=like.device).to(like.dtype) for each in (given, made))
    apart = old + 0.5 - ((new + 0.5) * step).unsqueeze(1)
    wide = step.clamp(min=1) if isinstance(step, Tensor) else max(step, 1.0)
    shares = kernel(apart.abs() / wide)
    return (shares / shares.sum(1, keepdim=True)).to(like.dtype)


def _linear(x: Tensor) -> Tensor:
    return (1 - x).clamp(min=0)


def _cubic(x: Tensor, a: float = -0.5) -> Tensor:
    """Keys' cubic of this parameter."""
    return torch.where(x < 1, _cubic_to_1(x, a), torch.where(x < 2, _cubic_to_2(x, a), 0.0))


def _cubic_to_1(x: Tensor, a: float) -> Tensor:
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _cubic_to_2(x: Tensor, a: float) -> Tensor:
    return ((x - 5) * x + 8) * x * a - 4 * a


def _sampled(
    x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool
) -> Tensor:
    """Samples pictures or rooms, (batch, channels, ..., height, width), at places from -1 to 1.

    Linear (0) of the elements around, the nearest (1), or cubic (2). Outside are zeros (0), what is
    at the border (1), or what is mirrored there (2). torch's own decomposition of pictures computes
    all of this for each channel.
    """
    wide = widened(x)
    sizes = list(x.shape[2:])
    last = len(sizes) - 1
    # The grid's last dim has the places along the width first.
    places = [
        _place(grid[..., last - axis].to(wide.dtype), size, align_corners)
        for axis, size in enumerate(sizes)
    ]

    def kept(places: Sequence[Tensor]) -> list[Tensor]:
        return [
            _kept(place, size, padding, align_corners)
            for place, size in zip(places, sizes, strict=True)
        ]

    if interpolation != 2:
        places = kept(places)
    if interpolation == 1:
        return _corner(wide, [place.round() for place in places], sizes).to(x.dtype)
    lower = [place.floor() for place in places]
    apart = [place - low for place, low in zip(places, lower, strict=True)]
    result: Any = None
    for steps in product((-1, 0, 1, 2) if interpolation == 2 else (0, 1), repeat=len(sizes)):
        corner = [low + step if step else low for low, step in zip(lower, steps, strict=True)]
        corner = kept(corner) if interpolation == 2 else corner
        share = reduce(torch.mul, map(partial(_share, interpolation), apart, steps))
        found = _corner(wide, corner, sizes) * share.unsqueeze(1)
        result = found if result is None else result + found
    return result.to(x.dtype)


def _share(interpolation: int, apart: Tensor, step: int) -> Tensor:
    """Returns what is taken of the element `step` from that below, which is so far `apart`."""
    if interpolation == 2:
        cubic = _cubic_to_1 if step in (0, 1) else _cubic_to_2
        return cubic(step - apart if step > 0 else apart - step, -0.75)
    return apart if step else 1 - apart


def _place(place: Tensor, size: Any, align_corners: bool) -> Tensor:
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def _kept(place: Tensor, size: Any, padding: int, align_corners: bool) -> Tensor:
    """Returns a place as what is outside has it."""
    if padding == 2:
        # Of a single element every place is its own.
        least, extent = (0, torch.sym_max(size - 1, 1)) if align_corners else (-0.5, size)
        apart = (place - least).abs()
        turns, rest = (apart / extent).floor(), torch.remainder(apart, extent)
        place = torch.where(torch.remainder(turns, 2) == 0, rest, extent - rest) + least
    # As torch has it, what is no number is the first place.
    return torch.where(place > 0, place, 0.0).clamp(max=size - 1) if padding else place


def _corner(x: Tensor, places: Sequence[Tensor], sizes: Sequence[Any]) -> Tensor:
    """Returns the elements at whole places, and 0 where these are outside."""
    is_inside: Any = True
    whole: Any = 0
    kind = torch.int32 if statically_known_true(prod(sizes) < 2**31) else torch.int64
    for place, size in zip(places, sizes, strict=True):
        near = place.clamp(0, size - 1)
        is_inside = is_inside & (near == place)
        whole = whole * size + near.to(kind)
    batch, channels = x.shape[:2]
    # One tensor is all that is read of it for each channel.
    flat = torch.where(is_inside, whole, -1).reshape(batch, 1, -1).expand(-1, channels, -1)
    found = x.flatten(2).gather(2, flat.clamp(min=0).long())
    return torch.where(flat >= 0, found, 0.0).reshape(batch, channels, *whole.shape[1:])
