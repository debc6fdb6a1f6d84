"""Terms that are no products: what is computed of two elements, as a difference's square.

They are summed as products are, by threads. What there is not of a tile's terms is 0 in both
factors, so that a term of zeros is to be 0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from math import fabs

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...rewriting import constant
from ...walking import defining_op, defining_operation
from ..region_operations import is_outside
from ..work import Work

# By names, what operations make of numbers.
_COMPUTED: Mapping[str, Callable[..., float]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.negf": float.__neg__,
    "arith.maximumf": max,
    "arith.minimumf": min,
    "arith.maxnumf": max,
    "arith.minnumf": min,
    "math.absf": fabs,
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
}
_MOST_OPERATIONS = 8


@dataclass(frozen=True, eq=False)
class Pair:
    """A `term` that operations of a region, in their order, compute of two `elements`."""

    term: ir.Value
    elements: tuple[ir.Value, ir.Value]
    ops: Sequence[ir.Operation]

    def emit(self, elements: Mapping[ir.Value, ir.Value]) -> ir.Value:
        """Emits the same of vectors, by the elements that they are of."""
        known = dict(elements)
        kind = next(iter(elements.values())).type
        for op in self.ops:
            operands = [
                known[each] if each in known else constant(kind, _constant(each))
                for each in op.operands
            ]
            attributes = {name: op.attributes[name] for name in op.attributes}
            made = ir.Operation.create(
                op.name, results=[kind], operands=operands, attributes=attributes
            )
            known[op.results[0]] = made.results[0]
        return known[self.term]


def read_pair(work: Work, term: ir.Value) -> Pair | None:
    """Returns how a term is computed of two elements; None of others, and of what is not 0 of
    zeros.
    """
    needed: set[ir.Operation] = set()
    elements: dict[ir.Value, float] = {}
    numbers: dict[ir.Value, float] = {}
    waiting = [term]
    while waiting:
        value = waiting.pop()
        op = defining_op(value)
        if value.type != term.type or (op is None and is_outside(work, value)):
            return None
        if op is None:
            elements[value] = 0.0
        elif op.name == "arith.constant":
            numbers[value] = _constant(value)
        elif op.name not in _COMPUTED:
            return None
        elif op not in needed:
            needed.add(op)
            waiting += op.operands
        if len(needed) > _MOST_OPERATIONS or len(elements) > 2:
            return None
    ops = [each.operation for each in work.block if each.operation in needed]
    if len(elements) != 2 or len(ops) != len(needed):
        return None
    numbers |= elements
    for op in ops:
        numbers[op.results[0]] = _COMPUTED[op.name](*(numbers[each] for each in op.operands))
    first, second = elements
    return Pair(term, (first, second), ops) if numbers[term] == 0 else None


def _constant(value: ir.Value) -> float:
    attribute = defining_operation(value).attributes["value"]
    assert isinstance(attribute, ir.FloatAttr | ir.IntegerAttr)
    return attribute.value
