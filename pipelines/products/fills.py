"""The zeros that a sum begins with: written just before, they need not be written at all."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..walking import operations_where

# Operations that write nothing to memory that was there before.
_HARMLESS = ("arith.", "memref.dim", "hir.allocate")


def find_zero_fill(op: ir.Operation, buffer: ir.Value) -> ir.Operation | None:
    """The operation that fills `buffer` with zeros for `op` to add to; None where none does.

    None too where `op` multiplies the zeros.
    """
    if [_memory(value) for value in op.operands].count(_memory(buffer)) > 1:
        return None
    is_own = _is_own(buffer)
    for before in _backwards(op):
        if _fills_with_zeros(before, buffer):
            return before
        if not before.name.startswith(_HARMLESS) and not (
            is_own and _is_linalg_elsewhere(before, buffer)
        ):
            return None
    return None


def _memory(buffer: ir.Value) -> ir.Value:
    """The buffer that a view is of; any other value itself."""
    while not isinstance(buffer.owner, ir.Block):
        op = buffer.owner.operation
        if not len(op.operands) or not isinstance(op.operands[0].type, ir.MemRefType):
            break
        buffer = op.operands[0]
    return buffer


def _backwards(op: ir.Operation) -> list[ir.Operation]:
    """The operations before `op` in its block, the last one first."""
    block = op.block
    before: list[ir.Operation] = []
    for other in block:
        if other.operation == op:
            break
        before.append(other.operation)
    return before[::-1]


def _is_own(buffer: ir.Value) -> bool:
    """Whether the value alone stands for its memory: no view of it is there."""
    owner = buffer.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "hir.allocate":
        return False
    return not any(
        isinstance(result.type, ir.MemRefType)
        for use in buffer.uses
        for result in use.owner.operation.results
    )


def _is_linalg_elsewhere(op: ir.Operation, buffer: ir.Value) -> bool:
    """Whether a linalg operation, whatever it does, leaves the buffer alone."""
    return op.name.startswith("linalg.") and not operations_where(
        op, lambda inner: buffer in list(inner.operands)
    )


def _fills_with_zeros(op: ir.Operation, buffer: ir.Value) -> bool:
    if len(op.results) or not len(op.operands) or op.operands[len(op.operands) - 1] != buffer:
        return False
    if op.name == "linalg.fill":
        return is_zero(op.operands[0])
    if op.name != "linalg.generic":
        return False
    (end, *others) = op.regions[0].blocks[0].operations
    return (
        len(op.operands) == 1
        and not others
        and is_zero(end.operation.operands[0])
        and _writes_all(op)
    )


def _writes_all(op: ir.Operation) -> bool:
    (map_,) = ir.ArrayAttr(op.attributes["indexing_maps"])
    return ir.AffineMapAttr(map_).value.is_permutation


def is_zero(value: ir.Value) -> bool:
    """Whether a value is the constant 0 of a float type."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return False
    attribute = owner.operation.attributes["value"]
    return isinstance(attribute, ir.FloatAttr) and attribute.value == 0
