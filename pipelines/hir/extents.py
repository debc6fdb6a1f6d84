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

# A dim of a buffer.
Dim = tuple[ir.Value, int]

# The extents of dims that were found before.
Known = dict[Dim, Extent]


def extent_of(value: ir.Value, axis: int, known: Known | None = None) -> Extent:
    """Returns the size of a buffer's dim, traced to where it comes from.

    `known` has what was found before, in a program that has not changed since, and is added to.
    """
    found: Known = {} if known is None else known
    # Not by recursion: a chain may have thousands of operations.
    waiting = [(value, axis)]
    while waiting:
        dim = waiting[-1]
        if dim not in found:
            traced = _traced(*dim)
            if not isinstance(traced, list):
                found[dim] = traced
            elif missing := [each for each in traced if each not in found]:
                waiting += missing
                continue
            else:
                extents = {found[each] for each in traced}
                found[dim] = extents.pop() if len(extents) == 1 else ("dim", *dim)
        waiting.pop()
    return found[value, axis]


def _traced(value: ir.Value, axis: int) -> Extent | list[Dim]:
    """Returns a dim's size, or the dims of other buffers whose size it is if they have the same."""
    static = ir.MemRefType(value.type).shape[axis]
    if static != DYNAMIC:
        return static
    if isinstance(value, ir.BlockArgument):
        name = _input_size_name(value, axis)
        return ("dim", value, axis) if name is None else ("name", name)
    assert isinstance(value.owner, ir.Operation | ir.OpView)
    op = value.owner.operation
    if op.name in COMPUTE_OPS:
        return [
            (operand, place)
            for operand, place in operand_axes(op, axis)
            if ir.MemRefType(operand.type).shape[place] != 1
        ]
    if op.name in ("hir.allocate", "hir.reuse") and "logical" not in op.attributes:
        sizes = list(op.operands)[1 if op.name == "hir.reuse" else 0 :]
        shape = ir.MemRefType(op.results[0].type).shape
        return _traced_index(sizes[shape[:axis].count(DYNAMIC)])
    if op.name == "hir.permute":
        order = list(ir.DenseI64ArrayAttr(op.attributes["order"]))
        return [(op.operands[0], order[axis])]
    if op.name == "hir.select":
        gone = ir.IntegerAttr(op.attributes["axis"]).value
        return [(op.operands[0], axis + (axis >= gone))]
    if op.name == "hir.slice" and ir.IntegerAttr(op.attributes["axis"]).value != axis:
        return [(op.operands[0], axis)]
    return ("dim", value, axis)


def _traced_index(value: ir.Value) -> Extent | list[Dim]:
    op = value.owner
    if isinstance(op, ir.Operation | ir.OpView):
        if op.operation.name == "memref.dim":
            axis = dim_axis(op.operation)
            if axis is not None:
                return [(op.operation.operands[0], axis)]
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
