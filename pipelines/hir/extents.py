"""Sizes of dims that are known to be equal, though the types may leave them open."""

from __future__ import annotations

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ..dim_axis import dim_axis
from .compute_ops import COMPUTE_OPS
from .operand_axes import operand_axes

# A static size; or what the size is that of: a name of a program's inputs, an index value, or a
# dim of a buffer. Equal extents are equal sizes.
Extent = int | tuple[object, ...]


# The extents of dims that were found before.
Known = dict[tuple[ir.Value, int], Extent]


def extent_of(value: ir.Value, axis: int, known: Known | None = None) -> Extent:
    """Returns the size of a buffer's dim, traced to where it comes from, or to what is `known`."""
    if known is not None and (value, axis) in known:
        return known[value, axis]
    static = ir.MemRefType(value.type).shape[axis]
    if static != DYNAMIC:
        return static
    if isinstance(value, ir.BlockArgument):
        name = _input_size_name(value, axis)
        return ("dim", value, axis) if name is None else ("name", name)
    op = value.owner
    assert isinstance(op, ir.Operation | ir.OpView)
    traced = _traced(op.operation, axis, known)
    return ("dim", value, axis) if traced is None else traced


def _traced(op: ir.Operation, axis: int, known: Known | None) -> Extent | None:
    if op.name in COMPUTE_OPS:
        extents = {
            extent_of(operand, place, known)
            for operand, place in operand_axes(op, axis)
            if ir.MemRefType(operand.type).shape[place] != 1
        }
        return extents.pop() if len(extents) == 1 else None
    if op.name in ("hir.allocate", "hir.reuse") and "logical" not in op.attributes:
        sizes = list(op.operands)[1 if op.name == "hir.reuse" else 0 :]
        shape = ir.MemRefType(op.results[0].type).shape
        return _index_extent(sizes[shape[:axis].count(DYNAMIC)], known)
    if op.name == "hir.permute":
        order = list(ir.DenseI64ArrayAttr(op.attributes["order"]))
        return extent_of(op.operands[0], order[axis], known)
    if op.name == "hir.select":
        gone = ir.IntegerAttr(op.attributes["axis"]).value
        return extent_of(op.operands[0], axis + (axis >= gone), known)
    if op.name == "hir.slice" and ir.IntegerAttr(op.attributes["axis"]).value != axis:
        return extent_of(op.operands[0], axis, known)
    return None


def _index_extent(value: ir.Value, known: Known | None) -> Extent:
    op = value.owner
    if isinstance(op, ir.Operation | ir.OpView):
        if op.operation.name == "memref.dim":
            axis = dim_axis(op.operation)
            if axis is not None:
                return extent_of(op.operation.operands[0], axis, known)
        if op.operation.name == "arith.constant":
            return ir.IntegerAttr(op.operation.attributes["value"]).value
    return ("value", value)


def _input_size_name(argument: ir.BlockArgument, axis: int) -> str | None:
    """Returns the name that hir.program gives to a size of an input."""
    program = argument.owner.owner
    if program.operation.name != "hir.program" or "inputs" not in program.attributes:
        return None
    description = ir.DictAttr(ir.ArrayAttr(program.attributes["inputs"])[argument.arg_number])
    if "sizes" not in description:
        return None
    size = ir.ArrayAttr(description["sizes"])[axis]
    return size.value if isinstance(size, ir.StringAttr) else None
