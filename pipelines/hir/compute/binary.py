"""hir.binary."""

from __future__ import annotations

from ....dialects.hir.kinds import BINARY
from ....dialects.mlir import ir
from .kinds import kind_name, lower_kind
from .registry import lowers


@lowers("hir.binary")
def lower_binary(op: ir.Operation) -> ir.Operation:
    """Returns an elementwise function of two operands."""
    return lower_kind(op, BINARY[kind_name(op)], 2)
