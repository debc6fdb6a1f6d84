"""The zeros that a sum begins with: written just before, they need not be written at all."""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign

from ...dialects.mlir import ir
from ..hir.memory.owners import Owners, Roots
from ..walking import operations_where

# Operations that write nothing to memory that was there before.
_HARMLESS = ("arith.", "memref.dim", "hir.allocate")


class ZeroFills:
    """Finds what fills the results of products with zeros, in the operations of one program.

    Those that products have been replaced by meanwhile are not looked at: the replaced ones say the
    same of memory.
    """

    def __init__(self, program: ir.Operation) -> None:
        self._owners = Owners(program)
        self._before: dict[ir.Operation, tuple[list[ir.Operation], int]] = {}
        for block in _blocks(program):
            operations = [op.operation for op in block]
            self._before |= {op: (operations, place) for place, op in enumerate(operations)}

    def find(self, op: ir.Operation, buffer: ir.Value) -> ir.Operation | None:
        """Returns the operation that fills `buffer` with zeros for `op` to add to; None where none
        does.

        None too where `op` reads the zeros by another of its operands.
        """
        others = list(op.operands)
        others.remove(buffer)
        memory = self._owners.roots(buffer)
        if any(self._shares(other, memory) for other in others):
            return None
        operations, place = self._before[op]
        for before in reversed(operations[:place]):
            if _fills_with_zeros(before, buffer):
                return before
            if not before.name.startswith(_HARMLESS) and not self._leaves_alone(before, memory):
                return None
        return None

    def _leaves_alone(self, op: ir.Operation, memory: Roots) -> bool:
        """Returns whether an operation is one of linalg that neither reads nor writes the memory.

        Two inputs may be one memory: that is the caller's choice.
        """
        if not op.name.startswith("linalg."):
            return False
        of_inputs = any(root.is_input for root in memory)

        def touches(inner: ir.Operation) -> bool:
            return any(
                self._shares(operand, memory)
                or (of_inputs and any(root.is_input for root in self._owners.roots(operand)))
                for operand in inner.operands
            )

        return not operations_where(op, touches)

    def _shares(self, value: ir.Value, memory: Roots) -> bool:
        return bool(self._owners.roots(value) & memory)


def _blocks(program: ir.Operation) -> Iterator[ir.Block]:
    """Yields the blocks in which products may be."""
    for op in operations_where(program, lambda inner: inner.name.startswith("hir.")):
        for region in op.regions:
            yield from region.blocks


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
    """Returns whether a value is the constant +0 of a float type."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return False
    return is_plus_zero(owner.operation.attributes["value"])


def is_plus_zero(attribute: ir.Attribute) -> bool:
    """Returns whether an attribute is +0: sums that begin with -0 may be -0, and the library's are
    not.
    """
    return (
        isinstance(attribute, ir.FloatAttr)
        and attribute.value == 0
        and copysign(1, attribute.value) > 0
    )
