"""Grids in which a thread takes points of some loops, every so many of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from ....dialects.mlir import affine, arith, gpu, ir, memref, scf
from ...rewriting import index_constant
from ..iteration import Iteration
from ..size import MOST_IN_32_BITS


def host_extent(op: ir.Operation, iteration: Iteration, loop: int) -> int | ir.Value:
    """A loop's number of iterations before the launch, as an int where it is static."""
    place = iteration.extents[loop]
    buffer = op.operands[place.operand]
    size = ir.MemRefType(buffer.type).shape[place.axis]
    if size != ir.ShapedType.get_dynamic_size():
        return size
    return memref.dim(buffer, index_constant(place.axis))


def kernel_extent(iteration: Iteration, buffers: Sequence[ir.Value], loop: int) -> ir.Value:
    """A loop's number of iterations, in the kernel."""
    place = iteration.extents[loop]
    return memref.dim(buffers[place.operand], index_constant(place.axis))


def blocks_for(extents: Sequence[int | ir.Value], threads: int) -> ir.Value:
    """Blocks that give every point a thread, or as many as a grid has."""
    static = 1
    total: ir.Value | None = None
    for extent in extents:
        if isinstance(extent, int):
            static *= extent
        else:
            total = extent if total is None else arith.muli(total, extent)
    if total is None:
        return index_constant(min(-(-static // threads), MOST_IN_32_BITS))
    if static != 1:
        total = arith.muli(total, index_constant(static))
    needed = arith.ceildivui(total, index_constant(threads))
    return arith.minui(needed, index_constant(MOST_IN_32_BITS))


def emit_points(
    extents: Sequence[ir.Value], threads: int, emit: Callable[[Sequence[ir.Value]], None]
) -> None:
    """A loop over this thread's points; `emit` takes the loops' indices.

    The last loop's index is the one that differs from thread to thread.
    """
    total = reduce(arith.muli, extents) if extents else index_constant(1)
    block = gpu.block_id(gpu.Dimension.x)
    per_block = index_constant(threads)
    first = arith.addi(arith.muli(block, per_block), gpu.thread_id(gpu.Dimension.x))
    step = arith.muli(gpu.grid_dim(gpu.Dimension.x), per_block)
    loop = scf.ForOp(first, total, step)
    with ir.InsertionPoint(loop.body):
        emit(_split(loop.induction_variable, extents))
        scf.YieldOp([])


def _split(number: ir.Value, extents: Sequence[ir.Value]) -> list[ir.Value]:
    """The loops' indices from the number of the point."""
    indices: list[ir.Value] = []
    rest = number
    for extent in reversed(extents[1:]):
        indices.append(arith.remui(rest, extent))
        rest = arith.divui(rest, extent)
    return [rest, *reversed(indices)] if extents else []


def applied(expression: ir.AffineExpr, dims: int, indices: Mapping[int, ir.Value]) -> ir.Value:
    """Emits a coordinate, where the loops that it uses have these indices."""
    if isinstance(expression, ir.AffineDimExpr):
        return indices[ir.AffineDimExpr(expression).position]
    if isinstance(expression, ir.AffineConstantExpr):
        return index_constant(ir.AffineConstantExpr(expression).value)
    # A loop that has no index here is one that the expression does not use.
    loops = [indices.get(loop) or index_constant(0) for loop in range(dims)]
    return affine.AffineApplyOp(ir.AffineMap.get(dims, 0, [expression]), loops).result
