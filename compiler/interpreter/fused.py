"""A linalg.generic with reductions and scans in its region, for all points of its index space.

The region is run operation by operation. Each has a value for every index of the loops that it
depends on, and for no more: what is uniform along a loop has values even where that has no
iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ...dialects.mlir import ir
from .frame import Frame
from .operations.arith_floats import FLOAT_FUNCTIONS
from .operations.arith_integers import INTEGER_FUNCTIONS
from .region_loops import COLLECTIVE, SCAN, RegionLoops, collected_loops, kind_of
from .scalar_numbers import integer_of_type, round_float, signed, width_of

Indices = tuple[int, ...]
# Takes an operand's number and a point of the index space; gives the element.
Load = Callable[[int, Indices], Any]


def is_fused(block: ir.Block) -> bool:
    """Returns whether a region has reductions or scans of its own."""
    names = {op.operation.name for op in block.operations}
    return not names.isdisjoint(COLLECTIVE)


_INFINITE = float("inf")
_NOTHING = {
    "addf": 0.0,
    "mulf": 1.0,
    "maximumf": -_INFINITE,
    "minimumf": _INFINITE,
    "maxnumf": float("nan"),
    "minnumf": float("nan"),
    "logaddexp": -_INFINITE,
}


def _log_of_sum(a: float, b: float) -> float:
    """Returns log(exp(a) + exp(b))."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    greatest, least = max(a, b), min(a, b)
    # Two equal infinities differ by nothing.
    less = 0.0 if greatest == least else least - greatest
    return greatest + math.log1p(math.exp(less))


# Besides those of arith.
_FUNCTIONS = {**FLOAT_FUNCTIONS, "logaddexp": _log_of_sum}


def neutral(kind: str, value_type: ir.Type) -> Any:
    """Returns what a reduction of no iterations gives: the sum of nothing is 0, the product 1.

    The greatest of nothing is the least that there is; with maxnumf, which passes nan over, nan.
    """
    if kind in _FUNCTIONS:
        return _NOTHING[kind]
    bits = width_of(value_type)
    least, greatest = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    number = {"maxsi": least, "minsi": greatest, "minui": -1, "andi": -1, "muli": 1}.get(kind, 0)
    return integer_of_type(number, value_type)


def combine(kind: str, value_type: ir.Type, a: Any, b: Any) -> Any:
    """Two values made into one."""
    if kind in _FUNCTIONS:
        return round_float(_FUNCTIONS[kind](a, b), str(value_type))
    bits = width_of(value_type)
    number = INTEGER_FUNCTIONS[kind](signed(a, bits), signed(b, bits), bits)
    return integer_of_type(number, value_type)


@dataclass
class FusedRun:
    """One run of a fused operation. `bounds` are the loops' numbers of iterations."""

    op: ir.Operation
    frame: Frame
    bounds: Sequence[int]
    loops: RegionLoops

    def __post_init__(self) -> None:
        # Of each value: its numbers by the indices of the loops that it depends on.
        self._values: dict[ir.Value, dict[Indices, Any]] = {}

    def run(self, load: Load) -> None:
        """Computes every value of the region."""
        for number, argument in enumerate(self.op.regions[0].blocks[0].arguments):
            if any(True for _ in argument.uses):
                self._values[argument] = {
                    self._key(argument, point): load(number, point)
                    for point in self.points(self.loops.of(argument))
                }
        *work, _ = [each.operation for each in self.op.regions[0].blocks[0]]
        for inner in work:
            if inner.name == SCAN:
                self._scan(inner)
            elif inner.name in COLLECTIVE:
                self._reduce(inner)
            else:
                self._run_everywhere(inner)

    def points(self, loops: frozenset[int]) -> Iterator[Indices]:
        """Yields the points where some loops have every index and the others 0, the
        last fastest.
        """
        ranges = [
            range(bound) if loop in loops else range(1) for loop, bound in enumerate(self.bounds)
        ]
        return product(*ranges)

    def value(self, value: ir.Value, point: Indices) -> Any:
        """Returns a value at a point; one from outside of the region is the same at all."""
        if value not in self._values:
            return self.frame.value(value)
        return self._values[value][self._key(value, point)]

    def _key(self, value: ir.Value, point: Indices) -> Indices:
        return tuple(point[loop] for loop in sorted(self.loops.of(value)))

    def _run_everywhere(self, op: ir.Operation) -> None:
        used = self.loops.inputs(op)
        for result in op.results:
            self._values[result] = {}
        for point in self.points(self.loops.around(op)):
            for value in used:
                self.frame.values[value] = self.value(value, point)
            self.frame.points.append(point)
            self.frame.run(op)
            self.frame.points.pop()
            for result in op.results:
                self._values[result][self._key(result, point)] = self.frame.value(result)

    def _reduce(self, op: ir.Operation) -> None:
        kind, loops, operand = kind_of(op), collected_loops(op), op.operands[0]
        for result in op.results:
            self._values[result] = {}
        for point in self.points(self.loops.around(op)):
            found, place = neutral(kind, operand.type), 0
            for number, indices in enumerate(
                product(*(range(self.bounds[each]) for each in loops))
            ):
                value = self.value(operand, _moved(point, loops, indices))
                if len(op.results) > 1 and _precedes(kind, operand.type, value, found):
                    found, place = value, number
                elif len(op.results) == 1:
                    found = combine(kind, operand.type, found, value)
            for result, value in zip(op.results, (found, place), strict=False):
                self._values[result][self._key(result, point)] = value

    def _scan(self, op: ir.Operation) -> None:
        (loop,) = collected_loops(op)
        kind, operand, result = kind_of(op), op.operands[0], op.results[0]
        self._values[result] = {}
        indices = range(self.bounds[loop])
        for point in self.points(self.loops.around(op) - {loop}):
            running = neutral(kind, operand.type)
            for index in reversed(indices) if "reverse" in op.attributes else indices:
                here = _moved(point, [loop], [index])
                following = combine(kind, operand.type, running, self.value(operand, here))
                is_exclusive = "exclusive" in op.attributes
                self._values[result][self._key(result, here)] = (
                    running if is_exclusive else following
                )
                running = following


def _moved(point: Indices, loops: Sequence[int], indices: Sequence[int]) -> Indices:
    """Returns the point with other indices of some loops."""
    moved = list(point)
    for loop, index in zip(loops, indices, strict=True):
        moved[loop] = index
    return tuple(moved)


def _precedes(kind: str, value_type: ir.Type, a: Any, b: Any) -> bool:
    """Returns whether `a` is more extreme than `b`; zeros are equal."""
    is_equal = a == b or (a != a and b != b)
    chosen = combine(kind, value_type, a, b)
    return not is_equal and (chosen == a or (chosen != chosen and a != a))
