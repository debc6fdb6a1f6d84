"""Regions of the same code, of one kernel or of several, become one function.

Kernels for open sizes, or of one schedule, have the same regions: what is done between two shuffles
of a sum, say. They differ in names, in where values lie in the frame, and in the numbers of states.
The function is given the last two, so that each region is a call of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import replace

from ...dialects.records import dataclass
from .block_layout import CONTEXT
from .llvm_text import LOCAL
from .metadata import FIRST_LOOP
from .region_functions import RegionCode
from .thread_memory import BYTES_BEFORE

_NAME = re.compile(rf"{LOCAL.pattern}|(?m:^{LOCAL.pattern.removeprefix('%')}(?=:$))")
# What equal regions may have different, by type. Patterns that begin with letters are found fast.
_NUMBERS = {
    "i64": re.compile(rf"({BYTES_BEFORE})(\d+)"),
    "i32": re.compile(r"(\n  ret i32 )(\d+)(?=\n|$)"),
}
# Longer regions are seldom equal, and comparing them takes longer.
_MOST_LETTERS = 8000


@dataclass(frozen=True)
class _Region:
    code: RegionCode
    body: str
    numbers: tuple[str, ...]


class EqualRegions:
    """Collects regions, and makes their functions. `finished` is done to each body."""

    def __init__(self, finished: Callable[[str], str]) -> None:
        self._finished = finished
        self._groups: dict[Hashable, list[_Region]] = {}

    def add(self, code: RegionCode) -> None:
        """Takes a region, of a name that no other has."""
        body = self._finished(code.body())
        numbers = [
            f"{type_} {found[2]}"
            for type_, pattern in _NUMBERS.items()
            for found in pattern.finditer(body)
        ]
        region = _Region(code, body, tuple(numbers))
        # What has lines of the source is not shared: they differ.
        is_alone = code.locations is not None or len(body) > _MOST_LETTERS
        key = code.name if is_alone else _shape(region)
        self._groups.setdefault(key, []).append(region)

    def functions(self) -> list[str]:
        """Returns the functions of all regions."""
        made: list[str] = []
        for number, regions in enumerate(self._groups.values(), FIRST_LOOP):
            made += _shared(regions, number)
        return made


def _shape(region: _Region) -> Hashable:
    """Returns what regions have in common that may share a function."""
    names: dict[str, str] = {name: name for name in CONTEXT}

    def renamed(match: re.Match[str]) -> str:
        name = match[0] if match[0].startswith("%") else f"%{match[0]}"
        return names.setdefault(name, f"%{len(names)}")

    body = region.body
    for pattern in _NUMBERS.values():
        body = pattern.sub(r"\1#", body)
    body = _NAME.sub(renamed, body)
    code = region.code
    parameters = tuple(
        (number, item.type, names.get(item.name), item.byval, item.align, item.noalias)
        for number, item in code.parameters.items()
    )
    several = len(code.ends) > 1
    return body, parameters, several, code.independent, code.plain, code.attributes


def _shared(regions: list[_Region], loop_number: int) -> list[str]:
    """Returns the functions of regions of one shape."""
    first, *others = regions
    columns = list(zip(*(region.numbers for region in regions), strict=True))
    # Numbers that go together are given once.
    given = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
    if not given:
        made = [first.code.functions(first.body, loop_number)]
        return made + [other.code.call_of(first.code.name) for other in others]
    names = {column: f"%hirc.given{place}" for place, column in enumerate(given)}
    values = [names.get(column) or column[0].partition(" ")[2] for column in columns]
    left = iter(values)
    body = first.body
    for pattern in _NUMBERS.values():
        body = pattern.sub(lambda found: found[1] + next(left), body)
    ends = [value for value, column in zip(values, columns, strict=True) if column[0][:3] == "i32"]
    name = f"{first.code.name}.shared"
    parameters = [f"{column[0][:3]} {names[column]}" for column in given]
    shared = replace(first.code, name=name)
    made = [shared.functions(body, loop_number, parameters, ends[0] if ends else None)]
    places = [columns.index(column) for column in given]
    return made + [
        region.code.call_of(name, [region.numbers[place] for place in places]) for region in regions
    ]
