"""The kinds of hir.reduce, over the last dim of numbers in their computing type."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.hir.element_types import ElementType
from .binary_kinds import ordered
from .convert import greatest
from .torch_import import torch

Function = Callable[[torch.Tensor, ElementType], torch.Tensor]


class NoElements(Exception):
    """A place among no elements was asked for."""


def _extreme(x: torch.Tensor, element: ElementType, sign: int) -> torch.Tensor:
    """Returns the greatest, or with the sign -1 the least; nan if any is nan."""
    if x.shape[-1] == 0:
        return torch.full(x.shape[:-1], greatest(element, -sign), dtype=x.dtype, device=x.device)
    if x.dtype == torch.bool:
        return x.any(-1) if sign > 0 else x.all(-1)
    keys = ordered(x, element)
    return ordered(keys.amax(-1) if sign > 0 else keys.amin(-1), element)


def _extreme_number(x: torch.Tensor, element: ElementType, sign: int) -> torch.Tensor:
    """Returns the same of what is not nan; nan if all are."""
    if x.shape[-1] == 0:
        return _extreme(x, element, sign)
    numbers = torch.where(x.isnan(), -sign * float("inf"), x)
    found = _extreme(numbers, element, sign)
    return torch.where(x.isnan().all(-1), float("nan"), found)


def _place(x: torch.Tensor, element: ElementType, sign: int) -> torch.Tensor:
    """Returns the first place of the greatest or least, or of a nan."""
    count = x.shape[-1]
    if count == 0:
        raise NoElements
    found = x == _extreme(x, element, sign)[..., None]
    if x.is_floating_point():
        some = x.isnan()
        found = torch.where(some.any(-1, keepdim=True), some, found)
    places = torch.arange(count, device=x.device)
    return torch.where(found, places, count).amin(-1)


REDUCE_FUNCTIONS: dict[str, Function] = {
    "sum": lambda x, element: x.sum(-1),
    "prod": lambda x, element: x.prod(-1),
    "mean": lambda x, element: x.sum(-1) / x.shape[-1],
    "min": lambda x, element: _extreme(x, element, -1),
    "max": lambda x, element: _extreme(x, element, 1),
    "fmin": lambda x, element: _extreme_number(x, element, -1),
    "fmax": lambda x, element: _extreme_number(x, element, 1),
    "any": lambda x, element: (x != 0).any(-1),
    "all": lambda x, element: (x != 0).all(-1),
    "argmin": lambda x, element: _place(x, element, -1),
    "argmax": lambda x, element: _place(x, element, 1),
}
