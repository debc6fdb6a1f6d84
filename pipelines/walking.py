"""Finding operations before any of them is changed, what gives a value, and whether it is used."""

from __future__ import annotations

from collections.abc import Callable

from ..dialects.mlir import ir


def operations_where(
    root: ir.Operation, condition: Callable[[ir.Operation], bool]
) -> list[ir.Operation]:
    """Returns the operations within `root` that meet the condition, in the order of the source."""
    if not len(root.regions):
        # To begin a walk takes three times as long.
        return [root] if condition(root) else []
    found: list[ir.Operation] = []
    # A look-up for each operation of a large module is a fifth of the walk.
    add, advance = found.append, ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        if condition(op):
            add(op)
        return advance

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def has_operation(root: ir.Operation, condition: Callable[[ir.Operation], bool]) -> bool:
    """Returns whether an operation within `root` meets the condition."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = condition(op)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def host_operations_where(
    module: ir.Operation, condition: Callable[[ir.Operation], bool]
) -> list[ir.Operation]:
    """Returns the same of a program's host side: what lies within a gpu.module is left out."""
    return [
        op
        for child in module.regions[0].blocks[0]
        if child.operation.name != "gpu.module"
        for op in operations_where(child.operation, condition)
    ]


def is_used(value: ir.Value) -> bool:
    """Returns whether any operation takes a value."""
    return next(iter(value.uses), None) is not None


def made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    """Returns the operation of one of the names that gives a value; None where another one does."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name not in names:
        return None
    return owner.operation


def defining_op(value: ir.Value) -> ir.Operation | None:
    """Returns the operation that gives a value; None for the argument of a block."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def defining_operation(value: ir.Value) -> ir.Operation:
    """Returns the operation that gives a value, which is no argument of a block."""
    op = defining_op(value)
    assert op is not None
    return op
