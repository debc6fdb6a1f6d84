"""Parts of tensors that are spread over a mesh of devices, as torch divides them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch


def part(
    whole: torch.Tensor, row: Sequence[str], mesh: Sequence[int], place: Sequence[int]
) -> torch.Tensor:
    """Returns what the device at a place of the mesh has; the last ones may have less, or nothing.

    `row` has a word for each axis of the mesh.
    """
    for word, size, at in zip(row, mesh, place, strict=True):
        if word.startswith("axis"):
            axis = int(word[5:])
            chunks = whole.chunk(size, axis)
            whole = chunks[at] if at < len(chunks) else whole.narrow(axis, 0, 0)
    return whole.contiguous()


def may_divide(shape: Sequence[int], row: Sequence[str], mesh: Sequence[int]) -> bool:
    """Returns whether the first axes of a mesh may divide a tensor so, the last one of them too.

    Several axes divide a dim evenly.
    """
    over = [size for size, word in zip(mesh, row, strict=False) if word == row[-1]]
    if not row[-1].startswith("axis") or sum(size > 1 for size in over) < 2:
        return True
    return shape[int(row[-1][5:])] % prod(over) == 0
