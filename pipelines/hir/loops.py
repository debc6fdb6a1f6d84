"""Writing host loops."""

from __future__ import annotations

from ...dialects.mlir import ir


def begin_loop(
    start: ir.Value, stop: ir.Value, step: ir.Value, streams: int | None = None
) -> ir.Operation:
    """Returns a hir.for at the insertion point, whose block is empty but for its index."""
    whole = ir.IntegerType.get_signless(64)
    attributes: dict[str, ir.Attribute] = (
        {} if streams is None else {"streams": ir.IntegerAttr.get(whole, streams)}
    )
    loop = ir.Operation.create(
        "hir.for", operands=[start, stop, step], attributes=attributes, regions=1
    )
    loop.regions[0].blocks.append(ir.IndexType.get())
    return loop
