"""Which functions of a gpu.module can run when one of them does."""

from __future__ import annotations

from ..dialects.mlir import ir

_FUNCTIONS = ("gpu.func", "func.func", "llvm.func")


def functions_by_name(module: ir.Operation) -> dict[str, ir.Operation]:
    """Returns the functions of a gpu.module, in whichever dialect."""
    return {
        ir.StringAttr(child.operation.attributes["sym_name"]).value: child.operation
        for child in module.regions[0].blocks[0]
        if child.operation.name in _FUNCTIONS
    }


def reachable_functions(
    start: ir.Operation, functions: dict[str, ir.Operation]
) -> list[ir.Operation]:
    """`start` and what it names, directly or through others: calls, and addresses for calls."""
    found = [start]
    for function in found:
        for name in _named_symbols(function):
            callee = functions.get(name)
            if callee is not None and callee not in found:
                found.append(callee)
    return found


def _named_symbols(function: ir.Operation) -> list[str]:
    names: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        for name in op.attributes:
            value = op.attributes[name]
            if isinstance(value, ir.FlatSymbolRefAttr):
                names.append(value.value)
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return names
