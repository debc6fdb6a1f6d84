"""Which sums of products are computed in tiles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from ...dialects.mlir import ir
from ..walking import is_used
from .access import Access, loops_in
from .generic import COLLECTIVE, accesses_of, inputs_of, loop_count, reducing_loops

# Marks sums that a kernel of tiles computes, though a library may know them as products.
TILES = "hir.tiles"
# Marks those that are to have few kernels, since a library mostly computes them.
FALLBACK = "hir.fallback"
# Marks sums of f32 whose factors may be rounded to tf32.
ROUNDED = "hir.tf32"
# Marks those whose results are reduced, besides.
STATISTICS = "hir.statistics"
_MOST_TERMS = 64
# The most elements of a window of which a thread computes results by itself: its code has a copy of
# the region for each.
MOST_IN_WINDOW = 128


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


def is_pooling(op: ir.Operation) -> bool:
    """Returns whether each result is made of a small window of one tensor, by one reduction."""
    reducing = set(reducing_loops(op))
    reads = accesses_of(op)[: len(inputs_of(op))]
    arguments = list(op.regions[0].blocks[0].arguments)
    # What else is summed over says how large windows are, and no more.
    windows = [
        read
        for read, argument in zip(reads, arguments, strict=False)
        if is_used(argument) and any(loops_in(each) & reducing for each in read.index)
    ]
    inner = [each.operation for each in op.regions[0].blocks[0]]
    reductions = [each for each in inner if each.name in COLLECTIVE]
    sizes = _sizes(reads, reducing)
    return (
        len(windows) == 1
        and len(reductions) == 1
        and reductions[0].name == "hir.reduce_loops"
        and set(sizes) == reducing
        and min(sizes.values()) > 0
        and prod(sizes.values()) <= MOST_IN_WINDOW
    )


def _sizes(reads: Sequence[Access], loops: Collection[int]) -> dict[int, int]:
    """Returns the sizes of loops, of those that operands have by themselves."""
    return {
        loop: size
        for read in reads
        if isinstance(read.value.type, ir.RankedTensorType)
        for loop, size in zip(read.index, ir.RankedTensorType(read.value.type).shape, strict=True)
        if isinstance(loop, int) and loop in loops
    }


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
    sizes = _sizes(reads, reducing)
    count = prod(sizes.values())
    return set(sizes) == reducing and min(sizes.values()) > 0 and count <= _MOST_TERMS
