"""Divisors that the host knows, such as a row's length: a kernel is given their reciprocals."""

from __future__ import annotations

from math import frexp

from ...dialects.mlir import ir
from ..constants import float_constant
from ..fusion.node import is_integer_division
from ..walking import defining_operation
from .division import Divisor
from .parameters import Parameters
from .region_operations import cloned, is_outside, needed_by
from .work import Work


def is_given(work: Work, divisor: ir.Value) -> bool:
    """Returns whether the host knows a divisor of the region, and dividing by it is worth a
    reciprocal.

    So it is where threads wait for one another's quotients, after a reduction.
    """
    if not work.collectives or not isinstance(divisor.type, ir.F32Type | ir.F64Type):
        return False
    constant = float_constant(divisor)
    if constant is not None:
        # LLVM multiplies by the inverse of a power of two, which is exact.
        return constant != 0 and abs(frexp(constant)[0]) != 0.5
    return _is_known(work, divisor)


def given_divisor(work: Work, divisor: ir.Value, parameters: Parameters) -> Divisor:
    """The divisor in a kernel."""
    if float_constant(divisor) is not None:
        return Divisor.of(defining_operation(divisor).clone().results[0])

    def given(part: str) -> ir.Value:
        return parameters.computed(
            (part, divisor),
            divisor.type,
            lambda _: getattr(Divisor.of(_on_host(work, divisor, {})), part),
        )

    # The reciprocals of integers are normal numbers.
    scale = None if _is_integer(divisor) else given("scale")
    return Divisor(given("value"), given("reciprocal"), scale)


def _is_integer(value: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block):
        return False
    return defining_operation(value).name in ("arith.sitofp", "arith.uitofp")


def _is_known(work: Work, value: ir.Value) -> bool:
    if is_outside(work, value):
        return True
    if isinstance(value.owner, ir.Block):
        return False
    op = defining_operation(value)
    is_plain = op.name.startswith(("arith.", "math.")) and not is_integer_division(op.name)
    if not is_plain or not all(map(_has_host_type, [*op.operands, *op.results])):
        return False
    return all(_is_known(work, operand) for operand in op.operands)


def _has_host_type(value: ir.Value) -> bool:
    """Returns whether host code computes with such numbers; it has no floats of fewer bits."""
    return not isinstance(value.type, ir.FloatType) or isinstance(
        value.type, ir.F32Type | ir.F64Type
    )


def _on_host(work: Work, value: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """A value of the region, computed by the host."""
    if is_outside(work, value):
        return value
    if value not in known:
        op = defining_operation(value)
        values = {each: _on_host(work, each, known) for each in needed_by(op)}
        known.update(zip(op.results, cloned(op, values).results, strict=True))
    return known[value]
