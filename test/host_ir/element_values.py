"""Tensors to compute with: element types, awkward shapes, memory layouts, special values."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import torch

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "tf32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui64": torch.uint64,
    "ui32": torch.uint32,
    "ui16": torch.uint16,
    "ui8": torch.uint8,
    "i1": torch.bool,
    "complex<f32>": torch.complex64,
    "complex<f64>": torch.complex128,
}

_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, float("inf"), float("-inf"), float("nan"))


@dataclass(frozen=True)
class Layout:
    """How a tensor's logical dims lie in memory: an order, a step and a lead in every dim."""

    order: tuple[int, ...]
    step: int
    lead: int
    is_expanded: bool = False


def drawn_layout(random: Random, rank: int, *, expanded: bool = False) -> Layout:
    return Layout(
        tuple(random.sample(range(rank), rank)),
        random.choice((1, 1, 2)),
        random.choice((0, 0, 1, 3)),
        expanded and random.random() < 0.5,
    )


def drawn_size(random: Random) -> int:
    """Zero, one, primes, and just past powers of two."""
    return random.choice((0, 1, 2, 3, 7, 13, 16, 17, 31))


def values(count: int, element: str, seed: int, *, is_small: bool = False) -> torch.Tensor:
    """Packed numbers of a type, of which every few is a special one.

    `is_small` keeps to a few units, so that sums and products of many stay in range.
    """
    generator = torch.Generator().manual_seed(seed)
    dtype = DTYPES[element]
    if element == "i1":
        return torch.randint(0, 2, (count,), generator=generator).bool()
    if dtype.is_complex:
        parts = torch.randn((count, 2), generator=generator, dtype=torch.float64)
        return torch.view_as_complex(parts).to(dtype)
    if not dtype.is_floating_point:
        low = 0 if element.startswith("u") else -5
        wide = torch.randint(low, 6, (count,), generator=generator)
        if not is_small:
            bits = 8 * dtype.itemsize - 1
            extremes = torch.tensor([low and -(2**bits), 2**bits - 1, 0, 1])
            places = torch.rand((count,), generator=generator) < 0.2
            picked = extremes[torch.randint(0, 4, (count,), generator=generator)]
            wide = torch.where(places, picked, wide)
        return wide.to(dtype)
    scale = 1.0 if is_small else 3.0
    numbers = torch.randn((count,), generator=generator, dtype=torch.float64) * scale
    if not is_small:
        special = torch.tensor(_SPECIAL, dtype=torch.float64)
        places = torch.rand((count,), generator=generator) < 0.15
        picked = special[torch.randint(0, len(_SPECIAL), (count,), generator=generator)]
        numbers = torch.where(places, picked, numbers)
    return (
        rounded_to(numbers.to(torch.float32), element) if element == "tf32" else numbers.to(dtype)
    )


def rounded_to(numbers: torch.Tensor, element: str) -> torch.Tensor:
    """f32 numbers as tf32: ten bits of mantissa, to nearest, ties away from zero."""
    if element != "tf32":
        return numbers
    bits = numbers.view(torch.int32)
    shifted = ((bits + 0x1000) & ~0x1FFF).view(torch.float32)
    return torch.where(torch.isfinite(numbers), shifted, numbers)


def laid_out(packed: torch.Tensor, shape: tuple[int, ...], layout: Layout) -> torch.Tensor:
    """A tensor of that shape and layout with the packed numbers in row-major order."""
    room = place(shape, layout, packed.dtype)
    if layout.is_expanded and shape:
        axis = layout.order[0]
        if shape[axis] > 0:
            kept = tuple(1 if dim == axis else size for dim, size in enumerate(shape))
            count = 1
            for size in kept:
                count *= size
            return packed[:count].reshape(kept).expand(shape)
    copy_bytes(room, packed.reshape(shape))
    return room


def place(shape: tuple[int, ...], layout: Layout, dtype: torch.dtype) -> torch.Tensor:
    """An unwritten tensor of that shape and layout."""
    stored = [layout.lead + shape[dim] * layout.step for dim in layout.order]
    whole = torch.zeros(stored, dtype=torch.uint8 if dtype == torch.bool else dtype)
    if dtype == torch.bool:
        whole = whole.view(torch.bool)
    for number, dim in enumerate(layout.order):
        index = [slice(None)] * len(stored)
        index[number] = slice(layout.lead, layout.lead + shape[dim] * layout.step, layout.step)
        whole = whole[tuple(index)]
    inverse = [layout.order.index(dim) for dim in range(len(shape))]
    return whole.permute(inverse)


def copy_bytes(target: torch.Tensor, source: torch.Tensor) -> None:
    """A copy that works for types torch has few operations for."""
    narrow = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(target.itemsize)
    if narrow is None or target.dtype.is_complex:
        target.copy_(source)
    else:
        target.view(narrow).copy_(source.view(narrow))
