"""hir.unary."""

from __future__ import annotations

from ....dialects.hir.kinds import UNARY
from ....dialects.mlir import ir
from .kinds import kind_name, lower_kind
from .registry import lowers


@lowers("hir.unary")
def lower_unary(op: ir.Operation) -> ir.Operation:
    """Returns an elementwise function of one operand."""
    return lower_kind(op, UNARY[kind_name(op)], 1)
