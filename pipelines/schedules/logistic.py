"""One more than a hyperbolic tangent, as the logistic function that it is."""

from __future__ import annotations

from math import e, log2

from ...dialects import mlir
from ...dialects.mlir import arith, ir
from ..rewriting import constant
from .work import Work


def use_logistic(work: Work) -> None:
    """Makes tanh(u) + 1 of f32 2 / (1 + exp(-2u)), as it is in an approximate gelu.

    It is less work, and more exact: far below 0 the sum is of numbers that are nearly opposite.
    """
    for op in [each.operation for each in work.block]:
        tangent = _other_operand(op, "arith.addf", 1.0)
        if tangent is None or tangent.name != "math.tanh":
            continue
        (argument,) = tangent.operands
        if not isinstance(argument.type, ir.F32Type):
            continue
        with ir.InsertionPoint(op), op.location:
            exponent = arith.mulf(argument, constant(argument.type, -2 * log2(e)))
            below = arith.addf(
                mlir.nvvm.Ex2Op(exponent, ftz=True).result, constant(argument.type, 1.0)
            )
            half = mlir.nvvm.RcpApproxFtzF32Op(below).result
            users = [use.owner.operation for use in op.results[0].uses]
            if all(_other_operand(user, "arith.mulf", 0.5) is not None for user in users):
                for user in users:
                    user.results[0].replace_all_uses_with(half)
            else:
                two = constant(argument.type, 2.0)
                op.results[0].replace_all_uses_with(arith.mulf(half, two))


def _other_operand(op: ir.Operation, name: str, number: float) -> ir.Operation | None:
    """Returns what computes the other operand of an operation of that name with a constant."""
    if op.name != name:
        return None
    for one, other in (op.operands, reversed(list(op.operands))):
        if _is_constant(one, number) and not isinstance(other.owner, ir.Block):
            return other.owner.operation
    return None


def _is_constant(value: ir.Value, number: float) -> bool:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    attribute = value.owner.operation.attributes["value"]
    return isinstance(attribute, ir.FloatAttr) and attribute.value == number
