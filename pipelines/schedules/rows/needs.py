"""What values of a region are computed from, as far as the reductions before them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from ....dialects.mlir import ir
from ...walking import defining_operation
from ..region import Region
from ..work import COLLECTIVES


def needed_arguments(
    region: Region, values: Sequence[ir.Value], known: Iterable[ir.Value] = ()
) -> set[int]:
    """The operands whose elements values need, given what is `known` or reduced before."""
    numbers = (region.argument_number(value) for value in _reached(region, values, known))
    return {number for number in numbers if number is not None}


def needed_values(region: Region, values: Sequence[ir.Value]) -> list[ir.Value]:
    """The values and all that they are computed from, as far as the reductions before them."""
    return list(_reached(region, values))


def needed_collectives(region: Region, value: ir.Value) -> set[ir.Operation]:
    """The nearest collective operations whose results a value needs."""
    return {
        defining_operation(each)
        for each in _reached(region, [value])
        if _is_inside(region, each) and defining_operation(each).name in COLLECTIVES
    }


def known_at_start(region: Region, varying: frozenset[int]) -> list[ir.Value]:
    """Returns what is uniform along `varying` and needs no reduction, of all that outputs need.

    What such values are computed from is left out.
    """
    found: dict[ir.Value, None] = {}
    waiting = deque(region.yielded)
    seen: set[ir.Value] = set()
    while waiting:
        value = waiting.popleft()
        if value in seen or region.is_outside(value):
            continue
        seen.add(value)
        if not region.varies(value) & varying and not region.needs_collective(value):
            found[value] = None
        else:
            waiting += region.needs(value)
    return list(found)


def is_needed(region: Region, values: Sequence[ir.Value], value: ir.Value) -> bool:
    """Returns whether values are computed from one of the region, or are it."""
    return value in set(_reached(region, values))


def _reached(
    region: Region, values: Sequence[ir.Value], known: Iterable[ir.Value] = ()
) -> Iterator[ir.Value]:
    """The values and what they are computed from; what collective operations take is left out, and
    what is `known`.
    """
    waiting, seen = list(values), set[ir.Value](known)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        yield value
        if _is_inside(region, value) and defining_operation(value).name not in COLLECTIVES:
            waiting += region.needs(value)


def _is_inside(region: Region, value: ir.Value) -> bool:
    """Returns whether an operation of the region gives a value."""
    return region.argument_number(value) is None and not region.is_outside(value)
