"""Names of symbols in a module."""

from __future__ import annotations

from collections.abc import Callable

from ..dialects.mlir import ir


def fresh_symbol(module: ir.Operation, name: str) -> str:
    """`name`, or `name_1` and so on where an operation of the module has it already."""
    return fresh_name(name, symbols_of(module).__contains__)


def symbol_name(op: ir.Operation) -> str:
    """Returns the name of a symbol."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def symbols_of(module: ir.Operation) -> set[str]:
    """Returns the names of a module's symbols."""
    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value
        for op in module.regions[0].blocks[0]
        if "sym_name" in op.operation.attributes
    }


def fresh_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """`name`, or the first of `name_1` and so on that is not taken."""
    candidate, number = name, 0
    while is_taken(candidate):
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def make_room_for_main(module: ir.Operation, function: ir.Operation, name: str) -> None:
    """Renames the function `main`, so that C's main can be defined."""
    ir.SymbolTable.replace_all_symbol_uses("main", name, module)
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
