"""Builds the operations of an interface function: arithmetic on pointers and 64-bit numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ....dialects.mlir import arith, ir, llvm
from ...host.emitter import Emitter

_EQ = arith.CmpIPredicate.eq
_NE = arith.CmpIPredicate.ne


class Code(Emitter):
    """Inserts at the current insertion point, at the location of `op`."""

    def __init__(self, module: ir.Operation, op: ir.Operation) -> None:
        super().__init__(module)
        self.op = op
        self.i1 = ir.IntegerType.get_signless(1)
        self.i8 = ir.IntegerType.get_signless(8)

    def _here(self) -> ir.InsertionPoint:
        return ir.InsertionPoint.current

    def field(self, base: ir.Value, offset: int) -> ir.Value:
        """Returns the address `offset` bytes after `base`."""
        return llvm.GEPOp(self.types.ptr, base, [], [offset], ir.TypeAttr.get(self.i8), 0).result

    def after(self, base: ir.Value, bytes_after: ir.Value) -> ir.Value:
        """The address a run-time number of bytes after `base`."""
        return self.offset_address(base, self.i8, bytes_after)

    def number_of(self, address: ir.Value) -> ir.Value:
        """Returns an address as a number."""
        return llvm.PtrToIntOp(self.types.i64, address).result

    def is_null(self, address: ir.Value) -> ir.Value:
        return llvm.ICmpOp(llvm.ICmpPredicate.eq, address, self.null()).result

    def multiply_checked(self, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Returns a product of signed numbers, and whether it is beyond their type."""
        pair = ir.Type.parse("!llvm.struct<(i64, i1)>")
        both = ir.Operation.create(
            "llvm.intr.smul.with.overflow", results=[pair], operands=[left, right]
        ).results[0]
        return self.extract(both, self.types.i64, 0), self.extract(both, self.i1, 1)

    def differ(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return arith.cmpi(_NE, left, right)

    def equal(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return arith.cmpi(_EQ, left, right)

    def truth(self, value: bool) -> ir.Value:
        return arith.constant(self.i1, int(value))

    def negate(self, condition: ir.Value) -> ir.Value:
        return arith.xori(condition, self.truth(True))

    def any(self, conditions: Sequence[ir.Value]) -> ir.Value:
        """Returns whether one of the conditions holds."""
        return reduce(arith.ori, conditions) if conditions else self.truth(False)

    def choose(self, condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
        """One of two values; arith.select takes no LLVM pointers."""
        return llvm.SelectOp(condition, yes, no).result
