"""Narrow floats are accumulated in f32: extended before, truncated after."""

from __future__ import annotations

from ...dialects.mlir import ir

# Marks the rounding of what was accumulated, which no operation of the program asked for.
MARK = "hir.accumulated"


def accumulator_type(element: ir.Type) -> ir.Type:
    """Returns the type in which values of a type are combined."""
    if isinstance(element, ir.FloatType) and ir.FloatType(element).width < 32:
        return ir.F32Type.get()
    return element


def extended(value: ir.Value) -> ir.Value:
    """Returns a value in the type that it is accumulated in."""
    wide = accumulator_type(value.type)
    return value if wide == value.type else _cast("arith.extf", value, wide)


def truncated(value: ir.Value, element: ir.Type) -> ir.Value:
    """Returns an accumulated value in the type that the program has it in."""
    if element == value.type:
        return value
    return ir.Operation.create(
        "arith.truncf",
        results=[element],
        operands=[value],
        attributes={MARK: ir.UnitAttr.get()},
    ).results[0]


def _cast(name: str, value: ir.Value, result: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[result], operands=[value]).results[0]
