"""The sizes of buffers as index values of the program."""

from __future__ import annotations

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir, memref
from ..rewriting import index_constant
from ..tensors import dim_of
from .extents import extent_of
from .host_checks import check
from .operand_axes import operand_axes


def size_value(buffer: ir.Value, axis: int) -> ir.Value:
    """Returns the size of a dim as a value, computed at the insertion point."""
    shape = ir.ShapedType(buffer.type).shape
    if shape[axis] != DYNAMIC:
        return index_constant(shape[axis])
    if isinstance(buffer.type, ir.RankedTensorType):
        return dim_of(buffer, axis)
    owner = buffer.owner
    if isinstance(owner, ir.Operation | ir.OpView):
        op = owner.operation
        if op.name == "hir.allocate" and "logical" not in op.attributes:
            return op.operands[shape[:axis].count(DYNAMIC)]
    return memref.dim(buffer, index_constant(axis))


def open_result_sizes(op: ir.Operation) -> list[ir.Value]:
    """Returns the sizes that a compute operation's result type leaves open, from its operands.

    Where open sizes broadcast, or must be equal, the program checks that they do.
    """
    shape = ir.MemRefType(op.results[0].type).shape
    return [_result_size(op, axis) for axis, size in enumerate(shape) if size == DYNAMIC]


def _result_size(op: ir.Operation, axis: int) -> ir.Value:
    sources = [
        (operand, place)
        for operand, place in operand_axes(op, axis)
        if ir.MemRefType(operand.type).shape[place] != 1
    ]
    different = {extent_of(operand, place): (operand, place) for operand, place in sources}
    if not different:
        return index_constant(1)
    (operand, place), *others = different.values()
    size = size_value(operand, place)
    for operand, place in others:
        other = size_value(operand, place)
        if op.name == "hir.linear":
            check(_equal(other, size), f"{op.name}: weight and bias differ in size")
            continue
        one = index_constant(1)
        repeats = _equal(size, one)
        fits = arith.ori(repeats, arith.ori(_equal(other, one), _equal(other, size)))
        check(fits, f"{op.name}: the operands' sizes of dim {axis} do not broadcast")
        size = arith.select(repeats, other, size)
    return size


def _equal(first: ir.Value, second: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, first, second)
