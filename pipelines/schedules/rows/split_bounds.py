"""Which rows are so few and long, or so much work, that parts of them and a second kernel pay."""

from __future__ import annotations

from ....dialects.mlir import arith
from ....dialects.records import dataclass
from ...rewriting import index_constant
from ..alternatives import Conditions
from ..device import Device
from ..size import OpenNumbers, Size
from .element_cost import cost_of_element
from .space import RowSpace

# The vectors of a row that has several parts, of a vector for each thread of a block.
_LEAST = 2048


@dataclass(frozen=True)
class SplitBounds:
    """Rows are split that have `length` elements, of up to `most` rows; up to `few` rows, which
    leave most of the device idle, from `short` elements on.
    """

    most: int
    length: int
    few: int
    short: int

    def may_hold(self, count: Size, length: Size) -> bool:
        """Returns whether so many rows of a known length may be split."""
        are_few = not count.is_known or count.known <= self.few
        return length.known >= (self.short if are_few else self.length)

    def require(self, count: Size, length: Size, open_: OpenNumbers, found: Conditions) -> None:
        """Adds what must hold of rows."""
        if length.is_known or count.is_known:
            is_short = length.is_known and length.known < self.length
            are_few = count.is_known and count.known <= self.few
            found.require_at_most(count, self.few if is_short else self.most)
            found.require_at_least(length, self.short if are_few or is_short else self.length)
            return
        found.require_at_most(count, self.most)
        if self.short == self.length:
            found.require_at_least(length, self.length)
            return
        few, short, long = map(index_constant, (self.few, self.short, self.length))
        are_few = arith.cmpi(arith.CmpIPredicate.ule, open_.value(count), few)
        least = arith.select(are_few, short, long)
        found.require(arith.cmpi(arith.CmpIPredicate.uge, open_.value(length), least))


def split_bounds(space: RowSpace, device: Device, *, has_passes: bool) -> SplitBounds:
    """Returns the bounds for rows that are read once, or in passes.

    Shorter rows are worth a second kernel where more is computed of an element. Of passes each is a
    kernel that waits for the one before.
    """
    table = device.tables.rows
    short = table.split_length
    if not has_passes:
        work = max(table.split_work // cost_of_element(space.work), _LEAST * space.widest)
        short = min(short, work)
    few = device.multiprocessors // table.split_share
    return SplitBounds(device.multiprocessors, table.split_length, few, short)
