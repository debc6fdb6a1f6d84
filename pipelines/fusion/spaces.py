"""Common loops for two groups: which loop of one is which of the other."""

from __future__ import annotations

from dataclasses import field

from ...dialects.records import dataclass
from .access import Access, is_zero
from .group import Group, joined


@dataclass
class _Pairs:
    """Loops of one group by those of the other; each has one partner at most."""

    by_other: dict[int, int] = field(default_factory=dict[int, int])

    def fits(self, one: int, other: int) -> bool:
        """Returns whether two loops are each other's partners, or both free."""
        if other in self.by_other:
            return self.by_other[other] == one
        return one not in self.by_other.values()

    def add(self, one: int, other: int) -> None:
        self.by_other[other] = one


def unify(one: Group, other: Group) -> Group | str:
    """Both groups as one over common loops, or why there are none.

    What one group reads of the other decides first, then what both read, then equal extents.
    """
    pairs = _Pairs()
    for written, read in [*_edges(one, other), *((b, a) for a, b in _edges(other, one))]:
        reason = _pair_elements(pairs, written, read)
        if reason is not None:
            return reason
    for first in one.inputs:
        for second in other.inputs:
            if first.value == second.value:
                _pair_inputs(pairs, one, other, first, second)
    _pair_extents(pairs, one, other)
    more_of_one = [loop for loop in range(len(one.extents)) if loop not in pairs.by_other.values()]
    more_of_other = [loop for loop in range(len(other.extents)) if loop not in pairs.by_other]
    if more_of_one and more_of_other:
        return "each has a loop that the other has not, or whose extent is not known to be the same"
    if more_of_one:
        renamed = [pairs.by_other[loop] for loop in range(len(other.extents))]
        return joined(one, other, renamed, one.extents)
    by_one = {first: second for second, first in pairs.by_other.items()}
    renamed = [by_one[loop] for loop in range(len(one.extents))]
    return joined(other, one, renamed, other.extents)


def _edges(producer: Group, consumer: Group) -> list[tuple[Access, Access]]:
    """Returns what `consumer` reads of what `producer` writes."""
    return [
        (producer.writes[read.value], read)
        for read in consumer.reads
        if read.value in producer.writes
    ]


def _pair_elements(pairs: _Pairs, one: Access, other: Access) -> str | None:
    """Pairs the loops of two accesses that must be of the same element in each iteration."""
    for first, second in zip(one.index, other.index, strict=True):
        if isinstance(first, int) and isinstance(second, int):
            if not pairs.fits(first, second):
                return "it is read at two places in one iteration, or along a diagonal"
            pairs.add(first, second)
        elif not is_zero(first) and not is_zero(second):
            return "it is read at places that are computed"
        elif isinstance(first, int) or isinstance(second, int):
            # The dim has size 1 where both go along it; a loop of more iterations reads a part.
            return "only a part of it is read"
    return None


def _pair_inputs(pairs: _Pairs, one: Group, other: Group, first: Access, second: Access) -> None:
    """Pairs the loops that read a tensor in both groups, if all of them can be."""
    found = [
        (a, b)
        for a, b in zip(first.index, second.index, strict=True)
        if isinstance(a, int) and isinstance(b, int)
    ]
    trial = _Pairs(dict(pairs.by_other))
    for a, b in found:
        if not trial.fits(a, b) or one.extents[a] != other.extents[b]:
            return
        trial.add(a, b)
    pairs.by_other = trial.by_other


def _pair_extents(pairs: _Pairs, one: Group, other: Group) -> None:
    """Pairs the loops that are left by equal extents, in order."""
    for second in range(len(other.extents)):
        if second in pairs.by_other:
            continue
        for first in range(len(one.extents)):
            if pairs.fits(first, second) and one.extents[first] == other.extents[second]:
                pairs.add(first, second)
                break
