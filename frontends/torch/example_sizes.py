"""Inputs that a model is exported with, where a size that is open is 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor
from torch.export import Dim
from torch.utils import _pytree as pytree

from .dynamic_shapes import DynamicShapes

# What a size of 1 becomes, unless its limits say otherwise: few sizes are it by chance.
_OTHER = 3


def with_larger_sizes(
    args: tuple[Any, ...], kwargs: dict[str, Any], shapes: DynamicShapes | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the inputs with more than one element along axes that a `Dim` leaves open.

    torch.export takes a size of 1 for one that is fixed. Elements count as little as sizes there.
    """
    if shapes is None:
        return args, kwargs
    leaves, spec = pytree.tree_flatten((args, kwargs))
    said = shapes.leaves(spec)
    axes = [dict(_open_axes(x, shape)) for x, shape in zip(leaves, said, strict=True)]
    uses = [
        (x.shape[axis], dim)
        for x, each in zip(leaves, axes, strict=True)
        for axis, dim in each.items()
    ]
    # One that another input has with more elements stays as it is.
    fixed = {_root(dim).__name__ for size, dim in uses if size != _size(dim, 1)}
    for place, each in enumerate(axes):
        wanted = list(leaves[place].shape) if each else []
        for axis, dim in each.items():
            root = _root(dim)
            if root.__name__ not in fixed and root.max > 1:
                wanted[axis] = _size(dim, min(max(root.min, _OTHER), root.max))
        if each and wanted != list(leaves[place].shape):
            leaves[place] = leaves[place].new_zeros(wanted)
    return pytree.tree_unflatten(leaves, spec)


def _root(dim: Any) -> Any:
    """Returns the Dim that a Dim is computed from, such as `batch` of `2 * batch`."""
    return getattr(dim, "root", dim)


def _size(dim: Any, root: int) -> int:
    return dim.fn(root) if hasattr(dim, "fn") else root


def _open_axes(x: Any, shape: Any) -> Iterator[tuple[int, Any]]:
    """Yields the axes of an input that have a Dim."""
    if not isinstance(x, Tensor):
        return
    named = shape.items() if isinstance(shape, Mapping) else enumerate(shape or ())
    for axis, dim in named:
        if isinstance(dim, Dim) and axis < x.dim():
            yield axis, dim
