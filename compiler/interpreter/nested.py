"""Operations within operations."""

from __future__ import annotations

from collections.abc import Iterator

from ...dialects.mlir import ir


def operations_in(op: ir.Operation) -> Iterator[ir.Operation]:
    """Yields the operation and all that lie in it, in the order of the source."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from operations_in(inner.operation)
