"""Sizes and strides as products of a known number and of sizes that are open until run time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..hir.index_arithmetic import is_same
from ..rewriting import index_constant

# The most blocks in x of a grid (CUDA C++ Programming Guide, "Compute Capabilities"), and the limit
# of indices and offsets of 32 bits, which divide faster than those of 64.
MOST_IN_32_BITS = 2**31 - 1


@dataclass(frozen=True)
class Size:
    """`known` times the open numbers of these places in an OpenNumbers, in ascending order."""

    known: int
    open: tuple[int, ...] = ()

    @property
    def is_known(self) -> bool:
        return not self.open

    def __mul__(self, other: Size) -> Size:
        if 0 in (self.known, other.known):
            return Size(0)
        return Size(self.known * other.known, tuple(sorted((*self.open, *other.open))))

    def is_multiple_of(self, number: int) -> bool:
        """Returns whether it certainly is; what is open may be any number."""
        return self.known % number == 0


ONE = Size(1)
ZERO = Size(0)


def product(sizes: Sequence[Size]) -> Size:
    """All of them multiplied."""
    result = ONE
    for size in sizes:
        result = result * size
    return result


class OpenNumbers:
    """The numbers of one operation that are known at run time alone, as index values of the host.

    What it emits goes to the current insertion point, which is the host's.
    """

    def __init__(self) -> None:
        self._values: list[ir.Value] = []

    def size_of(self, value: ir.Value) -> Size:
        """A value as a size; equal values are the same one."""
        for place, known in enumerate(self._values):
            if is_same(known, value):
                return Size(1, (place,))
        self._values.append(value)
        return Size(1, (len(self._values) - 1,))

    def value(self, size: Size) -> ir.Value:
        """The number as an index value."""
        factors = [self._values[place] for place in size.open]
        if size.known != 1 or not factors:
            factors.insert(0, index_constant(size.known))
        return reduce(arith.muli, factors)

    def divided_up(self, size: Size, step: int) -> Size:
        """Returns how many steps a size takes, the last of which may be part of one."""
        if step == 1:
            return size
        if size.is_known:
            return Size(-(-size.known // step))
        return self.size_of(arith.ceildivui(self.value(size), index_constant(step)))

    def sum(self, sizes: Sequence[Size]) -> Size:
        """Several added up."""
        known = sum(size.known for size in sizes if size.is_known)
        open_ = [size for size in sizes if not size.is_known]
        if not open_:
            return Size(known)
        if len(open_) == 1 and known == 0:
            return open_[0]
        total = index_constant(known)
        for size in open_:
            total = arith.addi(total, self.value(size))
        return self.size_of(total)
