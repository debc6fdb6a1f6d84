"""hir.ternary."""

from __future__ import annotations

from ....dialects.hir.kinds import TERNARY
from ....dialects.mlir import ir
from .kinds import kind_name, lower_kind
from .registry import lowers


@lowers("hir.ternary")
def lower_ternary(op: ir.Operation) -> ir.Operation:
    """Returns an elementwise function of three operands."""
    return lower_kind(op, TERNARY[kind_name(op)], 3)
