"""Making and reading attributes."""

from __future__ import annotations

from ..dialects.mlir import ir


def i64_attribute(value: int) -> ir.Attribute:
    """Returns an integer of 64 bits."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def entries_of(dictionary: ir.Attribute) -> dict[str, ir.Attribute]:
    """Returns a dictionary's entries by name."""
    return {entry.name: entry.attr for entry in ir.DictAttr(dictionary)}


def function_type(function: ir.Operation) -> ir.FunctionType:
    """Returns what a function takes and gives."""
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
