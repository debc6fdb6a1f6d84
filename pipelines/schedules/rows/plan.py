"""How threads share the rows of a work, and what must hold for that."""

from __future__ import annotations

from ....dialects.records import dataclass
from ...lane_reduction import WARP_LANES
from ..alternatives import Conditions
from ..elements import ACCESS_BYTES, element_bytes
from ..region_operations import is_harmless
from ..size import MOST_IN_32_BITS
from ..work import Operand
from .configuration import Kind, RowConfiguration
from .space import RowSpace
from .team import TeamShape


@dataclass(frozen=True)
class RowPlan:
    """What a kernel with a configuration does with the rows of a space."""

    space: RowSpace
    configuration: RowConfiguration

    @property
    def team(self) -> TeamShape:
        """The threads that share a row."""
        made = self.configuration
        return TeamShape(made.lanes, made.threads, made.blocks, made.rows, made.open)

    @property
    def group(self) -> str | None:
        """Which kernels need about as many registers.

        Few do where short rows share a block, but not where elements are written one by one. Of
        others those for any strides need most, but where they do little.
        """
        made, space = self.configuration, self.space
        if made.rows > 1 and (made.open or space.length.is_known):
            return None if space.has_outputs_along else space.work.group("lanes")
        is_alone = made.tall and not space.is_light
        return None if is_alone else space.work.group("blocks")

    @property
    def width(self) -> int:
        """The elements of a vector."""
        return self.configuration.width

    @property
    def vectors(self) -> int:
        """The vectors that a thread takes at once."""
        return self.configuration.vectors

    @property
    def has_full_warps(self) -> bool:
        """Whether warps whose vectors are all the row's have code of their own.

        They have where it is open how long a row is that whole blocks keep.
        """
        made, device = self.configuration, self.space.work.device
        is_warp = device is None or device.lanes == WARP_LANES
        return made.open and made.rows == 1 and made.kernel is Kind.KEPT and is_warp

    def cluster_ranges(self) -> list[tuple[int, int]]:
        """Returns up to how many warps a row has so many blocks of a cluster, where one block of
        an open team does not hold it.

        These are as many as have the most rows at once on a chip, for what a block more costs:
        blocks of some sizes leave many registers of a multiprocessor unused, and clusters some
        multiprocessors of a group.
        """
        made, device = self.configuration, self.space.work.device
        assert device is not None
        table = device.tables.rows
        most = made.threads // WARP_LANES
        found: list[tuple[int, int]] = []
        for warps in range(most + 1, most * made.blocks + 1):

            def worth(blocks: int, warps: int = warps) -> tuple[float, int]:
                resident = made.resident * most // -(-warps // blocks)
                clusters = table.cluster_group * resident // blocks
                return clusters / (table.cluster_cost + blocks), -blocks

            best = max(range(-(-warps // most), made.blocks + 1), key=worth)
            if found and found[-1][1] == best:
                found.pop()
            found.append((warps, best))
        return found

    @property
    def room(self) -> int:
        """The registers in which a thread of a block keeps elements."""
        device = self.space.work.device
        assert device is not None
        return device.tables.rows.words

    @property
    def streams(self) -> bool:
        """Whether a thread takes one batch of vectors after another."""
        return self.configuration.kernel is not Kind.KEPT

    @property
    def peeled(self) -> bool:
        """Whether the row's first aligned element begins vector 0."""
        return self.configuration.peeled

    @property
    def team_threads(self) -> int:
        """The threads that a row has."""
        return self.configuration.row_threads

    @property
    def most_elements(self) -> int | None:
        """The longest row's, where that is known."""
        length = self.space.length
        if length.is_known:
            return length.known
        return MOST_IN_32_BITS if self._has_short_places else self.configuration.longest

    @property
    def _has_short_places(self) -> bool:
        """Whether places along rows of open length have 32 bits: of what is read in batches.

        Of longer rows single elements are read.
        """
        made = self.configuration
        is_batched = made.kernel is Kind.STREAMED and made.width > 1
        has_places = any(op.name == "hir.find_loops" for op in self.space.work.collectives)
        return is_batched and has_places and not self.space.length.is_known

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

    @property
    def _least(self) -> int:
        """The elements of the shortest row that threads may keep.

        A region that does not take any numbers is computed of a vector of the row's in place of one
        that is not there. A peeled row has a whole vector where that many elements are left behind
        the first aligned one.
        """
        if self.peeled and not is_harmless(self.space.work):
            return 2 * self.width - 1
        return 1

    def require(self, found: Conditions, blocks: int) -> None:
        """Adds what must hold for the plan, launched with so many blocks in a cluster."""
        space, made = self.space, self.configuration
        longest = made.longest_in(blocks)
        found.require(space.work.layouts_hold())
        if not made.tall:
            found.require_at_most(space.count, MOST_IN_32_BITS // blocks)
        if len(space.columns) > 1 or self._has_short_places:
            found.require_at_most(space.length, MOST_IN_32_BITS)
        if longest is not None:
            found.require_at_most(space.length, longest)
        if not self.streams:
            found.require_at_least(space.length, self._least)
        if self.peeled:
            self._require_shared_misalignment(found)
        elif self.width > 1:
            self._require_alignment(found)
        if made.staged:
            for operand in space.packed:
                found.require_aligned(operand, ACCESS_BYTES)

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
