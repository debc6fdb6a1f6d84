"""Which compute operations with a `stream_axis` share a loop."""

from __future__ import annotations

from dataclasses import field

from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ..compute_ops import COMPUTE_OPS, destination_of, inputs_of, output_of, rank_of
from ..extents import Known
from ..memory.owners import Owners
from .plan import Part, StreamPlan, plan_of

# What neither reads nor writes elements: it may come before the loop as well as after.
_NO_ELEMENTS = frozenset(
    {
        "memref.dim",
        "memref.cast",
        "builtin.unrealized_conversion_cast",
        *(f"hir.{op}" for op in ("select", "slice", "permute", "reshape", "expand", "allocate")),
    }
)
_SCALAR_DIALECTS = ("arith", "math", "index")


@dataclass
class StreamGroup:
    """Operations of one extent that run in one loop, in their order."""

    owners: Owners
    plans: list[StreamPlan] = field(default_factory=list[StreamPlan])
    reads: list[tuple[ir.Value, Part]] = field(default_factory=list[tuple[ir.Value, Part]])
    writes: list[tuple[ir.Value, Part]] = field(default_factory=list[tuple[ir.Value, Part]])

    def take(self, plan: StreamPlan) -> None:
        """Adds an operation at the end."""
        self.plans.append(plan)
        self.reads += _buffers(plan)
        self.writes.append((output_of(plan.op), plan.output))

    def admits(self, plan: StreamPlan) -> bool:
        """Returns whether an iteration of `plan` needs no other iteration of the
        operations so far.
        """
        if plan.extent != self.plans[0].extent:
            return False
        output = (output_of(plan.op), plan.output)
        reads_fit = all(
            self._same_place(read, write) for read in _buffers(plan) for write in self.writes
        )
        return reads_fit and all(self._same_place(output, one) for one in self.reads + self.writes)

    def lets_pass(self, op: ir.Operation) -> bool:
        """Returns whether `op`, which comes after the group's operations, may as well come before
        them.
        """
        if op.name in _NO_ELEMENTS or op.name.partition(".")[0] in _SCALAR_DIALECTS:
            return True
        if op.name not in COMPUTE_OPS:
            return False
        reads = [value for value in inputs_of(op) if rank_of(value) is not None]
        destination = destination_of(op)
        written = [] if destination is None else [destination]
        touched = [value for value, _ in self.writes]
        return not any(
            self._may_overlap(mine, other) for mine in reads + written for other in touched
        ) and not any(self._may_overlap(mine, other) for mine in written for other, _ in self.reads)

    def _may_overlap(self, first: ir.Value, second: ir.Value) -> bool:
        return not self.owners.roots(first).isdisjoint(self.owners.roots(second))

    def _same_place(self, first: tuple[ir.Value, Part], second: tuple[ir.Value, Part]) -> bool:
        """Returns whether two accesses touch the same memory in the same iterations alone."""
        (value, part), (other, other_part) = first, second
        if not self._may_overlap(value, other):
            return True
        return value == other and part.axis is not None and part.axis == other_part.axis


def stream_groups(block: ir.Block, owners: Owners, known: Known) -> list[StreamGroup]:
    """Returns the groups of a block, in order; not those of the regions within.

    `known` has sizes of the program's buffers, and is added to.
    """
    groups: list[StreamGroup] = []
    current: StreamGroup | None = None
    for view in block:
        op = view.operation
        if op.name in COMPUTE_OPS and "stream_axis" in op.attributes:
            plan = plan_of(op, known)
            if current is None or not current.admits(plan):
                current = StreamGroup(owners)
                groups.append(current)
            current.take(plan)
        elif current is not None and not current.lets_pass(op):
            current = None
    return groups


def _buffers(plan: StreamPlan) -> list[tuple[ir.Value, Part]]:
    operands = zip(inputs_of(plan.op), plan.inputs, strict=True)
    return [(value, part) for value, part in operands if rank_of(value) is not None]
