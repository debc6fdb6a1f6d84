"""The dim that a tensor.dim or memref.dim asks for."""

from __future__ import annotations

from ..dialects.mlir import ir
from .constants import constant_value
from .pass_base import fail


def axis_fault(op: ir.Operation) -> str | None:
    """Why the type has no dim of the number asked for; None where it has, or may have, one."""
    axis, kind = constant_value(op.operands[1]), op.operands[0].type
    if axis is None or not isinstance(kind, ir.ShapedType) or not kind.has_rank:
        return None
    if 0 <= axis < kind.rank:
        return None
    return f"{op.name} of dim {axis}: {kind} has {kind.rank} dims, numbered from 0"


def dim_axis(op: ir.Operation) -> int | None:
    """Returns the dim's number, or None where it is known in the run alone. Fails where there is
    none.
    """
    fault = axis_fault(op)
    if fault is not None:
        fail(op, fault)
    return constant_value(op.operands[1])
