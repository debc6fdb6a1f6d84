"""Which sums of products are computed in tiles."""

from __future__ import annotations

from math import prod

from ...dialects.mlir import ir
from .access import loops_in
from .generic import accesses_of, inputs_of, loop_count, reducing_loops

# Marks sums that a kernel of tiles computes, though a library may know them as products.
TILES = "hir.tiles"
# Marks those that are to have few kernels, since a library mostly computes them.
FALLBACK = "hir.fallback"
# Marks sums of f32 whose factors may be rounded to tf32.
ROUNDED = "hir.tf32"
_MOST_TERMS = 64


def is_for_tiles(op: ir.Operation) -> bool:
    """Returns whether two operands are summed over, each along loops of the result that the other
    lacks.
    """
    reducing = set(reducing_loops(op))
    parallel = set(range(loop_count(op))) - reducing
    summed = [
        {loop for each in read.index for loop in loops_in(each)}
        for read in accesses_of(op)[: len(inputs_of(op))]
    ]
    summed = [loops & parallel for loops in summed if loops & reducing]
    return len(summed) == 2 and bool(summed[0] - summed[1]) and bool(summed[1] - summed[0])


def is_for_windows(op: ir.Operation) -> bool:
    """Returns whether each result has a small window of its own, as in a depthwise convolution."""
    reducing = set(reducing_loops(op))
    parallel = set(range(loop_count(op))) - reducing
    reads = [
        read
        for read in accesses_of(op)[: len(inputs_of(op))]
        if {loop for each in read.index for loop in loops_in(each)} & reducing
    ]
    summed = [{loop for each in read.index for loop in loops_in(each)} & parallel for read in reads]
    if len(summed) != 2 or not (summed[0] <= summed[1] or summed[1] <= summed[0]):
        return False
    sizes = {
        loop: size
        for read in reads
        for loop, size in zip(read.index, ir.RankedTensorType(read.value.type).shape, strict=True)
        if loop in reducing
    }
    count = prod(sizes.values())
    return set(sizes) == reducing and min(sizes.values()) > 0 and count <= _MOST_TERMS
