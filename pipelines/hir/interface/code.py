"""Builds the operations of an interface function: arithmetic on pointers and 64-bit numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from ....dialects import llvm
from ....dialects.mlir import arith, ir
from ...host.emitter import Emitter

_EQ = arith.CmpIPredicate.eq
_NE = arith.CmpIPredicate.ne

# What a comparison of numbers no less than 0 gives, with a sign or without.
_HOLDS: Mapping[arith.CmpIPredicate, Callable[[int, int], bool]] = {
    _EQ: operator.eq,
    _NE: operator.ne,
    arith.CmpIPredicate.slt: operator.lt,
    arith.CmpIPredicate.sle: operator.le,
    arith.CmpIPredicate.ult: operator.lt,
    arith.CmpIPredicate.ugt: operator.gt,
}


class Code(Emitter):
    """Inserts at the current insertion point, at the location of `op`.

    A constant is made once for what is appended to a block, and what follows from constants alone
    is one: checks of a tensor whose type is static are a third as many operations.
    """

    def __init__(self, module: ir.Operation, op: ir.Operation) -> None:
        super().__init__(module)
        self.op = op
        self.i1 = ir.IntegerType.get_signless(1)
        self.i8 = ir.IntegerType.get_signless(8)
        self._made: dict[tuple[ir.Block, object], ir.Value] = {}
        self._known: dict[ir.Value, int] = {}

    def _here(self) -> ir.InsertionPoint:
        return ir.InsertionPoint.current

    def _once(self, key: object, make: Callable[[], ir.Value]) -> ir.Value:
        """Returns what was made for the block, if everything since was appended to it."""
        point = self._here()
        if point.ref_operation is not None:
            return make()
        place = (point.block, key)
        if place not in self._made:
            self._made[place] = make()
        return self._made[place]

    def _constant(self, kind: ir.Type, value: int) -> ir.Value:
        made = self._once((kind, value), lambda: super(Code, self)._constant(kind, value))
        self._known[made] = value
        return made

    def null(self) -> ir.Value:
        return self._once("null", super().null)

    def address_of(self, symbol: str) -> ir.Value:
        return self._once(symbol, lambda: super(Code, self).address_of(symbol))

    def known(self, value: ir.Value) -> int | None:
        """Returns the number that a constant is."""
        return self._known.get(value)

    def field(self, base: ir.Value, offset: int) -> ir.Value:
        """Returns the address `offset` bytes after `base`."""
        if offset == 0:
            return base
        return llvm.element_address(base, self.i8, offset)

    def after(self, base: ir.Value, bytes_after: ir.Value) -> ir.Value:
        """The address a run-time number of bytes after `base`."""
        return self.offset_address(base, self.i8, bytes_after)

    def number_of(self, address: ir.Value) -> ir.Value:
        """Returns an address as a number."""
        return llvm.number_of(address)

    def is_null(self, address: ir.Value) -> ir.Value:
        return llvm.equal(address, self.null())

    def multiply_checked(self, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Returns a product of signed numbers, and whether it is beyond their type."""
        pair = ir.Type.parse("!llvm.struct<(i64, i1)>")
        both = ir.Operation.create(
            "llvm.intr.smul.with.overflow", results=[pair], operands=[left, right]
        ).results[0]
        return self.extract(both, self.types.i64, 0), self.extract(both, self.i1, 1)

    def differ(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.compare(_NE, left, right)

    def equal(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.compare(_EQ, left, right)

    def compare(self, predicate: arith.CmpIPredicate, left: ir.Value, right: ir.Value) -> ir.Value:
        """Returns the comparison of two numbers, of constants no less than 0 a constant."""
        one, other = self.known(left), self.known(right)
        if one is None or other is None or min(one, other) < 0:
            return arith.cmpi(predicate, left, right)
        return self.truth(_HOLDS[predicate](one, other))

    def truth(self, value: bool) -> ir.Value:
        made = self._once(value, lambda: arith.constant(self.i1, int(value)))
        self._known[made] = int(value)
        return made

    def negate(self, condition: ir.Value) -> ir.Value:
        known = self.known(condition)
        if known is not None:
            return self.truth(not known)
        return arith.xori(condition, self.truth(True))

    def both(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Returns whether two conditions hold."""
        for one, other in ((left, right), (right, left)):
            known = self.known(one)
            if known is not None:
                return other if known else self.truth(False)
        return arith.andi(left, right)

    def any(self, conditions: Sequence[ir.Value]) -> ir.Value:
        """Returns whether one of the conditions holds."""
        open_ = [condition for condition in conditions if self.known(condition) is None]
        if any(self.known(condition) for condition in conditions):
            return self.truth(True)
        return reduce(arith.ori, open_) if open_ else self.truth(False)

    def widened(self, number: ir.Value) -> ir.Value:
        """Returns an i64 that is 0 where a narrower number without a sign is."""
        known = self.known(number)
        return arith.extui(self.types.i64, number) if known is None else self.i64(known)

    def difference(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Returns an i64 that is 0 where two i64 are equal."""
        one, other = self.known(left), self.known(right)
        return arith.xori(left, right) if one is None or other is None else self.i64(one ^ other)

    def unless(self, condition: ir.Value, number: ir.Value) -> ir.Value:
        """Returns an i64, or 0 where a condition holds."""
        known = self.known(condition)
        if known is not None:
            return self.i64(0) if known else number
        return arith.select(condition, self.i64(0), number)

    def together(self, numbers: Sequence[ir.Value]) -> ir.Value:
        """Returns an i64 with the bits of all."""
        others = [number for number in numbers if self.known(number) != 0]
        return reduce(arith.ori, others) if others else self.i64(0)

    def subtract(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Returns a difference of two i64."""
        one, other = self.known(left), self.known(right)
        if one is None or other is None:
            return arith.subi(left, right)
        return self.i64(one - other)

    def multiply(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Returns a product of two i64."""
        one, other = self.known(left), self.known(right)
        if one is None or other is None:
            return right if one == 1 else left if other == 1 else arith.muli(left, right)
        product = one * other
        return self.i64(product) if abs(product) < 2**63 else arith.muli(left, right)

    def choose(self, condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
        """One of two values; arith.select takes no LLVM pointers."""
        return llvm.select(condition, yes, no)
