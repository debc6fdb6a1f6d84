"""One linalg.generic that may become part of a fused one: what it reads, writes and goes over."""

from __future__ import annotations

from ...dialects.hir.loop_operation import loops_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..walking import operations_where
from .access import Access
from .generic import COLLECTIVE, accesses_of, inputs_of, loop_count
from .sizes import Size, Sizes

# What a GPU computes by several instructions: not to be done again for each element. Divisions of
# integers, moreover, are not to be done of numbers that are no elements.
_EXPENSIVE = ("arith.divf", "arith.remf")
_INTEGER_DIVISIONS = ("divs", "divu", "rems", "remu", "ceildiv", "floordiv")
_CHEAP_MATH = ("math.absf", "math.absi", "math.fma", "math.copysign", "math.ctpop")


@dataclass(frozen=True, eq=False)
class Node:
    """A normalized linalg.generic, at `position` in its block.

    `writes` have the results as values. `reduced` are the loops that reduce_loops and find_loops
    of its region go over, `scanned` those of scan_loop. `operations` counts those of its region.
    """

    op: ir.Operation
    position: int
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    extents: tuple[Size, ...]
    reduced: frozenset[int]
    scanned: frozenset[int]
    expensive: str | None
    captured: frozenset[ir.Value]
    operations: int

    @property
    def loops(self) -> int:
        return len(self.extents)

    @property
    def collective(self) -> bool:
        """Whether it needs several iterations at once."""
        return bool(self.reduced or self.scanned)


def read_node(op: ir.Operation, position: int, sizes: Sizes) -> Node:
    """Returns what a normalized linalg.generic is for fusion."""
    accesses = accesses_of(op)
    count = len(inputs_of(op))
    writes = tuple(
        Access(result, each.index)
        for result, each in zip(op.results, accesses[count:], strict=True)
    )
    collective = operations_where(op, lambda inner: inner.name in COLLECTIVE)
    scanned = {
        loop for each in collective if each.name == "hir.scan_loop" for loop in loops_of(each)
    }
    reduced = {
        loop for each in collective if each.name != "hir.scan_loop" for loop in loops_of(each)
    }
    return Node(
        op,
        position,
        tuple(accesses[:count]),
        writes,
        sizes.extents(accesses, loop_count(op)),
        frozenset(reduced),
        frozenset(scanned),
        _expensive(op),
        frozenset(_captured(op)),
        len(operations_where(op, lambda inner: inner != op)),
    )


def is_integer_division(name: str) -> bool:
    """Returns whether an operation by that name divides integers: by 0 it is undefined."""
    return name.partition(".")[2].startswith(_INTEGER_DIVISIONS)


def _expensive(op: ir.Operation) -> str | None:
    found = operations_where(
        op,
        lambda inner: (
            inner.name in _EXPENSIVE
            or is_integer_division(inner.name)
            or (inner.name.startswith("math.") and inner.name not in _CHEAP_MATH)
            or inner.name == "tensor.extract"
        ),
    )
    return found[0].name if found else None


def _captured(op: ir.Operation) -> list[ir.Value]:
    """Returns the values that the region uses of what is outside."""
    inside = operations_where(op, lambda inner: inner != op)
    own = {result for inner in inside for result in inner.results}
    for inner in (op, *inside):
        for region in inner.regions:
            for block in region:
                own |= set(block.arguments)
    return [value for inner in inside for value in inner.operands if value not in own]
