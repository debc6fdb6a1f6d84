"""Numbers known at compile time."""

from __future__ import annotations

from ..dialects.mlir import ir

_CASTS = ("arith.index_cast", "arith.index_castui")


def constant_value(value: ir.Value) -> int | None:
    """Returns the integer an arith, index or llvm constant gives `value`, or None."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if owner.operation.name in _CASTS:
        known = constant_value(owner.operands[0])
        is_signed = owner.operation.name == _CASTS[0]
        # Less than 0 is a large number without a sign, which the type of the constant says.
        return known if known is None or known >= 0 or is_signed else None
    if owner.operation.name not in ("arith.constant", "index.constant", "llvm.mlir.constant"):
        return None
    attribute = owner.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def float_constant(value: ir.Value) -> float | None:
    """Returns the number that an arith.constant of a float gives, or None."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return attribute.value if isinstance(attribute, ir.FloatAttr) else None
