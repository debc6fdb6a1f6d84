"""Builds the operations of an interface function: arithmetic on pointers and 64-bit numbers."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects import llvm
from ....dialects.mlir import arith, ir
from ...host.emitter import Emitter


class Code(Emitter):
    """Inserts at the current insertion point, at the location of `op`.

    A constant is made once for what is appended to a block, and a product of constants is one.
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

    def differ(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return arith.cmpi(arith.CmpIPredicate.ne, left, right)

    def negate(self, condition: ir.Value) -> ir.Value:
        truth = self._once(True, lambda: arith.constant(self.i1, 1))
        return arith.xori(condition, truth)

    def multiply(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Returns a product of two i64."""
        one, other = self._known.get(left), self._known.get(right)
        if one is None or other is None:
            return right if one == 1 else left if other == 1 else arith.muli(left, right)
        product = one * other
        return self.i64(product) if abs(product) < 2**63 else arith.muli(left, right)

    def choose(self, condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
        """One of two values; arith.select takes no LLVM pointers."""
        return llvm.select(condition, yes, no)
