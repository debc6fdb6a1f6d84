"""How threads share the rows of a work, and what must hold for that."""

from __future__ import annotations

from ....dialects.records import dataclass
from ..alternatives import Conditions
from ..elements import ACCESS_BYTES, element_bytes
from ..work import Operand
from .space import RowSpace
from .team import TeamShape

# What a grid's x dimension takes (CUDA C++ Programming Guide, "Compute Capabilities"), and what is
# counted in 32 bits.
MOST_PLACES = 2**31 - 1
# The most threads of a block that a row is kept by, and of a cluster's.
BLOCK, CLUSTER_BLOCK = 512, 256
# The shortest rows that are worth a second kernel.
SPLIT_LENGTH = 2**16


@dataclass(frozen=True)
class RowPlan:
    """What a kernel does with a row.

    `width` elements make a vector. A thread takes `vectors` at once: all that it has of a row, or
    with `streams` one batch after another. With `peeled` the row's first aligned element begins
    vector 0, and the few elements before and after whole vectors are taken one by one. Rows have
    no more elements than `longest` where that is a number. With `split_rows` a row is the work of
    many blocks; that is for no more rows than so many. A grid that `is_tall` has rows in y too, so
    that there may be any number of them.
    """

    space: RowSpace
    team: TeamShape
    width: int
    vectors: int
    streams: bool = False
    peeled: bool = False
    longest: int | None = None
    split_rows: int | None = None
    is_tall: bool = False

    @property
    def team_threads(self) -> int:
        """The threads that a row has."""
        return self.team.lanes if self.team.rows > 1 else self.team.threads * self.team.blocks

    @property
    def words(self) -> int:
        """Registers in which a thread holds elements of large inputs, as they lie in memory."""
        return -(-self.vectors * self.width * self.space.bytes // 4)

    @property
    def most_elements(self) -> int | None:
        """The longest row's, where that is known."""
        return self.space.length.known if self.space.length.is_known else self.longest

    @property
    def certain(self) -> int:
        """The whole vectors that every row has."""
        length = self.space.length
        least = length.known if length.is_known else 0
        # The elements before the first vector, at most.
        peeled = self.width - 1 if self.peeled else 0
        return max(least - peeled, 0) // self.width

    @property
    def reference(self) -> Operand:
        """The operand whose vectors are aligned in a peeled row."""
        return next(each for each in self.space.along if self._may_lead(each))

    @property
    def scattered(self) -> frozenset[int]:
        """The operands whose vectors may not be aligned."""
        if not self.peeled:
            return frozenset()
        size = element_bytes(self.reference.element)
        return frozenset(
            each.number
            for each in self.space.along
            if not self._may_lead(each) or element_bytes(each.element) != size
        )

    def _may_lead(self, operand: Operand) -> bool:
        space = self.space
        return space.is_contiguous(operand) and space.is_large(operand)

    def require(self, found: Conditions, blocks: int) -> None:
        """Adds what must hold for the plan, launched with so many blocks in a cluster."""
        space, longest = self.space, self._longest_in(blocks)
        found.require(space.work.layouts_hold())
        if not self.is_tall:
            found.require_at_most(space.count, MOST_PLACES // blocks)
        if len(space.columns) > 1:
            found.require_at_most(space.length, MOST_PLACES)
        if longest is not None:
            found.require_at_most(space.length, longest)
        if self.split_rows is not None:
            found.require_at_most(space.count, self.split_rows)
            found.require_at_least(space.length, SPLIT_LENGTH)
        elif not self.streams:
            found.require_at_least(space.length, 1)
        if self.peeled:
            self._require_shared_misalignment(found)
        elif self.width > 1:
            self._require_alignment(found)

    def _longest_in(self, blocks: int) -> int | None:
        """The most elements of a row for whose team a launch has so many blocks in a cluster."""
        if self.longest is None:
            return None
        step = self.team.threads * self.vectors * self.width
        return self.longest - (self.team.blocks - blocks) * step

    def _require_alignment(self, found: Conditions) -> None:
        space = self.space
        # What lies behind the last whole vector is taken one by one where rows are streamed.
        if not self.streams or len(space.columns) > 1:
            found.require_multiple(space.inner.extent, self.width)
        for operand in space.along:
            if not space.is_contiguous(operand):
                continue
            bytes_ = self.width * element_bytes(operand.element)
            found.require_aligned(operand, min(bytes_, ACCESS_BYTES))
            for loop in (*space.rows, *space.columns[:-1]):
                found.require_multiple(space.stride(operand, loop), self.width)

    def _require_shared_misalignment(self, found: Conditions) -> None:
        space, first = self.space, self.reference
        for operand in space.along:
            if operand.number in self.scattered and space.is_contiguous(operand):
                # Pieces are read from the buffer's beginning on.
                found.require_aligned(operand, ACCESS_BYTES)
            if operand.number in self.scattered or operand == first:
                continue
            found.require_same_alignment(first, operand, ACCESS_BYTES)
            for loop in space.rows:
                here, there = space.stride(first, loop), space.stride(operand, loop)
                if here != there:
                    found.require_multiple(here, self.width)
                    found.require_multiple(there, self.width)
