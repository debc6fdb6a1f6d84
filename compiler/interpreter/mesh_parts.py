"""A value that is spread over a mesh: the whole made of the parts, and a part of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects.hir.element_types import ElementType
from ...dialects.hir.mesh import Mesh, Spreads
from .torch_import import torch

_Place = tuple[int, ...]


def combine(parts: Sequence[Any], reduction: str | None, element: ElementType) -> Any:
    """Several tensors combined in order, each step in the type that is computed in."""
    total = parts[0].clone()
    for part in parts[1:]:
        if reduction in ("sum", "avg"):
            total = total + part
        elif reduction == "prod":
            total = total * part
        else:
            total = torch.maximum(total, part) if reduction == "max" else torch.minimum(total, part)
    return total / len(parts) if reduction == "avg" else total


def assemble(
    mesh: Mesh,
    spreads: Spreads,
    parts: Mapping[_Place, Any],
    element: ElementType,
    fixed: Mapping[int, int],
) -> Any:
    """Returns the whole, of what the device at each place of the mesh has.

    Along the axes of `fixed` it is made of what is at that place alone: there it stays parts.
    """

    def at(axis: int, place: _Place) -> Any:
        """Returns what the devices that begin with `place` have, all later axes put together."""
        if axis == len(mesh.shape):
            return parts[place]
        spread = spreads[axis]
        if axis in fixed or spread.is_whole:
            return at(axis + 1, (*place, fixed.get(axis, 0)))
        inner = [at(axis + 1, (*place, number)) for number in range(mesh.shape[axis])]
        if spread.axis is not None:
            return torch.cat(inner, spread.axis)
        return combine(inner, spread.reduction, element)

    return at(0, ())


def part_of(mesh: Mesh, spreads: Spreads, whole: Any, place: _Place) -> Any:
    """Returns the part of a whole that the device at a place of the mesh has."""
    for spread, size, number in zip(spreads, mesh.shape, place, strict=True):
        if spread.axis is not None:
            whole = _chunk(whole, spread.axis, size, number)
    return whole


def _chunk(whole: Any, axis: int, parts: int, number: int) -> Any:
    """Returns a part of an axis; where it does not divide evenly the last ones are smaller."""
    size = whole.shape[axis]
    most = -(-size // parts)
    start = min(number * most, size)
    return whole.narrow(axis, start, min(most, size - start))
