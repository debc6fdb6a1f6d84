"""Softmax's two reductions in one pass, and its powers, where an approximation does as well."""

from __future__ import annotations

from functools import partial
from math import inf, nan

from ....dialects.hir.loop_operation import kind_of, loops_of
from ....dialects.mlir import arith, ir
from ...rewriting import constant
from ...walking import defining_op, defining_operation
from ..combine import combine
from ..division import is_rounded_further
from ..region import Point
from ..work import Work
from .collectives import BlockShare, Collective, Merged, Reduce, State
from .vectors import RowVectors, tree

_POWERS = ("math.exp", "math.exp2")
_APPROXIMATE = "#arith.fastmath<afn>"


class ExponentialSum(Merged):
    """The greatest x of a row, and the sum of exp(x - greatest).

    The sum is kept for the greatest so far, and rescaled where that grows (Milakov and
    Gimelshein, "Online normalizer calculation for softmax", 2018). `has_elements` says whether the
    row has any.
    """

    def __init__(
        self, most: ir.Operation, sum_: ir.Operation, has_elements: ir.Value | None
    ) -> None:
        self._most = most
        self._sum = sum_
        self._power_op = defining_operation(sum_.operands[0])
        self._has_elements = has_elements
        self.is_kept = False

    @property
    def inputs(self) -> list[ir.Value]:
        return [self._most.operands[0]]

    @property
    def types(self) -> list[ir.Type]:
        return [self._most.results[0].type, self._sum.results[0].type]

    def neutral(self) -> State:
        return constant(self.types[0], -inf), constant(self.types[1], 0.0)

    def combine(self, a: State, b: State) -> State:
        most = self._greater(a[0], b[0])
        base = self._base(most)
        parts = [arith.mulf(sum_, self._power(greatest, base)) for greatest, sum_ in (a, b)]
        return most, arith.addf(parts[0], parts[1])

    def accumulate(self, state: State | None, vectors: RowVectors) -> State:
        (value,) = self.inputs
        least, _ = self.neutral()
        most = None if state is None else state[0]
        for number in range(len(vectors)):
            whole = vectors.folded(number, value, self._greater, least)
            most = whole if most is None else self._greater(most, whole)
        assert most is not None
        base = self._base(most)
        # The powers are computed of the elements anew: as f32 all of them would be kept until then.
        vectors.forget()
        total = None if state is None else arith.mulf(state[1], self._power(state[0], base))
        total, _ = self._with_powers(total, base, vectors)
        return most, total

    @property
    def first(self) -> Collective:
        return Reduce(self._most)

    def is_found_in_warps(self, block: BlockShare) -> bool:
        """Powers that are kept would be rescaled once more."""
        (value,) = self.inputs
        self.is_kept = block.is_kept(self.kept, value)
        return not self.is_kept

    def center(self, first: ir.Value, block: BlockShare) -> ir.Value:
        """The greatest, but 0 where -inf is that of a part of the row."""
        is_least = self._is_least(first)
        if self.is_kept:
            is_least = arith.andi(is_least, block.are_several)
        return arith.select(is_least, constant(first.type, 0.0), first)

    def around(self, center: ir.Value, vectors: RowVectors) -> tuple[ir.Value, list[ir.Value]]:
        return self._with_powers(None, center, vectors)

    def _with_powers(
        self, total: ir.Value | None, base: ir.Value, vectors: RowVectors
    ) -> tuple[ir.Value, list[ir.Value]]:
        """A total with those of exp(x - base), and all of these if they are kept."""
        (value,) = self.inputs
        zero = self.neutral()[1]
        found: list[ir.Value] = []

        def emit(number: int) -> list[ir.Value]:
            powers = [
                self._power(vectors.value(number, element, value), base)
                for element in range(vectors.width)
            ]
            return [tree(powers, arith.addf), *(powers if self.is_kept else [])]

        for number in range(len(vectors)):
            whole, *powers = vectors.reduced(number, partial(emit, number), zero)
            total = whole if total is None else arith.addf(total, whole)
            found += powers
        assert total is not None
        return total, found

    def state(self, first: ir.Value, center: ir.Value, total: ir.Value, block: BlockShare) -> State:
        return first, total

    @property
    def kept(self) -> ir.Value:
        return self._sum.operands[0]

    def keep(
        self, values: list[ir.Value], first: ir.Value, state: State, block: BlockShare
    ) -> list[ir.Value]:
        """The powers, which are multiplied where another block may have a greater element."""

        def scaled() -> list[ir.Value]:
            by = self._power(first, state[0])
            return [arith.mulf(power, by) for power in values]

        return block.where_several(values, scaled) if values else []

    def finish(self, state: State, point: Point) -> None:
        """Of a row of nothing but -inf the sum has exp(-inf + inf) in it."""
        most, sum_ = state
        is_least = self._is_least(most)
        if self._has_elements is not None:
            is_least = arith.andi(is_least, self._has_elements)
        sum_ = arith.select(is_least, constant(sum_.type, nan), sum_)
        point.known[self._most.results[0]] = most
        point.known[self._sum.results[0]] = sum_

    def _greater(self, a: ir.Value, b: ir.Value) -> ir.Value:
        return combine(kind_of(self._most), a, b)

    def _is_least(self, most: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.OEQ, most, self.neutral()[0])

    def _base(self, most: ir.Value) -> ir.Value:
        """Returns what is subtracted: 0 instead of -inf, which everything is then."""
        return arith.select(self._is_least(most), constant(most.type, 0.0), most)

    def _power(self, value: ir.Value, base: ir.Value) -> ir.Value:
        less = arith.subf(value, base)
        copy = self._power_op.clone()
        copy.operands[0] = less
        if isinstance(less.type, ir.F32Type) and not self.is_kept:
            # An error of a power is small beside the greatest one, which is 1.
            copy.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")
        return copy.results[0]


def greatest_of(op: ir.Operation) -> ir.Operation | None:
    """The hir.reduce_loops maximumf of x whose result an addf of exp(x - greatest) uses."""
    if op.name != "hir.reduce_loops" or kind_of(op) != "addf":
        return None
    power = defining_op(op.operands[0])
    if power is None or power.name not in _POWERS:
        return None
    most = greatest_below(power)
    return most if most is not None and loops_of(most) == loops_of(op) else None


def greatest_below(power: ir.Operation) -> ir.Operation | None:
    """The hir.reduce_loops maximumf of x of which exp(x - greatest) is the power."""
    less = defining_op(power.operands[0])
    if less is None or less.name != "arith.subf":
        return None
    most = defining_op(less.operands[1])
    if most is None or most.name != "hir.reduce_loops" or kind_of(most) != "maximumf":
        return None
    return most if most.operands[0] == less.operands[0] else None


def relax_powers(work: Work) -> None:
    """Lets powers exp(x - greatest x) be approximate that are summed, or rounded to 16 bits.

    With d below the greatest, exp2.approx of d * log2(e) is off by about (d + 2) * 2^-23 of the
    power. Of a sum, in which one power is 1, that is 2^-22 at most; of a value rounded to 16 bits
    it is nothing.
    """
    for inner in work.block:
        op = inner.operation
        if (
            op.name == "math.exp"
            and isinstance(op.results[0].type, ir.F32Type)
            and greatest_below(op) is not None
            and all(_takes_it(use.owner.operation, op) for use in op.results[0].uses)
        ):
            op.attributes["fastmath"] = ir.Attribute.parse(_APPROXIMATE)


def _takes_it(user: ir.Operation, power: ir.Operation) -> bool:
    if user.name == "hir.reduce_loops":
        return ir.StringAttr(user.attributes["kind"]).value == "addf"
    if user.name in ("arith.divf", "arith.mulf") and user.operands[0] == power.results[0]:
        return is_rounded_further(user.results[0])
    return user.name == "arith.truncf"
