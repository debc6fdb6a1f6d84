"""Which sums of products are computed in tiles."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..fusion.access import loops_in
from ..fusion.generic import accesses_of, inputs_of, loop_count, reducing_loops

_BYTES = (4, 8)


def is_for_tiles(op: ir.Operation) -> bool:
    """Whether two operands are summed over, each along loops of the result that the other lacks."""
    reducing = set(reducing_loops(op))
    parallel = set(range(loop_count(op))) - reducing
    summed = [
        {loop for each in read.index for loop in loops_in(each)}
        for read in accesses_of(op)[: len(inputs_of(op))]
    ]
    summed = [loops & parallel for loops in summed if loops & reducing]
    return len(summed) == 2 and bool(summed[0] - summed[1]) and bool(summed[1] - summed[0])
