"""Broadcasting of symbolic sizes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from .sizes import Extent, Size, terms_of


def broadcast_extents(shapes: Sequence[Sequence[Extent]]) -> list[Extent | None]:
    """Returns the sizes that operands of these sizes have together; None where it is only known in
    the run.

    Two sizes that are not known to be the same may each be 1, so neither is the result's.
    """
    columns = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    return [_together(column) for column in columns][::-1]


def _together(sizes: Sequence[Extent]) -> Extent | None:
    numbers = [size for size in sizes if not isinstance(size, Size) and size != 1]
    if numbers:
        return numbers[0]
    named = {terms_of(size): size for size in sizes if isinstance(size, Size)}
    if not named:
        return 1
    return next(iter(named.values())) if len(named) == 1 else None
