"""What a product on tensors reads, without the copies that transpose or repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dialects.mlir import indexing_maps, ir
from .product import NO_LOOP, Indexed, Product


def read_in_place(product: Product) -> Product:
    """Returns the product of what is behind its operands; itself where that is no
    product any more.
    """
    read = replace(product, first=read_through(product.first), second=read_through(product.second))
    if read.loops != product.loops:
        return product
    return read if read.is_contraction else product


def read_through(operand: Indexed) -> Indexed:
    """Returns the operand from behind the operations that only move its elements."""
    while True:
        source = _source(operand)
        if source is None:
            return operand
        operand = source


def _source(operand: Indexed) -> Indexed | None:
    """Returns what one such operation reads; None where another one makes the operand."""
    owner = operand.value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name == "linalg.transpose":
        order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        dims = [operand.dims[order.index(axis)] for axis in range(len(order))]
        return Indexed(op.operands[0], tuple(dims))
    if op.name == "linalg.broadcast":
        added = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        kept = [loop for axis, loop in enumerate(operand.dims) if axis not in added]
        return Indexed(op.operands[0], tuple(kept))
    if op.name == "linalg.generic" and _copies(op):
        return _behind_copy(op, operand.dims)
    return None


def _copies(op: ir.Operation) -> bool:
    """Returns whether a linalg.generic gives the elements of its one input."""
    block = op.regions[0].blocks[0]
    (end, *others) = block.operations
    return (
        len(op.operands) == 2
        and len(op.results) == 1
        and not others
        and list(end.operation.operands) == [block.arguments[0]]
        and isinstance(op.operands[0].type, ir.RankedTensorType)
    )


def _behind_copy(op: ir.Operation, dims: Sequence[int]) -> Indexed | None:
    source, target = indexing_maps(op)
    if not target.is_permutation:
        return None
    loops = {
        ir.AffineDimExpr(expression).position: loop
        for expression, loop in zip(target.results, dims, strict=True)
    }
    found: list[int] = []
    for axis, expression in enumerate(source.results):
        if isinstance(expression, ir.AffineDimExpr):
            found.append(loops[ir.AffineDimExpr(expression).position])
        elif (
            isinstance(expression, ir.AffineConstantExpr)
            and ir.RankedTensorType(op.operands[0].type).shape[axis] == 1
        ):
            found.append(NO_LOOP)
        else:
            return None
    return Indexed(op.operands[0], tuple(found))
