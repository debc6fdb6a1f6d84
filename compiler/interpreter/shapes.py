"""Sizes at run time: broadcasting, and views of the same elements with other sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir


def broadcast_sizes(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Returns the sizes that all of these broadcast to, or None."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for place, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[place] not in (1, size):
                return None
            if size != 1:
                result[place] = size
    return tuple(result)


def filled_sizes(shaped: ir.Type, given: Sequence[int]) -> tuple[int, ...]:
    """Returns a buffer type's sizes, those it leaves open taken from `given` in order."""
    assert isinstance(shaped, ir.MemRefType)
    rest = iter(given)
    open_size = ir.ShapedType.get_dynamic_size()
    return tuple(next(rest) if size == open_size else size for size in shaped.shape)


def static_sizes(shaped: ir.Type) -> list[int | None]:
    """Returns a buffer type's sizes, None where it leaves one open."""
    assert isinstance(shaped, ir.MemRefType)
    open_size = ir.ShapedType.get_dynamic_size()
    return [None if size == open_size else size for size in shaped.shape]


def reshaped_strides(
    sizes: Sequence[int], strides: Sequence[int], target: Sequence[int]
) -> list[int] | None:
    """Returns the strides with which `target` sizes have the same elements in row-major order, or
    None.

    Dims of size 1 get the stride that a packed dim there would have.
    """
    if 0 in sizes:
        return [1] * len(target)
    chunks = _chunks(sizes, strides)
    result: list[int] = []
    place = len(target) - 1
    for elements, stride in reversed(chunks):
        covered, step = 1, stride
        while place >= 0 and (covered < elements or target[place] == 1):
            size = target[place]
            result.insert(0, step)
            covered *= size
            step *= size
            place -= 1
        if covered != elements:
            return None
    while place >= 0:
        if target[place] != 1:
            return None
        result.insert(0, result[0] * target[place + 1] if result else 1)
        place -= 1
    return result


def _chunks(sizes: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring dims that one stride runs through, as (elements, stride), outermost first."""
    chunks: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size == 1:
            continue
        if chunks and chunks[-1][1] == size * stride:
            chunks[-1] = (chunks[-1][0] * size, stride)
        else:
            chunks.append((size, stride))
    return chunks


def text_of(sizes: Sequence[int | None]) -> str:
    """Sizes as a type writes them: 2x?x4."""
    return "x".join("?" if size is None else str(size) for size in sizes) or "no dims"
