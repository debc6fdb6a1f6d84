"""What a thread of the pointwise schedule computes: vectors of neighbouring elements."""

from __future__ import annotations

from enum import Enum

from ....dialects.records import dataclass
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE
from ..space import Loop, is_flat, total
from ..work import Operand, Work
from .gathers import Gather
from .guarded_loads import GuardedLoad

THREADS = 256


class Kind(Enum):
    """What vectors are made of: rows of the innermost loop, memory as a whole, single elements."""

    ROWS = "rows"
    FLAT = "flat"
    SINGLE = "single"


@dataclass(frozen=True)
class Vectors:
    """Vectors of `width` elements of the space of `loops`, `unroll` of them a thread.

    What is `guarded` is loaded in the widest pieces that are all there or not; or, without
    `has_pieces`, element by element.
    """

    work: Work
    loops: tuple[Loop, ...]
    kind: Kind
    width: int
    unroll: int = 1
    gathers: tuple[Gather, ...] = ()
    guarded: tuple[GuardedLoad, ...] = ()
    has_pieces: bool = True

    @property
    def inner(self) -> Loop:
        return self.loops[-1]

    @property
    def is_crossing(self) -> bool:
        """Whether a vector may reach from one row into the next."""
        return self.kind is Kind.FLAT and len(self.loops) > 1

    @property
    def leaves_elements(self) -> bool:
        """Whether the last few elements may make no whole vector."""
        return self.kind is Kind.FLAT and not total(self.loops).is_multiple_of(self.width)

    def is_neighbouring(self, operand: Operand) -> bool:
        """Whether an operand's elements of a vector are one access."""
        if self.kind is Kind.SINGLE:
            return False
        if self.is_crossing:
            return is_flat(self.work, operand, self.loops)
        return self.inner.stride_of(self.work, operand.number) == ONE

    def piece(self, guarded: GuardedLoad) -> int:
        """How many elements of a guarded load are one access."""
        return guarded.piece(self.width) if self.has_pieces else 1

    def alignment(self, operand: Operand) -> int:
        """What the addresses of those accesses are multiples of."""
        return min(ACCESS_BYTES, self.width * element_bytes(operand.element))
