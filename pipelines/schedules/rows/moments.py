"""A sum and a sum of squared differences from what the sum gives, in one pass."""

from __future__ import annotations

from functools import partial

from ....dialects.hir.loop_operation import kind_of, loops_of
from ....dialects.mlir import arith, ir, math
from ...rewriting import constant
from ...walking import defining_operation
from ..region import Point, Region
from .collectives import BlockShare, Collective, Merged, Reduce, State
from .needs import needed_collectives
from .vectors import RowVectors, tree


class Moments(Merged):
    """The sum of x, and the sum of (x - m)^2 for an m that is computed from it.

    A state is the number of elements, their mean, and the sum of squared differences from that.
    (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.)
    """

    def __init__(self, sum_: ir.Operation, squares: ir.Operation) -> None:
        self._sum = sum_
        self._squares = squares
        self._type = sum_.results[0].type

    @property
    def inputs(self) -> list[ir.Value]:
        return [self._sum.operands[0]]

    @property
    def types(self) -> list[ir.Type]:
        return [self._type] * 3

    def neutral(self) -> State:
        zero = constant(self._type, 0.0)
        return zero, zero, zero

    def combine(self, a: State, b: State) -> State:
        number = arith.addf(a[0], b[0])
        zero, one = constant(self._type, 0.0), constant(self._type, 1.0)
        is_none = arith.cmpf(arith.CmpFPredicate.OEQ, number, zero)
        share = _quotient(b[0], arith.select(is_none, one, number))
        apart = arith.subf(b[1], a[1])
        mean = arith.addf(a[1], arith.mulf(apart, share))
        between = arith.mulf(arith.mulf(apart, apart), arith.mulf(a[0], share))
        return number, mean, arith.addf(arith.addf(a[2], b[2]), between)

    def accumulate(self, state: State | None, vectors: RowVectors) -> State:
        found = self._batch(vectors)
        return found if state is None else self.combine(state, found)

    def finish(self, state: State, point: Point) -> None:
        """The squares' sum is corrected for what m differs from the mean."""
        number, mean, squares = state
        point.known[self._sum.results[0]] = arith.mulf(mean, number)
        center = defining_operation(defining_operation(self._squares.operands[0]).operands[0])
        apart = arith.subf(mean, point.value(center.operands[1]))
        more = arith.mulf(arith.mulf(apart, apart), number)
        point.known[self._squares.results[0]] = arith.addf(squares, more)

    @property
    def first(self) -> Collective:
        return Reduce(self._sum)

    def center(self, first: ir.Value, block: BlockShare) -> ir.Value:
        """The mean."""
        one = constant(self._type, 1.0)
        number = arith.maximumf(block.count(self._type), one)
        inverse = _quotient(one, number)
        mean = arith.mulf(first, inverse)
        left = math.fma(arith.negf(mean), number, first)
        return math.fma(left, inverse, mean)

    def around(self, center: ir.Value, vectors: RowVectors) -> tuple[ir.Value, list[ir.Value]]:
        return tree(self._squares_from(center, vectors), arith.addf), []

    def state(self, first: ir.Value, center: ir.Value, total: ir.Value, block: BlockShare) -> State:
        return block.count(self._type), center, total

    def _batch(self, vectors: RowVectors) -> State:
        """The state of some vectors, from their mean."""
        (value,) = self.inputs
        zero = constant(self._type, 0.0)
        width = constant(self._type, float(vectors.width))
        places = range(len(vectors))
        number = tree([vectors.masked(place, width, zero) for place in places], arith.addf)
        sums = [vectors.folded(place, value, arith.addf, zero) for place in places]
        least = arith.maximumf(number, constant(self._type, 1.0))
        mean = _quotient(tree(sums, arith.addf), least)
        return number, mean, tree(self._squares_from(mean, vectors), arith.addf)

    def _squares_from(self, mean: ir.Value, vectors: RowVectors) -> list[ir.Value]:
        """Of each vector the sum of squared differences from a number."""
        (value,) = self.inputs
        zero = constant(self._type, 0.0)

        def square(place: int, element: int) -> ir.Value:
            apart = arith.subf(vectors.value(place, element, value), mean)
            return arith.mulf(apart, apart)

        def emit(place: int) -> list[ir.Value]:
            return [tree([square(place, each) for each in range(vectors.width)], arith.addf)]

        return [
            vectors.reduced(place, partial(emit, place), zero)[0] for place in range(len(vectors))
        ]


def _quotient(number: ir.Value, by: ir.Value) -> ir.Value:
    """A quotient that need not be exact: squares are taken from any number near the mean."""
    attributes = {"fastmath": ir.Attribute.parse("#arith.fastmath<arcp,afn>")}
    return ir.Operation.create(
        "arith.divf", operands=[number, by], results=[number.type], attributes=attributes
    ).results[0]


def sum_below(region: Region, op: ir.Operation) -> ir.Operation | None:
    """The hir.reduce_loops addf of x from which m of an addf of (x - m)^2 is computed."""
    square = _operation(region, op.operands[0], "arith.mulf")
    if kind_of(op) != "addf" or square is None or square.operands[0] != square.operands[1]:
        return None
    less = _operation(region, square.operands[0], "arith.subf")
    if less is None or region.varies(less.operands[1]) & set(loops_of(op)):
        return None
    needed = list(needed_collectives(region, less.operands[1]))
    if len(needed) != 1:
        return None
    (sum_,) = needed
    is_sum = sum_.name == "hir.reduce_loops" and kind_of(sum_) == "addf"
    if not is_sum or sum_.operands[0] != less.operands[0] or loops_of(sum_) != loops_of(op):
        return None
    return sum_


def _operation(region: Region, value: ir.Value, name: str) -> ir.Operation | None:
    """The operation of that name which gives a value, if one does."""
    if region.argument_number(value) is not None or region.is_outside(value):
        return None
    op = defining_operation(value)
    return op if op.name == name else None
