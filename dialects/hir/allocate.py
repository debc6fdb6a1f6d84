"""`hir.allocate`: a fresh buffer."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .dialect import Hir
from .domain import allocate_type
from .domain_steps import Domain, read_domain
from .refusal import refuse
from .team import are_teams
from .verify import (
    OperationError,
    attribute_of,
    buffer,
    check_open_sizes,
    check_same_or_more_open,
    check_unit,
    integer_of,
    result_of,
    verified,
)

MEMORY_KINDS = ("device", "pinned", "managed", "symmetric")


class AllocateOp(Hir.Operation, name="allocate"):
    """A fresh buffer of the result's type; `sizes` are the logical sizes the types leave open.

    Attributes, each optional: `order` (logical dims from outermost to innermost in memory) or
    `domain` (steps from logical dims to memory, see docs/host-ir.md), `logical` (the logical sizes
    where they are not the result's, -1 where one is open), `memory` ("device", "pinned", "managed"
    or "symmetric"), `zero_init` (unit), `output` (the number of the output it is: the caller's
    buffer where one was handed in).

    With a `team`, or `teams` as hir.communicator has them, symmetric memory is there on each device
    of the team, of one size, and the others reach it by hir.put and hir.get. All of the team
    allocate it; what follows starts once their streams have come there.

    Example:
      %y = "hir.allocate"(%n) {order = array<i64: 1, 0>, zero_init}
        : (index) -> memref<?x32xf32, strided<[1, ?]>>
    """

    sizes: Sequence[ext.Operand[ir.IndexType]]
    buffer: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "AllocateOp") -> bool:
        return verified(op, _check) and _has_its_team(op)


def _has_its_team(op: AllocateOp) -> bool:
    if "team" not in op.attributes and "teams" not in op.attributes:
        return True
    memory = op.attributes.get("memory", None)
    if not isinstance(memory, ir.StringAttr) or memory.value != "symmetric":
        return refuse(op, "a 'team' shares symmetric memory alone: write memory = \"symmetric\"")
    if "output" in op.attributes:
        return refuse(op, "memory that a team shares is the program's: copy it into an output")
    return are_teams(op)


def _check(op: AllocateOp) -> None:
    check_allocation(op, list(op.operation.operands))
    if "memory" in op.attributes:
        memory = attribute_of(op, "memory", ir.StringAttr, "a string").value
        if memory not in MEMORY_KINDS:
            raise OperationError(f"memory is one of {', '.join(MEMORY_KINDS)}, not '{memory}'")
    if "output" in op.attributes and integer_of(op, "output") < 0:
        raise OperationError(f"output is the number of an output, not {integer_of(op, 'output')}")


def check_allocation(op: ir.OpView, sizes: list[ir.Value]) -> Domain:
    """Returns what hir.allocate and hir.reuse have in common: sizes, order or domain, and the
    result.
    """
    result = buffer(result_of(op), "the result")
    domain = read_domain(op, result.shape)
    check_unit(op, "zero_init")
    check_open_sizes(len(sizes), domain.logical, "the logical sizes")
    check_same_or_more_open(op, allocate_type(domain, result.element_type))
    return domain
