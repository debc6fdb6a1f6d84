"""Arithmetic on sizes and strides, as operations on index values; what is known is folded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...dialects.mlir import arith, ir
from ..constants import constant_value
from ..rewriting import index_constant

# A number known now, or a value of type index.
Index = int | ir.Value


def index_of(value: ir.Value) -> Index:
    """The number a value is known to be, else the value."""
    known = constant_value(value)
    return value if known is None else known


def materialized(number: Index) -> ir.Value:
    """Returns the number as a value."""
    return index_constant(number) if isinstance(number, int) else number


def is_same(a: Index, b: Index) -> bool:
    """Returns whether two numbers are certainly equal: the same constant, value, or size of a
    buffer.
    """
    if a == b:
        return True
    if isinstance(a, int) or isinstance(b, int):
        return False
    first, second = a.owner, b.owner
    if isinstance(first, ir.Block) or isinstance(second, ir.Block):
        return False
    if first.name != "memref.dim" or second.name != "memref.dim":
        return False
    axes = [constant_value(op.operands[1]) for op in (first, second)]
    return None not in axes and axes[0] == axes[1] and first.operands[0] == second.operands[0]


class IndexArithmetic:
    """Emits where the current insertion point is. Sizes are not negative."""

    def constant(self, value: int) -> Index:
        return value

    def add(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        return arith.addi(materialized(a), materialized(b))

    def subtract(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else arith.subi(materialized(a), materialized(b))

    def multiply(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 0 or b == 0:
            return 0
        if a == 1 or b == 1:
            return b if a == 1 else a
        return arith.muli(materialized(a), materialized(b))

    def ceil_divide(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        if b == 1:
            return a
        return arith.divui(materialized(self.add(a, self.subtract(b, 1))), materialized(b))

    def maximum(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return a if is_same(a, b) else arith.maxsi(materialized(a), materialized(b))

    def choose(self, condition: ir.Value, a: Index, b: Index) -> Index:
        """`a` where the condition holds, else `b`."""
        return a if is_same(a, b) else arith.select(condition, materialized(a), materialized(b))

    def product(self, numbers: Sequence[Index]) -> Index:
        result: Index = 1
        for number in sorted(numbers, key=lambda number: not isinstance(number, int)):
            result = self.multiply(result, number)
        return result

    def packed_strides(self, sizes: Sequence[Index]) -> list[Index]:
        """Returns the strides of row-major order without gaps; a size of 0 counts as 1."""
        strides: list[Index] = []
        stride: Index = 1
        for place, size in reversed(list(enumerate(sizes))):
            strides.insert(0, stride)
            if place:
                stride = self.multiply(stride, self.maximum(size, 1))
        return strides


class CheckedArithmetic(IndexArithmetic):
    """Arithmetic whose products are seen to fit an index: see `exceeds`."""

    def __init__(self) -> None:
        self._highs: list[ir.Value] = []

    def multiply(self, a: Index, b: Index) -> Index:
        is_open = isinstance(a, ir.Value) or isinstance(b, ir.Value)
        if not is_open or a in (0, 1) or b in (0, 1):
            return super().multiply(a, b)
        low, high = arith.mului_extended(materialized(a), materialized(b))
        self._highs.append(high)
        return low

    def exceeds(self, result: Index, most: int, sizes: Sequence[Index]) -> ir.Value | None:
        """Returns whether a result is more than `most`, or a product so far more than an index
        holds.

        None where that is known not to be. The numbers that were multiplied are not negative. Where
        one of the `sizes` is 0, a result of 0 is right, however large the others are.
        """
        if not isinstance(result, ir.Value):
            return None
        beyond = arith.cmpi(arith.CmpIPredicate.ugt, result, index_constant(most))
        if not self._highs:
            return beyond
        seen = self._highs[0]
        for high in self._highs[1:]:
            seen = arith.ori(seen, high)
        zero, equal = index_constant(0), arith.CmpIPredicate.eq
        beyond = arith.ori(beyond, arith.cmpi(arith.CmpIPredicate.ne, seen, zero))
        empty = [arith.cmpi(equal, size, zero) for size in sizes if isinstance(size, ir.Value)]
        if len(empty) < 2:
            return beyond
        is_right = arith.andi(reduce(arith.ori, empty), arith.cmpi(equal, result, zero))
        return arith.cmpi(arith.CmpIPredicate.ugt, beyond, is_right)
