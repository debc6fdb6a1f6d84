"""The operations of a linalg.generic's region, and what they take."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..fusion.node import is_integer_division
from ..walking import made_by, operations_where
from .launch import is_within
from .work import Work

# Operations that do nothing but compute, but for divisions of integers, which may fail.
_HARMLESS = ("arith.", "math.", "nvvm.", "linalg.index", "linalg.yield", "hir.reduce_", "hir.find_")


def is_harmless(work: Work) -> bool:
    """Returns whether the region takes any numbers: it divides no integers, loads nothing."""
    return all(is_harmless_operation(inner.operation.name) for inner in work.block)


def is_harmless_operation(name: str) -> bool:
    """Returns whether an operation of this name takes any numbers."""
    return name.startswith(_HARMLESS) and not is_integer_division(name)


def is_outside(work: Work, value: ir.Value) -> bool:
    """Returns whether a value is the host's."""
    owner = value.owner
    op = owner.owner if isinstance(owner, ir.Block) else owner
    return not is_within(op.operation, work.op)


def needed_by(op: ir.Operation) -> list[ir.Value]:
    """The values from outside of `op` that it and the operations in its regions take."""
    if not len(op.regions):
        return list(op.operands)
    needed: list[ir.Value] = []
    for inner in operations_where(op, lambda _: True):
        for operand in inner.operands:
            owner = operand.owner
            holder = owner.owner if isinstance(owner, ir.Block) else owner
            if inner == op or not is_within(holder.operation, op):
                needed.append(operand)
    return needed


def cloned(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
    """The operation again, with other values for what it needs."""
    clone = op.clone()
    for inner in operations_where(clone, lambda _: True):
        for place, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[place] = values[operand]
    return clone


def load_in(op: ir.Operation) -> ir.Operation | None:
    """Returns the load that an scf.if yields, whose other branch computes nothing."""
    if op.name != "scf.if" or len(op.results) != 1 or not len(op.regions[1].blocks):
        return None
    inner = [each.operation for each in op.regions[0].blocks[0]]
    if [each.name for each in inner] != ["memref.load", "scf.yield"]:
        return None
    if len(list(op.regions[1].blocks[0])) != 1 or inner[1].operands[0] != inner[0].results[0]:
        return None
    return inner[0]


def otherwise_of(op: ir.Operation) -> ir.Value:
    """Returns what such an scf.if yields where the condition does not hold."""
    return next(iter(op.regions[1].blocks[0])).operation.operands[0]


def conditions_in(value: ir.Value) -> list[ir.Value]:
    """Returns the conditions that all must hold for one to."""
    both = made_by(value, "arith.andi")
    if both is None:
        return [value]
    return [each for term in both.operands for each in conditions_in(term)]
