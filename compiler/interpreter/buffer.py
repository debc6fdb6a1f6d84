"""A buffer at run time: a torch view of an allocation, and the element type of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.hir.element_types import ElementType
from .dtypes import dtype_of
from .memory import Allocation, strided
from .torch_import import torch


@dataclass(frozen=True, eq=False)
class Buffer:
    """Elements of `element` that `tensor`, a real view, lays out in `allocation`.

    `offset` is the place of the first, in elements from that of the buffer it is a view of.
    """

    tensor: torch.Tensor
    element: ElementType
    allocation: Allocation
    offset: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(self.tensor.stride())

    @property
    def name(self) -> str:
        return self.allocation.name

    def view(self, sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> Buffer:
        """Another view of the same memory; `offset` is in elements from this one's first."""
        first = self.tensor.storage_offset() + offset
        return Buffer(
            self.tensor.as_strided(tuple(sizes), tuple(strides), first),
            self.element,
            self.allocation,
            self.offset + offset,
        )

    def as_element(self, element: ElementType) -> Buffer:
        """Returns the same bytes as elements of another type of the same size."""
        tensor = view_as(self.tensor, dtype_of(element))
        return Buffer(tensor, element, self.allocation, self.offset)

    def bytes_of(self, flat: torch.Tensor) -> torch.Tensor:
        """Returns the view of a tensor of one entry a byte that has the first byte
        of each element.
        """
        each = self.element.bytes
        offset = self.tensor.data_ptr() - self.allocation.address if self.tensor.numel() else 0
        return strided(flat, self.sizes, [stride * each for stride in self.strides], offset)

    @property
    def has_repeated_dim(self) -> bool:
        """Whether elements along a dim share their memory."""
        places = zip(self.sizes, self.strides, strict=True)
        return self.tensor.numel() > 0 and any(size > 1 and stride == 0 for size, stride in places)

    def is_same_view(self, other: Buffer) -> bool:
        """Returns whether both are the very same elements in the same places."""
        return (
            self.tensor.data_ptr() == other.tensor.data_ptr()
            and self.sizes == other.sizes
            and moving_strides(self) == moving_strides(other)
        )

    def overlaps(self, other: Buffer) -> bool:
        """Returns whether a byte belongs to both."""
        if self.tensor.numel() == 0 or other.tensor.numel() == 0:
            return False
        low, high = self._span()
        other_low, other_high = other._span()
        if high <= other_low or other_high <= low:
            return False
        first = min(low, other_low)
        touched = torch.zeros(max(high, other_high) - first, dtype=torch.bool)
        for byte in range(self.element.bytes):
            self._touch(touched, low - first + byte).fill_(True)
        return any(
            bool(other._touch(touched, other_low - first + byte).any())
            for byte in range(other.element.bytes)
        )

    def _touch(self, flat: torch.Tensor, offset: int) -> torch.Tensor:
        each = self.element.bytes
        return strided(flat, self.sizes, [stride * each for stride in self.strides], offset)

    def _span(self) -> tuple[int, int]:
        """Returns the addresses of the first byte and of that after the last."""
        first = self.tensor.data_ptr()
        places = zip(self.sizes, self.strides, strict=True)
        last = sum((size - 1) * stride for size, stride in places)
        return first, first + (last + 1) * self.element.bytes


def view_as(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns the same memory as elements of another type of the same size."""
    return tensor if tensor.dtype == dtype else tensor.view(dtype)


def moving_strides(buffer: Buffer) -> list[int]:
    """Returns the strides of the dims that have more than one element."""
    places = zip(buffer.sizes, buffer.strides, strict=True)
    return [stride for size, stride in places if size > 1]


def packed_strides(sizes: Sequence[int]) -> list[int]:
    """Row-major strides; a size of 0 counts as 1."""
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides
