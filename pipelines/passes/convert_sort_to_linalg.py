"""convert-sort-to-linalg: tm_tensor.sort, torch-mlir's sorts, as a merge sort of scatters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir, scf
from ...dialects.records import dataclass
from ..generics import emit_generic, loop_index, map_of
from ..pass_base import Pass, fail, register
from ..rewriting import constant, index_constant
from ..tensors import size_of, unwritten
from ..walking import operations_where

_SORT = "tm_tensor.sort"
# No tensor has more than 2 to this elements.
_MOST_STEPS = 40
_Float, _Integer = arith.CmpFPredicate, arith.CmpIPredicate
# What stands for "comes before", by a comparison that also holds for equal elements, or not.
_FLOAT_ORDER = {
    **dict.fromkeys((_Float.OLE, _Float.OLT, _Float.ULE, _Float.ULT), _Float.OLT),
    **dict.fromkeys((_Float.OGE, _Float.OGT, _Float.UGE, _Float.UGT), _Float.OGT),
}
_INTEGER_ORDER = {
    **dict.fromkeys((_Integer.sle, _Integer.slt), _Integer.slt),
    **dict.fromkeys((_Integer.sge, _Integer.sgt), _Integer.sgt),
    **dict.fromkeys((_Integer.ule, _Integer.ult), _Integer.ult),
    **dict.fromkeys((_Integer.uge, _Integer.ugt), _Integer.ugt),
}
_UNSIGNED = {_Integer.slt: _Integer.ult, _Integer.sgt: _Integer.ugt}
# Emits whether the first of two elements certainly comes before the second.
Before = Callable[[ir.Value, ir.Value], ir.Value]


@register
@dataclass(frozen=True)
class ConvertSortToLinalg(Pass):
    """Turns tm_tensor.sort into a loop that merges sorted runs of 1, 2, 4, ... elements.

    Each element goes to a place of its own: its place in its run, and how many of the run beside
    are before it, which a binary search tells. Equal elements keep their order; nan is greater than
    all other numbers.

      %v:2 = tm_tensor.sort dimension(0) outs(%x, %i : tensor<?xf32>, tensor<?xi64>) { cmpf ole }
    becomes
      %v:2 = scf.for %step = %zero to %steps step %one iter_args(%p = %x, %q = %i) {
        %r:2 = linalg.generic ... ins(%p, %q) outs(%empty, %other) { scf.for ..., "hir.scatter" }
        scf.yield %r#0, %r#1
      }
    """

    name: ClassVar[str] = "convert-sort-to-linalg"

    def run(self, op: ir.Operation) -> None:
        for work in operations_where(op, lambda inner: inner.name == _SORT):
            before = _order(work)
            if before is None:
                fail(
                    work,
                    "a sort compares the elements of its first tensor by arith.cmpf or arith.cmpi",
                )
            with work.location, ir.InsertionPoint(work):
                results = _sorted(work, before)
            for old, new in zip(work.results, results, strict=True):
                old.replace_all_uses_with(new)
            work.erase()


def _order(work: ir.Operation) -> Before | None:
    """Returns what a sort compares by; None where that is no order."""
    block = work.regions[0].blocks[0]
    made = list(block)[-1].operation.operands[0].owner
    first, second, *_ = block.arguments
    if not isinstance(made, ir.Block) and list(made.operation.operands) == [first, second]:
        op = made.operation
        if op.name == "arith.cmpf":
            number = ir.IntegerAttr(op.attributes["predicate"]).value
            predicate = _FLOAT_ORDER.get(_Float(number))
            if predicate is not None:
                return _float_order(predicate)
        elif op.name == "arith.cmpi":
            number = ir.IntegerAttr(op.attributes["predicate"]).value
            predicate = _INTEGER_ORDER.get(_Integer(number))
            if predicate is not None:
                # A bit of 1 is true, the greater one, and not -1.
                is_bit = str(first.type) == "i1"
                used = _UNSIGNED.get(predicate, predicate) if is_bit else predicate
                return lambda one, other: arith.cmpi(used, one, other)
    return None


def _float_order(predicate: arith.CmpFPredicate) -> Before:
    def before(one: ir.Value, other: ir.Value) -> ir.Value:
        greater, less = (one, other) if predicate == _Float.OGT else (other, one)
        is_nan = arith.cmpf(_Float.UNO, greater, greater)
        is_number = arith.cmpf(_Float.ORD, less, less)
        return arith.ori(arith.cmpf(predicate, one, other), arith.andi(is_nan, is_number))

    return before


def _sorted(work: ir.Operation, before: Before) -> list[ir.Value]:
    """Emits the loop over the lengths of runs; gives what it ends with."""
    begun = list(work.operands)
    axis = ir.IntegerAttr(work.attributes["dimension"]).value
    size = size_of(begun[0], axis)
    steps = index_constant(0)
    for power in range(_MOST_STEPS):
        is_longer = arith.cmpi(_Integer.ugt, size, index_constant(1 << power))
        steps = arith.addi(steps, arith.index_castui(ir.IndexType.get(), is_longer))
    loop = scf.ForOp(index_constant(0), steps, index_constant(1), begun)
    with ir.InsertionPoint(loop.body):
        run = arith.shli(index_constant(1), loop.induction_variable)
        merge = _Merge(list(loop.inner_iter_args), axis, size, run, loop.induction_variable, before)
        scf.YieldOp(merge.emit())
    return list(loop.results)


@dataclass(frozen=True)
class _Merge:
    """Runs of `run` elements along `axis`, 2 to the `power`, become such of twice as many."""

    tensors: list[ir.Value]
    axis: int
    size: ir.Value
    run: ir.Value
    power: ir.Value
    before: Before

    def emit(self) -> list[ir.Value]:
        """Emits the operation; gives its results."""
        count, rank = len(self.tensors), ir.RankedTensorType(self.tensors[0].type).rank

        def scattered(given: Sequence[ir.Value]) -> list[ir.Value]:
            places = [loop_index(loop) for loop in range(rank)]
            places[self.axis] = self._place(given[0], places)
            return [
                ir.Operation.create("hir.scatter", [value.type], [there, value, *places]).results[0]
                for value, there in zip(given[:count], given[count:], strict=True)
            ]

        inputs = [(each, map_of(rank, range(rank))) for each in self.tensors]
        outputs = [(unwritten(each), map_of(rank, [None] * rank)) for each in self.tensors]
        return list(emit_generic(rank, (), inputs, outputs, scattered).results)

    def _place(self, value: ir.Value, places: Sequence[ir.Value]) -> ir.Value:
        """Where an element goes: so many of its own run and of the one beside come before it."""
        place = places[self.axis]
        one = index_constant(1)
        number = arith.shrui(place, self.power)
        is_right = arith.cmpi(_Integer.eq, arith.andi(number, one), one)
        own = arith.muli(number, self.run)
        beside = arith.muli(arith.xori(number, one), self.run)
        start = arith.minui(beside, self.size)
        end = arith.minui(arith.addi(beside, self.run), self.size)
        found = self._search(value, is_right, places, start, end)
        pair = arith.minui(own, beside)
        return arith.addi(pair, arith.addi(arith.subi(place, own), arith.subi(found, start)))

    def _search(
        self,
        value: ir.Value,
        is_right: ir.Value,
        places: Sequence[ir.Value],
        start: ir.Value,
        end: ir.Value,
    ) -> ir.Value:
        """The first place from `start` to `end` whose element does not come before the value."""
        one = index_constant(1)
        halvings = arith.addi(self.power, one)
        loop = scf.ForOp(index_constant(0), halvings, one, [start, end])
        with ir.InsertionPoint(loop.body):
            low, high = loop.inner_iter_args
            is_open = arith.cmpi(_Integer.ult, low, high)
            middle = arith.shrui(arith.addi(low, high), one)
            # Where nothing is left the element is any; there is one, that of this iteration.
            read = arith.select(is_open, middle, places[self.axis])
            there = [*places]
            there[self.axis] = read
            other = ir.Operation.create(
                "tensor.extract", [value.type], [self.tensors[0], *there]
            ).results[0]
            # Of equal elements those of the left run come first.
            goes_before = arith.select(
                is_right,
                arith.xori(self.before(value, other), constant(ir.IntegerType.get_signless(1), 1)),
                self.before(other, value),
            )
            low_next = arith.select(goes_before, arith.addi(middle, one), low)
            high_next = arith.select(goes_before, high, middle)
            scf.YieldOp(
                [arith.select(is_open, low_next, low), arith.select(is_open, high_next, high)]
            )
        return loop.results[0]
