"""Tensors laid out in memory in awkward ways, with guards around them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from host_ir.element_values import copy_bytes

# Elements before and after a tensor: more than a vector access or a small tile reaches.
_GUARD = 64
_PATTERN = 0x5A


@dataclass(frozen=True)
class Layout:
    """How dims lie in memory.

    `rotated` dims come last in memory, in turn; `step` is the innermost dim's stride; `pad` what
    rows are apart beyond their elements; `lead` how many elements past an aligned address the
    first one lies; `is_expanded` that the first dim has stride 0 (inputs alone).
    """

    name: str
    reverse: bool = False
    rotated: int = 0
    step: int = 1
    pad: int = 0
    lead: int = 0
    is_expanded: bool = False

    def strides(self, shape: tuple[int, ...]) -> list[int]:
        """The strides in elements of each dim."""
        order = list(range(len(shape)))
        if self.reverse:
            order.reverse()
        if order:
            order = order[self.rotated % len(order) :] + order[: self.rotated % len(order)]
        strides = [0] * len(shape)
        next_stride = self.step
        for dim in reversed(order):
            strides[dim] = next_stride
            next_stride = next_stride * max(shape[dim], 1) + self.pad
        return strides


PACKED = Layout("packed")
OFFSET = Layout("offset", lead=1)
LAYOUTS = (
    PACKED,
    OFFSET,
    Layout("column-major", reverse=True),
    Layout("rotated", rotated=1),
    Layout("padded rows", pad=3),
    Layout("stepped", step=2, pad=1, lead=1),
    Layout("expanded", is_expanded=True),
)


class Guarded:
    """A tensor whose surroundings in memory hold nan (of integers, a pattern)."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, layout: Layout) -> None:
        strides = layout.strides(shape)
        if layout.is_expanded and shape:
            strides[0] = 0
        span = sum((max(size, 1) - 1) * step for size, step in zip(shape, strides, strict=True))
        self._count = _GUARD + layout.lead + span + 1 + _GUARD
        self._placed = shape, strides, _GUARD + layout.lead
        self._dtype = dtype
        self.tensor_bytes = self._untouched()
        self.tensor = self.tensor_bytes.view(dtype).as_strided(*self._placed)

    def _untouched(self) -> torch.Tensor:
        """Returns the memory's bytes as they were at first."""
        made = torch.full((self._count * self._dtype.itemsize,), _PATTERN, dtype=torch.uint8)
        if self._dtype.is_floating_point:
            made.view(self._dtype).fill_(float("nan"))
        return made

    def set(self, values: torch.Tensor) -> torch.Tensor:
        """Writes the elements; of an expanded tensor, those of the first row."""
        if self.tensor.numel():
            whole = self.tensor
            if 0 in whole.stride():
                whole, values = whole[:1], values[:1]
            copy_bytes(whole, values)
        return self.tensor

    def is_intact(self) -> bool:
        """Whether nothing around the tensor was written."""
        outside = torch.ones(self._count, dtype=torch.bool)
        outside.as_strided(*self._placed).fill_(False)
        places = outside.repeat_interleave(self._dtype.itemsize)
        return torch.equal(self.tensor_bytes[places], self._untouched()[places])
