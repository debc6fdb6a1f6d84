"""Where the values of a block's threads lie in its frame and its exchange."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects.records import dataclass
from .llvm_text import size_and_alignment
from .stops import Stop


@dataclass(frozen=True)
class Slot:
    """One value's place for each thread: `offset` bytes per thread lie before it.

    A `constant` is the same for all and needs no place.
    """

    offset: int
    bytes: int
    type: str
    constant: str = ""


@dataclass
class SlotArea:
    """Slots one after another."""

    bytes: int = 0

    def add(self, type_text: str, align: int = 1) -> Slot:
        # A bit is kept as a byte. Threads are padded to 32, so an offset needs no alignment up
        # to that; an array of the type keeps its own.
        size = value_bytes(type_text)
        align = max(align, size_and_alignment(type_text)[1])
        size = -(-size // align) * align
        step = max(1, align // 32)
        slot = Slot(-(-self.bytes // step) * step, size, type_text)
        self.bytes = slot.offset + size
        return slot


def exchange_slots(stops: Sequence[Stop]) -> tuple[dict[int, list[Slot]], int]:
    """Slots for what each stop takes and gives, and the bytes per thread of all.

    Threads may stand at different stops, so two stops share a slot only where it is of one size:
    then one thread's value never lies over another's.
    """
    wanted = {
        stop.state: [
            *map(_operand, stop.call.operands),
            *((item, "") for item in stop.result_fields),
        ]
        for stop in stops
    }
    most: dict[int, int] = {}
    for values in wanted.values():
        sizes = [value_bytes(type_text) for type_text, constant in values if not constant]
        for size in sizes:
            most[size] = max(most.get(size, 0), sizes.count(size))
    starts: dict[int, int] = {}
    total = 0
    for size in sorted(most):
        starts[size], total = total, total + size * most[size]
    slots: dict[int, list[Slot]] = {}
    for state, values in wanted.items():
        next_of = dict(starts)
        slots[state] = []
        for type_text, constant in values:
            size = value_bytes(type_text)
            slots[state].append(Slot(next_of.get(size, 0), size, type_text, constant))
            if not constant:
                next_of[size] += size
    return slots, total


def _operand(operand: tuple[str, str]) -> tuple[str, str]:
    """Returns an operand's type, and its value where that is a constant."""
    type_text, value = operand
    return type_text, value if not re.search("[%@]", value) and type_text[0] not in "<{[" else ""


def value_bytes(type_text: str) -> int:
    """Bytes of a value in memory; a bit is kept as a byte."""
    return 1 if type_text == "i1" else size_and_alignment(type_text)[0]
