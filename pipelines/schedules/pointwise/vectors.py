"""What a thread of the pointwise schedule computes: vectors of neighbouring elements."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from ....dialects.records import dataclass
from ..elements import ACCESS_BYTES, element_bytes
from ..region import Region
from ..size import ONE, ZERO
from ..space import Loop, collapsed, in_memory_order, is_flat, total
from ..work import Operand, Work
from .configuration import Kind, PointwiseConfiguration
from .gathers import Gather, find_gathers, taken_loops
from .guarded_loads import GuardedLoad, find_guarded_loads
from .writes import Write, find_writes, written_loops


@dataclass(frozen=True)
class PointwiseSpace:
    """The loops of pointwise work, as few as the operands allow, the innermost in memory last.

    Its properties emit index arithmetic on the host when they are first read.
    """

    work: Work
    loops: tuple[Loop, ...]

    @property
    def inner(self) -> Loop:
        return self.loops[-1]

    @cached_property
    def gathers(self) -> tuple[Gather, ...]:
        """What the region loads of rows along the innermost loop."""
        parts = self.inner.parts
        return tuple(find_gathers(self.work, parts[0]) if len(parts) == 1 else ())

    @cached_property
    def guarded(self) -> tuple[GuardedLoad, ...]:
        """The same of rows that may not be there."""
        parts = self.inner.parts
        return tuple(find_guarded_loads(self.work, parts[0]) if len(parts) == 1 else ())

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """What the region writes at computed places."""
        parts = self.inner.parts
        return tuple(find_writes(self.work, parts[0] if len(parts) == 1 else None) or ())

    @property
    def widest(self) -> int:
        """How many elements 16 bytes of the widest operand are, of those with one an iteration."""
        wide = [operand.element for operand in self.work.operands if self._is_whole(operand)]
        wide = wide or [write.element for write in self.writes]
        return ACCESS_BYTES // max(map(element_bytes, wide))

    @cached_property
    def single_bytes(self) -> int:
        """The bytes of the largest element that the region loads by itself along the innermost
        loop, as pictures of another size do; 0 where there is none.
        """
        region, vectors = Region(self.work), {gather.op for gather in self.gathers}
        parts = frozenset(self.inner.parts)
        loads = [
            inner.operation for inner in self.work.block if inner.operation.name == "memref.load"
        ]
        return max(
            (
                element_bytes(op.results[0].type)
                for op in loads
                if op not in vectors and any(parts & region.varies(at) for at in op.operands[1:])
            ),
            default=0,
        )

    @property
    def has_neighbours(self) -> bool:
        """Whether neighbouring elements of the outputs lie together."""
        return all(
            self.inner.stride_of(self.work, each.number) == ONE for each in self.work.outputs
        )

    @property
    def is_flat(self) -> bool:
        """Whether all of the outputs lie together."""
        return all(is_flat(self.work, operand, self.loops) for operand in self.work.outputs)

    def _is_whole(self, operand: Operand) -> bool:
        return all(operand.strides[part] != ZERO for loop in self.loops for part in loop.parts)


def read_space(work: Work) -> PointwiseSpace | None:
    """The loops of an operation, or None where it is not pointwise or has one iteration."""
    if work.collectives or not (work.outputs or work.scatters):
        return None
    if work.scatters and find_writes(work, None) is None:
        return None
    order = [loop for loop in in_memory_order(work, work.parallel) if work.extents[loop] != ONE]
    # A loop whose index is taken stands alone, so that no element divides to find it.
    taken = taken_loops(work) | written_loops(work)
    apart = taken | {inner for outer, inner in pairwise(order) if outer in taken}
    loops = tuple(collapsed(work, order, apart))
    return PointwiseSpace(work, loops) if loops else None


@dataclass(frozen=True)
class Vectors:
    """The vectors of a configuration."""

    space: PointwiseSpace
    configuration: PointwiseConfiguration

    @property
    def work(self) -> Work:
        return self.space.work

    @property
    def loops(self) -> tuple[Loop, ...]:
        return self.space.loops

    @property
    def inner(self) -> Loop:
        return self.space.inner

    @property
    def kind(self) -> Kind:
        return self.configuration.kernel

    @property
    def width(self) -> int:
        return self.configuration.width

    @property
    def unroll(self) -> int:
        return self.configuration.unroll

    @property
    def threads(self) -> int:
        return self.configuration.threads

    @property
    def is_crossing(self) -> bool:
        """Whether a vector may reach from one row into the next."""
        return self.kind is Kind.FLAT and len(self.loops) > 1

    @property
    def leaves_elements(self) -> bool:
        """Whether the last few elements may make no whole vector."""
        return self.kind is Kind.FLAT and not total(self.loops).is_multiple_of(self.width)

    @property
    def gathers(self) -> tuple[Gather, ...]:
        """The rows that are read in vectors."""
        return () if self.is_crossing or self.kind is Kind.SINGLE else self.space.gathers

    @property
    def guarded(self) -> tuple[GuardedLoad, ...]:
        """The rows that are read where they are there."""
        return () if self.is_crossing or self.kind is Kind.SINGLE else self.space.guarded

    def is_neighbouring(self, operand: Operand) -> bool:
        """Returns whether an operand's elements of a vector are one access."""
        if self.kind is Kind.SINGLE:
            return False
        if self.is_crossing:
            return is_flat(self.work, operand, self.loops)
        return self.inner.stride_of(self.work, operand.number) == ONE

    def piece(self, guarded: GuardedLoad) -> int:
        """Returns how many elements of a guarded load are one access."""
        return guarded.piece(self.width) if self.configuration.pieces else 1

    def alignment(self, operand: Operand) -> int:
        """Returns what the addresses of those accesses are multiples of."""
        return min(ACCESS_BYTES, self.width * element_bytes(operand.element))
