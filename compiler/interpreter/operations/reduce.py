"""hir.reduce."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..reduce_kinds import REDUCE_FUNCTIONS, NoElements
from ..registry import interprets
from ..shapes import text_of


@interprets("hir.reduce")
def reduce(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Brings the reduced axes to the end as one, and reduces that."""
    x = frame.buffer(op, op.operands[0])
    kind = ir.StringAttr(op.attributes["kind"]).value
    rank = len(x.sizes)
    axes = sorted(ir.DenseI64ArrayAttr(op.attributes["axes"])) or list(range(rank))
    kept = [dim for dim in range(rank) if dim not in axes]
    sizes = [x.sizes[dim] for dim in kept]
    shown = sizes
    if "keep_dims" in op.attributes:
        shown = [1 if dim in axes else size for dim, size in enumerate(x.sizes)]
    destination = frame.destination(op, shown, [x])
    count = 1
    for dim in axes:
        count *= x.sizes[dim]
    rows = frame.read(op, x).permute([*kept, *axes]).reshape([*sizes, count])
    try:
        result = REDUCE_FUNCTIONS[kind](rows, x.element)
    except NoElements:
        fault.fail(op, f"'{kind}' of no elements: {x.name} is {text_of(x.sizes)}")
    frame.write(destination, result.reshape(shown))
    return [destination] if len(op.results) else []
