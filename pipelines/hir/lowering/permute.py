"""hir.permute: another order of the dims."""

from __future__ import annotations

from ....dialects.hir import PermuteOp
from ....dialects.mlir import ir
from .buffers import Extents, extents_of, view_of
from .registry import lowers
from .state import ProgramState


@lowers("hir.permute")
def lower_permute(op: PermuteOp, state: ProgramState) -> list[ir.Value]:
    """Sizes and strides change places."""
    del state
    extents, order = extents_of(op.buffer), list(ir.DenseI64ArrayAttr(op.attributes["order"]))
    sizes = [extents.sizes[dim] for dim in order]
    strides = [extents.strides[dim] for dim in order]
    view = Extents(sizes, strides, extents.offset)
    return [view_of(op.buffer, ir.MemRefType(op.view.type), view)]
