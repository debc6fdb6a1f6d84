"""The loops that a value in a linalg.generic's region varies with: for each index it has a number.

The interpreter's own reading, of the definition alone; the compiler has another.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from .nested import operations_in

REDUCE, FIND, SCAN = "hir.reduce_loops", "hir.find_loops", "hir.scan_loop"
COLLECTIVE = frozenset({REDUCE, FIND, SCAN})


def kind_of(op: ir.Operation) -> str:
    """Returns what a collective operation combines by."""
    return ir.StringAttr(op.attributes["kind"]).value


def collected_loops(op: ir.Operation) -> list[int]:
    """Returns the loops that a collective operation goes along, slowest first."""
    if op.name == SCAN:
        return [ir.IntegerAttr(op.attributes["loop"]).value]
    return [int(loop) for loop in ir.DenseI64ArrayAttr(op.attributes["loops"])]


def loops_read(expression: ir.AffineExpr) -> frozenset[int]:
    """Returns the loops whose index an expression has in it."""
    if isinstance(expression, ir.AffineDimExpr):
        return frozenset({expression.position})
    if isinstance(expression, ir.AffineBinaryExpr):
        return loops_read(expression.lhs) | loops_read(expression.rhs)
    return frozenset()


def loops_of_map(map_: ir.AffineMap) -> frozenset[int]:
    """Returns the loops that the place of an element depends on."""
    return frozenset[int]().union(*(loops_read(result) for result in map_.results))


class RegionLoops:
    """Asks each value where it comes from; `maps` are those of the block's arguments."""

    def __init__(self, block: ir.Block, maps: Sequence[ir.AffineMap]) -> None:
        self._block = block
        self._of_arguments = [loops_of_map(map_) for map_ in maps]
        self._found: dict[ir.Value, frozenset[int]] = {}

    def of(self, value: ir.Value) -> frozenset[int]:
        """Returns the loops along which a value may differ; none of one from outside
        of the region.
        """
        if value not in self._found:
            self._found[value] = self._look(value)
        return self._found[value]

    def is_inside(self, value: ir.Value) -> bool:
        """Returns whether it is a value of the region itself, and not of a region in it or around
        it.
        """
        owner = value.owner
        return (owner if isinstance(owner, ir.Block) else owner.operation.block) == self._block

    def inputs(self, op: ir.Operation) -> list[ir.Value]:
        """Returns the region's values that an operation uses, itself or inside."""
        used = (value for inner in operations_in(op) for value in inner.operands)
        return [value for value in dict.fromkeys(used) if self.is_inside(value)]

    def around(self, op: ir.Operation) -> frozenset[int]:
        """Returns the loops that an operation of the region is run once for each index of."""
        varies = frozenset[int]().union(*(self.of(value) for value in self.inputs(op)))
        for inner in operations_in(op):
            if inner.name == "linalg.index":
                varies |= {ir.IntegerAttr(inner.attributes["dim"]).value}
        if op.name == SCAN:
            return varies | set(collected_loops(op))
        return varies - set(collected_loops(op)) if op.name in COLLECTIVE else varies

    def _look(self, value: ir.Value) -> frozenset[int]:
        if not self.is_inside(value):
            return frozenset()
        if isinstance(value.owner, ir.Block):
            return self._of_arguments[ir.BlockArgument(value).arg_number]
        return self.around(value.owner.operation)
