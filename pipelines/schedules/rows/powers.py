"""Softmax's powers, where an approximation is as good as the exact function."""

from __future__ import annotations

from ....dialects.mlir import ir
from ..division import is_rounded_further
from ..work import Work
from .exponential_sum import greatest_below

_APPROXIMATE = "#arith.fastmath<afn>"


def relax_powers(work: Work) -> None:
    """Lets powers exp(x - greatest x) be approximate that are summed, or rounded to 16 bits.

    With d below the greatest, exp2.approx of d * log2(e) is off by about (d + 2) * 2^-23 of the
    power. Of a sum, in which one power is 1, that is 2^-22 at most; of a value rounded to 16 bits
    it is nothing.
    """
    for inner in work.block:
        op = inner.operation
        if (
            op.name == "math.exp"
            and isinstance(op.results[0].type, ir.F32Type)
            and greatest_below(op) is not None
            and all(_takes_it(use.owner.operation, op) for use in op.results[0].uses)
        ):
            op.attributes["fastmath"] = ir.Attribute.parse(_APPROXIMATE)


def _takes_it(user: ir.Operation, power: ir.Operation) -> bool:
    if user.name == "hir.reduce_loops":
        return ir.StringAttr(user.attributes["kind"]).value == "addf"
    if user.name in ("arith.divf", "arith.mulf") and user.operands[0] == power.results[0]:
        return is_rounded_further(user.results[0])
    return user.name == "arith.truncf"
