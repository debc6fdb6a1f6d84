"""One linalg.generic that may become part of a fused one: what it reads, writes and goes over."""

from __future__ import annotations

from dataclasses import field

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


@dataclass(frozen=True)
class Accesses:
    """A node's reads and writes, with its loops renumbered."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


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
    # A cache: most groups renumber a node as a group before did.
    _accesses: dict[tuple[int, ...], Accesses] = field(
        default_factory=dict[tuple[int, ...], Accesses]
    )

    @property
    def loops(self) -> int:
        return len(self.extents)

    @property
    def collective(self) -> bool:
        """Whether it needs several iterations at once."""
        return bool(self.reduced or self.scanned)

    def in_loops(self, names: tuple[int, ...]) -> Accesses:
        """Returns the reads and writes with loop i renumbered as names[i]."""
        found = self._accesses.get(names)
        if found is None:
            reads = tuple(each.renamed(names) for each in self.reads)
            found = Accesses(reads, tuple(each.renamed(names) for each in self.writes))
            self._accesses[names] = found
        return found


def read_node(
    op: ir.Operation, position: int, sizes: Sizes, accesses: list[Access] | None = None
) -> Node:
    """Returns what a normalized linalg.generic is for fusion; `accesses` are its, where known."""
    if accesses is None:
        accesses = accesses_of(op)
    count = len(inputs_of(op))
    writes = tuple(
        Access(result, each.index)
        for result, each in zip(op.results, accesses[count:], strict=True)
    )
    _, *inside = operations_where(op, lambda _: True)
    collective = [inner for inner in inside if inner.name in COLLECTIVE]
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
        next((inner.name for inner in inside if _is_expensive(inner.name)), None),
        frozenset(_captured(op, inside)),
        len(inside),
    )


def is_integer_division(name: str) -> bool:
    """Returns whether an operation by that name divides integers: by 0 it is undefined."""
    return name.partition(".")[2].startswith(_INTEGER_DIVISIONS)


def _is_expensive(name: str) -> bool:
    return (
        name in _EXPENSIVE
        or is_integer_division(name)
        or (name.startswith("math.") and name not in _CHEAP_MATH)
        or name == "tensor.extract"
    )


def _captured(op: ir.Operation, inside: list[ir.Operation]) -> list[ir.Value]:
    """Returns the values that the region uses of what is outside."""
    own = {result for inner in inside for result in inner.results}
    for inner in (op, *inside):
        for region in inner.regions:
            for block in region:
                own |= set(block.arguments)
    return [value for inner in inside for value in inner.operands if value not in own]
