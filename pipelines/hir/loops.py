"""Writing host loops and branches."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.hir.has_library import HasLibraryOp
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


def emit_either(
    condition: ir.Value, then: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """Emits a hir.if without results, whose regions are what these emit."""
    kind = ir.Type.parse("!hir.results_t")
    branch = ir.Operation.create("hir.if", results=[kind], operands=[condition], regions=2)
    for region, emit in zip(branch.regions, (then, otherwise), strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            emit()


def emit_by_library(library: str, call: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Emits what `call` emits for where a library is there, and `otherwise` for where it is not."""
    is_there = ir.Operation.create(
        HasLibraryOp.OPERATION_NAME,
        results=[ir.IntegerType.get_signless(1)],
        attributes={"library": ir.StringAttr.get(library)},
    ).results[0]
    emit_either(is_there, call, otherwise)
