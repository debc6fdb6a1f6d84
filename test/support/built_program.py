"""What tests look at in a program that was built in Python."""

from __future__ import annotations

from hirc.dialects.hir.builder import Program
from hirc.dialects.mlir import ir


def operations(program: Program) -> list[ir.Operation]:
    """Every operation of the module, those around others before them."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    program.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def last(program: Program, name: str) -> str:
    """The text of the last operation called `name`."""
    return str([op for op in operations(program) if op.name == name][-1])
