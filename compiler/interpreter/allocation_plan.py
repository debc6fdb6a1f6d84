"""The sizes, strides and memory of hir.allocate and hir.reuse."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.hir.domain import Plan, plan_of_integers
from ...dialects.hir.domain_steps import DomainError, read_domain
from ...dialects.mlir import ir
from . import fault


def plan_of(op: ir.Operation, open_sizes: Sequence[int]) -> Plan[int]:
    """Returns the plan of an allocation whose open logical sizes these are."""
    if any(size < 0 for size in open_sizes):
        fault.fail(op, f"a size of an allocation is negative: {list(open_sizes)}")
    shaped = op.results[0].type
    assert isinstance(shaped, ir.MemRefType)
    try:
        return plan_of_integers(read_domain(op, shaped.shape), open_sizes)
    except DomainError as error:
        fault.fail(op, str(error))
