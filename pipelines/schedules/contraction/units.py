"""How threads compute a factor: units of neighbours, and what is read for each at once.

A unit is what 16 bytes of shared memory hold, terms of a row or rows of a term. Its elements lie at
known distances along loops, so that what is read for them lies at known distances, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from ....dialects.records import dataclass
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, ZERO, Size, product
from ..work import Operand
from .form import Factor, Form

# The widest read of a unit: two accesses.
_MOST_BYTES = 2 * ACCESS_BYTES
# The least that is copied asynchronously (PTX ISA, "cp.async").
_LEAST_COPY = 4
# What has an element for so many of the factor's, or more, is loaded rather than copied.
_FEW = 16


class When(StrEnum):
    """When threads read an operand."""

    # Once: it is the same for all terms.
    BEFORE = "before"
    # Some steps ahead, through shared memory.
    COPIED = "copied"
    # One step ahead.
    LOADED = "loaded"


@dataclass(frozen=True, eq=False)
class Read:
    """What a unit needs of an operand: `places` are those of its elements, from the first one on.

    None where strides are open. `width` elements are read at once.
    """

    operand: Operand
    places: tuple[int, ...] | None
    width: int
    when: When

    @property
    def bytes(self) -> int:
        return self.width * element_bytes(self.operand.element)


@dataclass(frozen=True, eq=False)
class Unit:
    """`elements` have the index of each loop within the unit, of those along which it goes.

    They are terms if it `is_of_terms`.
    """

    is_of_terms: bool
    elements: tuple[Mapping[int, int], ...]

    @property
    def loops(self) -> frozenset[int]:
        """The loops that it goes along."""
        return frozenset(self.elements[-1])

    def length(self, loop: int) -> int:
        """How many places along a loop it has."""
        return max(each[loop] for each in self.elements) + 1


def unit_of(form: Form, factor: Factor, own: tuple[int, ...]) -> Unit | None:
    """The unit for which least is read, of terms where both are alike; None where neither can be.

    Units are to be whole: their loops have multiples of their places.
    """
    count = ACCESS_BYTES // element_bytes(factor.element)
    found = [
        Unit(is_of_terms, elements)
        for is_of_terms, loops in ((True, form.terms), (False, own))
        if (elements := _elements(form, loops, count)) is not None
    ]
    return min(found, key=lambda unit: _accesses(form, factor, unit), default=None)


def _elements(form: Form, loops: Sequence[int], count: int) -> tuple[Mapping[int, int], ...] | None:
    found: list[dict[int, int]] = [{} for _ in range(count)]
    step = 1
    for loop in reversed(loops):
        extent, rest = form.work.extents[loop], count // step
        if rest == 1:
            break
        if extent.is_multiple_of(rest):
            own = rest
        elif extent.is_known and rest % extent.known == 0:
            own = extent.known
        else:
            return None
        for number, each in enumerate(found):
            each[loop] = number // step % own
        step *= own
    return tuple(found) if step == count else None


def _accesses(form: Form, factor: Factor, unit: Unit) -> int:
    """How many accesses a unit's reads take that are not the same for all terms."""
    reads = reads_of(form, factor, unit, is_wide=True)
    return sum(
        len(set(read.places or range(len(unit.elements)))) if read.width == 1 else 1
        for read in reads
        if read.when is not When.BEFORE
    )


def reads_of(form: Form, factor: Factor, unit: Unit, *, is_wide: bool) -> list[Read]:
    """What a unit reads; together where neighbours `is_wide`, in aligned buffers."""
    found: list[Read] = []
    whole = _count(form, factor.varies)
    for operand in factor.reads:
        places = _places(operand, unit)
        width = 1
        if places is not None:
            span = max(places) + 1
            bytes_ = span * element_bytes(operand.element)
            if is_wide and bytes_ <= _MOST_BYTES and _is_aligned(form, operand, unit, span):
                width = span
        varying = {loop for loop, stride in enumerate(operand.strides) if stride != ZERO}
        when = When.LOADED
        if not varying & {*form.terms}:
            when = When.BEFORE
        elif width * element_bytes(operand.element) >= _LEAST_COPY and (
            width > 1 or element_bytes(operand.element) >= _LEAST_COPY
        ):
            own = _count(form, frozenset(varying))
            is_few = own.is_known and whole.is_known and own.known * _FEW <= whole.known
            is_one = width > 1 or set(places or ()) == {0}
            when = When.COPIED if is_wide and is_one and not is_few else When.LOADED
        found.append(Read(operand, places, width, when))
    return found


def wide_reads(form: Form, factor: Factor) -> list[Read]:
    """What a computed factor's units read of which neighbours come together."""
    own = form.rows if factor is form.first else form.columns
    unit = unit_of(form, factor, own)
    reads = [] if unit is None else reads_of(form, factor, unit, is_wide=True)
    return [read for read in reads if read.width > 1]


def _count(form: Form, loops: frozenset[int]) -> Size:
    return product([form.work.extents[loop] for loop in loops])


def _places(operand: Operand, unit: Unit) -> tuple[int, ...] | None:
    """The places of a unit's elements from its first one's on; None where they are not known."""
    if any(not operand.strides[loop].is_known for loop in unit.loops):
        return None
    return tuple(
        sum(operand.strides[loop].known * index for loop, index in each.items())
        for each in unit.elements
    )


def _is_aligned(form: Form, operand: Operand, unit: Unit, span: int) -> bool:
    """Whether all units' elements begin at multiples of `span`, a power of two, in a buffer."""
    if span & (span - 1) or any(operand.strides[loop].known < 0 for loop in unit.loops):
        return False
    steps = [
        stride * Size(unit.length(loop)) if loop in unit.loops else stride
        for loop, stride in enumerate(operand.strides)
        if form.work.extents[loop] != ONE
    ]
    return all(each.is_multiple_of(span) for each in (operand.offset, *steps))
