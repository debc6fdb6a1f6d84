"""Names of symbols in a module."""

from __future__ import annotations

from ..dialects.mlir import ir


def fresh_symbol(module: ir.Operation, name: str) -> str:
    """`name`, or `name_1` and so on where an operation of the module has it already."""
    taken = {
        ir.StringAttr(op.operation.attributes["sym_name"]).value
        for op in module.regions[0].blocks[0]
        if "sym_name" in op.operation.attributes
    }
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
