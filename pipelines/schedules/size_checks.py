"""Run-time checks that an operation's operands have the sizes its loops ask for."""

from __future__ import annotations

from ...dialects.mlir import ir, memref
from ..rewriting import index_constant
from ..size_assertions import assert_equal
from .iteration import Extent, Iteration, is_static, loop_of


def emit_size_checks(op: ir.Operation, iteration: Iteration) -> None:
    """Emits assertions that operands indexed by one loop agree in size, where sizes are open.

    The verifier compares known sizes. Only dims that a loop indexes directly are compared:
    pipelines/hir/access_checks.py checks computed indices, before operations are fused.
    """
    for loop, chosen in enumerate(iteration.extents):
        for operand, map_ in enumerate(iteration.maps):
            for axis, expression in enumerate(map_.results):
                if loop_of(expression) == loop and (operand, axis) != (chosen.operand, chosen.axis):
                    _check(op, chosen, Extent(operand, axis))


def _check(op: ir.Operation, chosen: Extent, other: Extent) -> None:
    if is_static(op, chosen) and is_static(op, other):
        return
    text = (
        f"dim {chosen.axis} of operand {chosen.operand} and dim {other.axis} of operand "
        f"{other.operand} are one loop of {op.name} and must have the same size"
    )
    assert_equal(_size(op, chosen), _size(op, other), text, "{0} and {1}")


def _size(op: ir.Operation, place: Extent) -> ir.Value:
    return memref.dim(op.operands[place.operand], index_constant(place.axis))
