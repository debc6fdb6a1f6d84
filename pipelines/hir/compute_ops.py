"""The compute operations: those of hir whose result goes to a destination or a fresh buffer."""

from __future__ import annotations

from ...dialects.mlir import ir

COMPUTE_OPS = frozenset(
    f"hir.{name}" for name in ("set", "unary", "binary", "ternary", "reduce", "matmul", "linear")
)
ELEMENTWISE_OPS = frozenset(f"hir.{name}" for name in ("set", "unary", "binary", "ternary"))


def inputs_of(op: ir.Operation) -> list[ir.Value]:
    """Returns the operands that are read: all but the destination."""
    operands = list(op.operands)
    return operands if len(op.results) else operands[:-1]


def destination_of(op: ir.Operation) -> ir.Value | None:
    """Returns the buffer handed in for the result, or None where the operation gives
    a fresh one.
    """
    return None if len(op.results) else op.operands[len(op.operands) - 1]


def output_of(op: ir.Operation) -> ir.Value:
    """Returns what is written: the destination, or the result."""
    destination = destination_of(op)
    return op.results[0] if destination is None else destination


def rank_of(value: ir.Value) -> int | None:
    """Returns the number of dims of a buffer or tensor; None for a scalar."""
    return value.type.rank if isinstance(value.type, ir.ShapedType) else None
